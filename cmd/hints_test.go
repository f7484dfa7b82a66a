package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/views/pane"
)

// TestHints: the errors of sessions, which state facts, get the flag or command that helps.
func TestHints(t *testing.T) {
	open := &graph.Tensor{Name: "x", Type: numeric.F32, Dims: []symbolic.Dim{symbolic.Symbol("n"), symbolic.Const(3), symbolic.Symbol("h")}}
	_, noLayers := exchange.OpenEngine([]exchange.File{{Path: "model.onnx", Data: []byte("model")}})
	for want, err := range map[string]error{
		"trtui inspect engine":                      noLayers,
		"--shapes x:1x3x":                           &model.UnboundShapes{Inputs: []*graph.Tensor{open}},
		"--random-items 16 ":                        &dataset.TooManyItems{Items: 32, Fit: 16},
		"--label-offset":                            &stages.LabelError{},
		"--allow-not-finite":                        &dataset.NotFiniteError{},
		"--type i8 and --shape":                     &dataset.UnknownForm{Err: fmt.Errorf("no")},
		"--minShapes x:1x2 --maxShapes x:4x8 serve": &model.RangeError{Err: &model.ShapesError{Err: fmt.Errorf("no")}, Min: map[string][]int{"x": {1, 2}}, Max: map[string][]int{"x": {4, 8}}},
		"--shapes gives extents as numbers":         &onnx.ImportError{Problems: []onnx.Problem{{Long: true}}},
		"--shapes x:1x2 serves":                     &model.RangeError{Err: &model.ShapesError{Err: fmt.Errorf("no")}, Min: map[string][]int{"x": {1, 2}}, Max: map[string][]int{"x": {1, 2}}},
		"--shapes, --batch":                         &model.ShapesError{Err: fmt.Errorf("no")},
		"trtui inspect tactics":                     &sessions.TacticError{},
		"the key w":                                 recording.ErrNotRecording,
		"--data takes it":                           &model.Foreign{Use: model.AsData},
		"trtui replay opens":                        &model.Foreign{Use: model.AsRecording},
		"--config takes":                            &model.Foreign{Use: model.AsConfig},
		"--minShapes":                               &run.OutOfRange{Symbol: "n"},
		"to which shapes":                           &compare.ItemError{Err: &run.OutOfRange{Symbol: "n"}},
		"--batch 1":                                 &compare.Unlike{Input: "x"},
		"--shapes x:2x12":                           &run.OtherShape{Input: "x", Dims: []int{2, 12}, WantDims: []int{2, 40}},
	} {
		if got := hintOn(fmt.Errorf("wrapped: %w", err)); !strings.Contains(got, want) {
			t.Errorf("%T: %q, want %q", err, got, want)
		}
	}
	if got := hintOn(&model.Foreign{}); got != "" {
		t.Errorf("a file of no use has the hint %q", got)
	}
}

// TestFactHints: so do the facts that panes state.
func TestFactHints(t *testing.T) {
	for want, fact := range map[string]pane.Fact{
		"--label-offset -1":             pane.LabelsOff{By: -1},
		"build it with --config a.json": pane.ConfigSaved{Path: "a.json"},
	} {
		if got := hintOnFact(fact); got != want {
			t.Errorf("%+v: %q, want %q", fact, got, want)
		}
	}
}

// TestForeignFileHint: the command line says what takes a file that is no model.
func TestForeignFileHint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, []byte(`{"precision": "int8"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := command(t, exitFailure, "bench", path); !strings.Contains(errs, "--config takes a configuration") {
		t.Error(errs)
	}
}
