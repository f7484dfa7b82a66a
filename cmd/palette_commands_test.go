package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views"
)

// TestPaletteCommands: the palette has every command that does something, by its name and by the words that people use.
func TestPaletteCommands(t *testing.T) {
	list := paletteCommands(rootCommand(tables{backends: backends}), unflagged{})
	for word, want := range map[string]string{
		"lint": "trtui lint", "reduce": "trtui debug reduce", "html": "trtui export html", "pareto": "trtui pareto", "slower": "trtui diff",
		"sweep": "trtui bench", "threshold": "trtui calibrate", "constraints": "trtui tune-precision", "trtexec": "trtui exec",
	} {
		if !slices.ContainsFunc(list, func(c views.Subcommand) bool {
			return c.Line == want && slices.Contains(c.Words, word)
		}) {
			t.Errorf("%s is not found as %q", want, word)
		}
	}
	for _, c := range list {
		if c.Line == "trtui" || c.Doc == "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestPaletteCalls: a command that is copied has the file, what must be given, and the flags and the configuration at hand.
func TestPaletteCalls(t *testing.T) {
	root := rootCommand(tables{backends: backends})
	if err := root.ParseFlags(strings.Fields("--data d.npz --scale 0.5 --threads 1 --precision fp16 --disable fuse-pad --ascii")); err != nil {
		t.Fatal(err)
	}
	list := paletteCommands(root, unflagged{config: config.Default()})
	cfg := config.Config{Precision: config.INT8, Calibrator: "percentile:99.9", Batch: 1, Pin: map[string]string{"conv 1": "t"}}
	live := &report.Snapshot{Config: cfg, Model: &report.Model{Path: "m.onnx"}}
	for _, c := range []struct {
		line, file string
		snap       *report.Snapshot
		want       string
	}{
		{"trtui bench", "m.onnx", live, "m.onnx --data d.npz --scale 0.5 --threads 1 --precision int8 --calibrator percentile:99.9 --tactic 'conv 1=t'"},
		{"trtui export", "m.onnx", live, "m.onnx -o FILE --data d.npz --scale 0.5 --threads 1 --precision int8 --calibrator percentile:99.9"},
		{"trtui exec", "m.onnx", live, "--onnx=m.onnx --data d.npz --scale 0.5 --threads 1 --precision int8 --calibrator percentile:99.9 --tactic 'conv 1=t'"},
		{"trtui inspect kernel", "m.onnx", live, "LAYER m.onnx"},
		{"trtui pareto", "r.trtui", &report.Snapshot{Replay: "r.trtui"}, "r.trtui"},
		{"trtui diff", "m.onnx", live, "m.onnx B"},
		{"trtui version", "m.onnx", live, ""},
	} {
		i := slices.IndexFunc(list, func(s views.Subcommand) bool { return s.Line == c.line })
		if got, _ := list[i].Call(c.file, c.snap); got != c.want && !(strings.HasPrefix(got, c.want) && strings.ContainsAny(c.want, "LB") && c.line != "trtui export") {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}
