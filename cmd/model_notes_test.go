package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestModelNotes runs a model whose file has the shape of its output wrong: a warning says so once, as lint and JSON do, of a
// recording and of an engine that is built of it, too.
func TestModelNotes(t *testing.T) {
	d := graph.Define("liar")
	d.Output("y", d.Neg(d.Input("x", numeric.F32, symbolic.Const(4), symbolic.Const(77))))
	path, recording := definedFile(t, d), filepath.Join(t.TempDir(), "r.trtui")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.LastIndex(data, []byte{1<<3 | 2, 2, 1 << 3, 77})+3] = 78
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	const note = `output "y" is declared with shape [4,78], but the graph computes f32[4,77]; the declaration is ignored`
	if _, errs := command(t, 0, "run", path); strings.Count(errs, "warning: "+note+"\n") != 1 {
		t.Errorf("run: %s", errs)
	}
	if text, _ := command(t, 1, "lint", "--fail-on", "warning", path); !strings.Contains(text, "model-file") || !strings.Contains(text, note) {
		t.Errorf("lint: %s", text)
	}
	text, _ := command(t, 0, "inspect", "model", "--format", "json", path)
	var of struct{ Notes []string }
	if err := json.Unmarshal([]byte(text), &of); err != nil || !slices.Equal(of.Notes, []string{note}) {
		t.Errorf("%v in %s", err, text)
	}
	command(t, 0, "record", "-o", recording, "-q", path)
	if text, _ := command(t, 1, "lint", "--fail-on", "warning", recording); !strings.Contains(text, note) {
		t.Errorf("lint of the recording: %s", text)
	}
	for _, flags := range [][]string{{}, {"--keep-source"}} {
		engine, again := filepath.Join(t.TempDir(), "liar.engine"), filepath.Join(t.TempDir(), "again.engine")
		command(t, 0, append([]string{"build", "-q", path, "-o", engine}, flags...)...)
		command(t, 0, append([]string{"build", "-q", engine, "-o", again}, flags...)...)
		for _, built := range []string{engine, again} {
			if text, _ := command(t, 1, "lint", "--fail-on", "warning", built); !strings.Contains(text, "model-file") || strings.Count(text, note) != 1 {
				t.Errorf("lint of an engine: %s", text)
			}
			if _, errs := command(t, 0, "run", built); strings.Count(errs, "warning: "+note+"\n") != 1 {
				t.Errorf("run of an engine: %s", errs)
			}
		}
	}
}
