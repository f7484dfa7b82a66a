package stages

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestToRaise: of layers whose errors cancel no more are raised than take half of the error, and none that makes it larger.
func TestToRaise(t *testing.T) {
	for _, c := range []struct {
		name   string
		errors map[string][2]float64 // of the output, by layer
		want   []string
	}{
		{"apart", map[string][2]float64{"a": {1, 0}, "b": {0, 0.2}}, []string{"a"}},
		{"all cancel", map[string][2]float64{"a": {2, 0}, "b": {-1, 0}, "c": {-0.4, 0}}, nil},
		{"all but one cancel", map[string][2]float64{"a": {2, 0}, "b": {-1, 0}, "c": {-0.4, 0}, "d": {0, 0.5}}, []string{"d"}},
		{"what is left cancels", map[string][2]float64{"a": {1, 0}, "b": {-0.9, 0.9}, "c": {0.4, 0}}, []string{"c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			noiseOf := func(raised []string) (float64, error) {
				var x, y float64
				for name, e := range c.errors {
					if !slices.Contains(raised, name) {
						x, y = x+e[0], y+e[1]
					}
				}
				return x*x + y*y, nil
			}
			var names []string
			for name := range c.errors {
				names = append(names, name)
			}
			slices.Sort(names)
			var rows []report.Sensitive
			for _, name := range names {
				e := c.errors[name]
				up, _ := noiseOf([]string{name})
				rows = append(rows, report.Sensitive{Name: name, Layers: []string{name}, Alone: report.Ratio(e[0]*e[0] + e[1]*e[1]), Raised: report.Ratio(up), Time: 1})
			}
			all, _ := noiseOf(nil)
			list, least, err := toRaise(rows, all, noiseOf)
			slices.Sort(list.Names)
			if err != nil || !slices.Equal(list.Names, c.want) {
				t.Errorf("raised %v, which leaves %.3g of %.3g (%v), want %v", list.Names, least, all, err, c.want)
			}
		})
	}
}

// TestToRaiseOfAnotherOutput: a layer that takes nothing is not raised for the time that this saves.
func TestToRaiseOfAnotherOutput(t *testing.T) {
	rows := []report.Sensitive{{Name: "a", Layers: []string{"a"}, Raised: 40, Time: 2}, {Name: "other", Layers: []string{"other"}, Raised: 30, Time: -1}}
	list, _, err := toRaise(rows, report.Noise(30), func([]string) (float64, error) { return report.Noise(40), nil })
	if err != nil || !slices.Equal(list.Names, []string{"a"}) {
		t.Errorf("raised %v, %v", list.Names, err)
	}
}
