package diff

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Of sides that are files of other programs it is said what they do not tell; a change of a step of their clock is none, and what is
// not known is no change of type or tactic.
func TestOfFiles(t *testing.T) {
	file := func(names ...time.Duration) *report.Snapshot {
		var layers []report.LayerTiming
		for i, median := range names {
			layers = append(layers, layer(string(rune('a'+i)), "f32", "", median, string(rune('a'+i))))
		}
		s := snapshot(config.FP32, 100*us, layers...)
		s.Model.Viewed, s.Model.ByName, s.Model.SHA256, s.Timings.Tick = "a profile of X", true, "", us
		return s
	}
	a, b := file(3*us, 30*us, 50*us, 51*us, 52*us, 53*us, 54*us), file(4*us, 60*us, 50*us, 51*us, 52*us, 53*us, 54*us)
	b.Timings.Layers[2].Precision, b.Timings.Summed = "?", true
	d, err := Of(Side{Name: "a.json", Snapshot: a}, Side{Name: "b.json", Snapshot: b})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Groups {
		want := map[string]string{"a": "too small to count", "b": "slower"}[c.Name]
		if want == "" {
			want = "no significant difference"
		}
		if c.Verdict() != want || c.Kind != report.KindSame {
			t.Errorf("%s: %s, %s, want %s", c.Name, c.Verdict(), c.Kind, want)
		}
		if c.Name == "a" && c.Under() != "under 2 µs" {
			t.Errorf("a is %s", c.Under())
		}
	}
	text := strings.Join(d.Notes, "\n")
	for _, want := range []string{"A, a profile of X, and B, a profile of X, tell no source layers", "B has means and medians", "on which machines"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if d.AddedSources != nil || d.RemovedSources != nil {
		t.Errorf("source layers %v and %v, of which nobody knows", d.AddedSources, d.RemovedSources)
	}
}

// A profile alone does not tell which of its layers are reformats: those of the same name as the other side's are aligned with them.
func TestOfProfileAlone(t *testing.T) {
	whole := snapshot(config.FP16, 100*us, layer("conv", "f16", "", 50*us, "conv"), layer("Reformat x", "f16", "", 10*us, "Reformat x"))
	whole.Timings.Layers[1].Reformat, whole.Timings.Layers[1].From = true, nil
	alone := snapshot("?", 100*us, layer("conv", "?", "", 50*us, "conv"), layer("Reformat x", "?", "", 10*us, "Reformat x"))
	for i := range alone.Timings.Layers {
		alone.Timings.Layers[i].Op, alone.Timings.Layers[i].From = "?", nil
	}
	for _, pair := range [][2]*report.Snapshot{{whole, alone}, {alone, whole}} {
		d, err := Of(Side{Name: "a", Snapshot: pair[0]}, Side{Name: "b", Snapshot: pair[1]})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Groups {
			if c.Kind != report.KindSame {
				t.Errorf("%s is %s", c.Name, c.Kind)
			}
		}
	}
}
