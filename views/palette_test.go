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
		"speedup": "show Compare", "speed up": "show Compare", "compare recordings": "show Compare", "recordings": "show Recordings",
		"fps": "show Overview", "perfetto": "show Timings", "quantize": "quantised", "exit": "quit", "keys": "this help", "mixed precision": "precision:", "half precision": "precision",
		"report": "trtui export", "rerun": "measure", "open recording": "show Recordings", "explain": "show Graph", "significance": "show Compare",
		"constraints": "precision of the layer", "ablation": "measure what each rule is worth", "rejected": "show Graph",
	} {
		snap := panetest.Fixture(t)
		b := newBench(t, ui.Options{NoColor: true}, snap)
		b.subcommands(snap)
		b.size(120, 40)
		b.press(":")
		for _, r := range word {
			b.press(strings.ReplaceAll(string(r), " ", "space"))
		}
		lines := strings.Split(b.screen(), "\n")
		first := ""
		for i, l := range lines {
			if first == "" && strings.Contains(l, ": "+word) { // what is found may say so, too
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

// TestSynonyms: each stands for a word by which something is found.
func TestSynonyms(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.subcommands(snap)
	b.size(120, 40)
	for word := range synonyms {
		b.press(":")
		for _, r := range word {
			b.press(string(r))
		}
		if strings.Contains(b.screen(), "nothing is called that") {
			t.Errorf("%q finds nothing", word)
		}
		b.press("esc")
	}
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
