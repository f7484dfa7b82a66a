package cmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/testdata"
	"github.com/trtui/trtui/ui"
)

// TestReload: of a model that is written over the workbench says so, and by a key shows the new one in the configuration that
// the old one was in; one that cannot be read leaves the old one where it is.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.onnx")
	write := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(testdata.Model())
	w := showWorkbench(t, path, config.Config{Precision: config.FP16, Calibrator: "minmax", Batch: 1})
	w.out.await(t, "Overview")
	w.key("\x0f") // ctrl+o
	w.out.await(t, "have not changed")
	write(testdata.Model()[:100])
	w.out.await(t, "ctrl+o opens it anew")
	w.key("\x0f")
	w.out.await(t, "m.onnx is neither an ONNX model nor an engine")
	write(renamed(t, "layer_anew"))
	w.key("\x0f")
	w.await()
	w.out.await(t, "FP16")
	w.key("2")
	w.out.await(t, "layer_anew")
	w.end()
}

// shownWorkbench is the workbench on a model of a file, on a terminal without colours.
type shownWorkbench struct {
	t         *testing.T
	out       *screen
	keyboards chan *io.PipeWriter // of each program, as it begins
	press     *io.PipeWriter
	done      chan error
}

func showWorkbench(t *testing.T, path string, cfg config.Config, args ...string) *shownWorkbench {
	t.Helper()
	f := &workbenchFlags{modelFlags: *onBackends(quick)}
	f.partly = true
	c := &cobra.Command{}
	f.register(c, takeAll)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	p, err := f.open(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &shownWorkbench{t: t, out: &screen{}, keyboards: make(chan *io.PipeWriter, 1), done: make(chan error, 1)}
	dir := filepath.Dir(path)
	term := terminal{look: ui.Options{NoColor: true, Theme: "dark"}, recordings: dir, configs: config.NewSaver(dir, "m"),
		program: func() []tea.ProgramOption {
			keys, press := io.Pipe()
			w.keyboards <- press
			return []tea.ProgramOption{tea.WithInput(keys), tea.WithOutput(w.out), tea.WithWindowSize(160, 40), tea.WithoutSignals()}
		}}
	go func() { w.done <- f.screen(t.Context(), p, cfg, path, term) }()
	w.await()
	return w
}

// await waits for the next program.
func (w *shownWorkbench) await() { w.press = <-w.keyboards }

func (w *shownWorkbench) key(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.press, text); err != nil {
		w.t.Fatal(err)
	}
}

// end ends the program by ctrl+c.
func (w *shownWorkbench) end() {
	w.t.Helper()
	w.key("\x03")
	select {
	case err := <-w.done:
		if err != nil {
			w.t.Error(err)
		}
	case <-time.After(time.Minute):
		w.t.Error("ctrl+c in the new workbench does not end the program")
	}
}

// TestRequantiseKey: the quantisation that a model brings is dropped by a key, and left by the same one, or by undoing that.
func TestRequantiseKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.onnx")
	command(t, 0, append(rough(t), "export", "--qdq", "-o", path, "-q")...)
	w := showWorkbench(t, path, config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1}, rough(t)...)
	w.out.await(t, "Overview")
	w.key("2")
	w.out.await(t, "Dequantize")
	w.key("\x14") // ctrl+t
	w.await()
	w.out.await(t, "requantised, ") // on the screen that was shown
	w.key("\x14")
	w.await()
	w.out.await(t, "Dequantize")
	w.key("\x14")
	w.await()
	w.out.await(t, "requantised, ")
	w.key("u")
	w.await()
	w.out.await(t, "Dequantize")
	w.end()
}

// renamed returns the embedded model with another name for its first layer.
func renamed(t *testing.T, name string) []byte {
	t.Helper()
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	n.Layers[0].Name = name
	var data bytes.Buffer
	if err := onnx.Export(&data, n); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}
