package stages

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestExtentsOf: extents are doubled between ends that are far apart, and else lie in even steps that the network allows.
func TestExtentsOf(t *testing.T) {
	any := func(int) bool { return true }
	by := func(n int) func(int) bool { return func(v int) bool { return v%n == 0 } }
	for _, c := range []struct {
		low, high int
		possible  func(int) bool
		want      string
	}{
		{1, 8, any, "[1 2 3 4 5 6 7 8]"},
		{1, 15, any, "[1 2 4 6 8 10 12 14 15]"},
		{1, 16, any, "[1 2 4 8 16]"},
		{0, 3, any, "[1 2 3]"},
		{1, 8192, any, "[1 2 4 8 16 32 64 128 256 512 1024 8192]"},
		{160, 640, by(32), "[160 192 256 320 384 448 512 576 640]"},
		{320, 1600, by(160), "[320 480 640 800 960 1120 1280 1440 1600]"},
		{7, 9, by(100), "[7 9]"},
	} {
		if got := fmt.Sprint(extentsOf(&report.RuntimeAxis{Min: c.low, Max: c.high}, c.possible)); got != c.want {
			t.Errorf("from %d to %d: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}
