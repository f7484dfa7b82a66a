package emit

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// TestTargets: what a tactic states is what its text is for and where it runs; devices without it are refused with the reason.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		target ptx.Target
		text   string
		refuse map[int]string // by capability; "" where it runs
	}{
		{ptx.Target{}, ".version 7.0\n.target sm_80\n", map[int]string{75: "its code is for sm_80 and later ones, the device is sm_75", 80: "", 86: "", 90: "", 120: ""}},
		{ptx.Target{SM: 89}, ".version 7.8\n.target sm_89\n", map[int]string{80: "its code is for sm_89 and later ones, the device is sm_80", 89: "", 90: "", 120: ""}},
		{ptx.SM90A, ".version 8.0\n.target sm_90a\n", map[int]string{
			80: "its code is for sm_90a and no other, the device is sm_80", 90: "", 100: "its code is for sm_90a and no other, the device is sm_100",
		}},
	} {
		tactic := Tactic{Target: c.target, Emit: func(kernels.Binding) (*Work, error) {
			w := NewWork()
			w.Module.Kernel("empty", 32).End()
			return w, nil
		}}
		w, err := tactic.Work(Device{SM: 80}, kernels.Binding{})
		if err != nil {
			t.Fatal(err)
		}
		if text := w.Module.String(); !strings.HasPrefix(text, c.text) {
			t.Errorf("%v: the text begins with\n%.60s", c.target, text)
		}
		for sm, want := range c.refuse {
			got := ""
			if err := tactic.RunsOn(sm); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%v on sm_%d: %q, want %q", c.target, sm, got, want)
			}
		}
	}
}
