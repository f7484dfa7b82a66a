package model_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/testdata"
)

// An engine that a program wrote opens as what it is: its precision and batch.
func TestEngineOfAProgram(t *testing.T) {
	n, err := trtui.Parse("digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	pixels := testdata.CalibrationImages().Batch(0, 8)
	e, err := trtui.Build(t.Context(), n, trtui.Options{
		Precision: trtui.INT8, Shapes: map[string][]int{"image": {4, 1, testdata.Padded, testdata.Padded}}, Untimed: true,
		Calibration: trtui.Batches(trtui.Inputs{"image": trtui.ValueOf(pixels, 8, 1, testdata.Padded, testdata.Padded)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "digits.engine")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(graph.Ops(), path)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := m.BuiltWith()
	if err != nil || cfg.Precision != config.INT8 || cfg.Batch != 4 || len(cfg.Shapes) != 0 {
		t.Errorf("it opens as %+v, %v", cfg, err)
	}
}
