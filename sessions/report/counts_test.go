package report

import "testing"

// TestCountsText: the engine layers of passes and the launches of the plan are in one sum, with what makes the difference.
func TestCountsText(t *testing.T) {
	for _, c := range []struct {
		counts Counts
		want   string
	}{
		{Counts{Launches: 28, Source: 65, Engine: 26, Reformats: 4, Steps: 30, InMemory: 2}, "28 launches = 26 engine layers + 4 reformats - 2 in memory"},
		{Counts{Launches: 32, Source: 261, Engine: 37, Known: 8, Steps: 37, InMemory: 5}, "32 launches = 45 engine layers - 8 that extents decide - 5 in memory"},
		{Counts{Launches: 9}, "9 launches"},
	} {
		if got := c.counts.Text(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
