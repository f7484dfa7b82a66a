package config

import (
	"strings"
	"testing"
)

// TestLeastRange: a range that is given is wide enough for steps that float32 has.
func TestLeastRange(t *testing.T) {
	for _, c := range []struct {
		high float64
		ok   bool
	}{{1, true}, {1e-35, true}, {1e-37, false}, {1e-45, false}, {5e-324, false}} {
		q := Quantization{Ranges: map[string][]float64{"x": {-c.high, c.high}}}.Effective()
		if err := q.Check(); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "too narrow") {
			t.Errorf("up to %g: %v", c.high, err)
		}
	}
}
