package stages

import (
	"testing"

	"github.com/trtui/trtui/sessions/config"
)

// TestUsualShapes: shapes are the usual ones until a person gives others.
func TestUsualShapes(t *testing.T) {
	u := UsualShapes{Text: "ids:1x128", Of: map[string][]int{"ids": {1, 128}}}
	ids := func(dims ...int) map[string][]int { return map[string][]int{"ids": dims} }
	for _, c := range []struct {
		cfg  config.Config
		want bool
	}{
		{config.Config{Shapes: ids(1, 128)}, true},
		{config.Config{Shapes: ids(4, 128), Batch: 4}, true},
		{config.Config{Shapes: ids(1, 64)}, false},
		{config.Config{Shapes: ids(1, 128), MinShapes: ids(1, 1), MaxShapes: ids(1, 256)}, false},
	} {
		if got := u.have(c.cfg); got != c.want {
			t.Errorf("%v: %v", c.cfg, got)
		}
	}
	if (UsualShapes{}).have(config.Config{}) {
		t.Error("there are usual shapes where there are none")
	}
}
