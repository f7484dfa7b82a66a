package views

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestPaletteWords: what a stranger calls things is found first, screens before what else is called so.
func TestPaletteWords(t *testing.T) {
	for word, want := range map[string]string{
		"fuse": "show Graph", "lint": "show Log", "pareto": "show Tried", "slower": "show Compare", "sweep": "show Runtime", "threshold": "show Calibration",
		"memory": "show Memory", "roofline": "show Timings", "accuracy": "show Accuracy", "export": "trtui export", "html": "trtui export", "reduce": "trtui debug reduce",
		"constraints": "precision of the layer", "ablation": "measure what each rule is worth", "rejected": "show Graph",
	} {
		snap := panetest.Fixture(t)
		b := newBench(t, ui.Options{NoColor: true}, snap)
		b.subcommands(snap)
		b.size(120, 40)
		b.press(":")
		for _, r := range word {
			b.press(string(r))
		}
		lines := strings.Split(b.screen(), "\n")
		first := ""
		for i, l := range lines {
			if strings.Contains(l, ": "+word) {
				first = strings.Join(lines[i+2:i+3], "")
			}
		}
		if !strings.Contains(first, want) {
			t.Errorf("%q finds first %q, want %q:\n%s", word, first, want, b.screen())
		}
	}
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.subcommands(snap)
	b.size(120, 40)
	b.press(":", "h", "t", "m", "l", "enter")
	b.wants("copied, for a shell: trtui export")
	b.press(":", "e", "v", "a", "l", "enter")
	b.wants("copied, but no flag says no --disable, which the file that W saves does")
}

// subcommands shows the workbench anew with some of the program's commands in the palette.
func (b *bench) subcommands(snap *report.Snapshot) {
	b.t.Helper()
	call := func(file string, s *report.Snapshot) (string, []string) { return file, nil }
	lossy := func(file string, s *report.Snapshot) (string, []string) { return file, []string{"no --disable"} }
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Hint: hinted, Now: b.clock, After: b.after, Subcommands: []Subcommand{
		{"trtui lint", "find what is worth changing", []string{"lint"}, call},
		{"trtui export", "write for other tools", []string{"export", "html", "csv"}, call},
		{"trtui eval", "measure the accuracy", []string{"eval"}, lossy},
		{"trtui debug reduce", "make a model small", []string{"debug", "reduce"}, call},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.app = app
	b.publish(snap)
}
