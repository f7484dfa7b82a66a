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
	f := &workbenchFlags{modelFlags: *onBackends(quick)}
	f.partly = true
	f.register(&cobra.Command{}, takeAll)
	p, err := f.open(path)
	if err != nil {
		t.Fatal(err)
	}
	out, keyboards := &screen{}, make(chan *io.PipeWriter, 1)
	term := terminal{look: ui.Options{NoColor: true, Theme: "dark"}, recordings: dir, configs: config.NewSaver(dir, "m"),
		program: func() []tea.ProgramOption {
			keys, press := io.Pipe()
			keyboards <- press
			return []tea.ProgramOption{tea.WithInput(keys), tea.WithOutput(out), tea.WithWindowSize(160, 40), tea.WithoutSignals()}
		}}
	done := make(chan error, 1)
	go func() {
		done <- f.screen(t.Context(), p, config.Config{Precision: config.FP16, Calibrator: "minmax", Batch: 1}, path, term)
	}()
	press := <-keyboards
	key := func(text string) {
		t.Helper()
		if _, err := io.WriteString(press, text); err != nil {
			t.Fatal(err)
		}
	}
	out.await(t, "Overview")
	key("\x0f") // ctrl+o
	out.await(t, "have not changed")
	write(testdata.Model()[:100])
	out.await(t, "ctrl+o opens it anew")
	key("\x0f")
	out.await(t, "m.onnx is neither an ONNX model nor an engine")
	write(renamed(t, "layer_anew"))
	key("\x0f")
	press = <-keyboards
	out.await(t, "FP16")
	key("2")
	out.await(t, "layer_anew")
	key("\x03")
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("ctrl+c in the new workbench does not end the program")
	}
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
