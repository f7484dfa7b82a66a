package report

import "testing"

// TestToldText: a ratio that tells next to nothing has no digits behind the point.
func TestToldText(t *testing.T) {
	for ratio, want := range map[float64]string{1.032: "1.03x", 9.994: "9.99x", 18.14: "18x", 2044.05: "2044x"} {
		if got := ToldText(ratio); got != want {
			t.Errorf("%g: %s, want %s", ratio, got, want)
		}
	}
}
