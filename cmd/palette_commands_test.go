package cmd

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/views"
)

// TestPaletteCommands: the palette has every command that does something, by its name and by the words that people use.
func TestPaletteCommands(t *testing.T) {
	list := paletteCommands(rootCommand(tables{backends: backends}))
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
