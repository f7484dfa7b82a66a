package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/plugin"
)

const (
	swirl = "../testdata/plugins/swirl/swirl.wasm"
	power = "../testdata/plugins/power/power.wasm"
)

// swirling writes a model with an op of the plugin swirl between two others.
func swirling(t *testing.T) string {
	t.Helper()
	p, err := plugin.Open(swirl, plugin.DefaultLimits(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := graph.Define("swirling")
	x := d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(2), symbolic.Const(4), symbolic.Const(4))
	attrs := plugin.Attrs{Plugin: p.Name, Hash: p.Hash, Values: []plugin.Value{{Name: "angle", Kind: "float", Floats: []float64{0.5}}}}
	y := d.Named("turn").Layers(p.GraphOps()[0], attrs, 1, d.Tanh(x))[0]
	d.Output("y", d.Relu(y))
	return definedFile(t, d)
}

// TestPlugin opens, builds and runs a model with an op of a plugin, and does not where the plugin is missing or is another one.
func TestPlugin(t *testing.T) {
	model := swirling(t)
	if _, text := command(t, exitFailure, "inspect", "engine", model); !strings.Contains(text, "com.example") || !strings.Contains(text, "Swirl") {
		t.Error(text)
	}
	out, _ := command(t, 0, "inspect", "model", model, "--plugin", swirl)
	if !strings.Contains(out, "= com.example:Swirl(") || !strings.Contains(out, "values=[angle:0.5]") {
		t.Error(out)
	}
	engine := filepath.Join(filepath.Dir(model), "x.engine")
	for _, precision := range []string{"int8", "fp16", "fp32"} {
		command(t, 0, "build", model, "--plugin", swirl, "--precision", precision, "-o", engine, "--keep-source")
		command(t, 0, "run", engine, "--plugin", swirl, "--items", "2")
	}
	command(t, 0, "run", model, "--plugin", swirl, "--backends", "cpu,eval", "--items", "2")
	_, text := command(t, exitFailure, "run", engine)
	for _, want := range []string{"layer turn: the op com.example:Swirl is of the plugin swirl (SHA-256 ", "which is not loaded", "--plugin FILE"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	changed := filepath.Join(filepath.Dir(model), "other.wasm")
	data, err := os.ReadFile(swirl)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(changed, append(data, 0, 2, 1, 'x'), 0o600); err != nil { // a section of its own, named x
		t.Fatal(err)
	}
	if _, text := command(t, exitFailure, "run", engine, "--plugin", changed); !strings.Contains(text, "what it computes may differ") {
		t.Error(text)
	}
	if _, text := command(t, exitFailure, "run", model, "--plugin", swirl, "--plugin", changed); !strings.Contains(text, "stands twice") {
		t.Error(text)
	}
	back := filepath.Join(filepath.Dir(model), "back.onnx")
	command(t, 0, "export", model, "--plugin", swirl, "-o", back)
	command(t, 0, "run", back, "--plugin", swirl, "--items", "1")
}

// TestInspectPlugins shows plugins, and says why one cannot be loaded.
func TestInspectPlugins(t *testing.T) {
	out, _ := command(t, 0, "inspect", "plugins", swirl, power)
	for _, want := range []string{"swirl 1.0 (", "com.example:Swirl(x f32) -> y", "angle float = 0.1", "power 1.0 (", "com.example:Square2(x f32) -> y"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, _ = command(t, 0, "inspect", "plugins", swirl, "--format", "json")
	checkJSON(t, out)
	if !strings.Contains(out, `"sha256": "`) || !strings.Contains(out, `"default": "0.1"`) {
		t.Error(out)
	}
	if _, text := command(t, exitFailure, "inspect", "plugins", "../core/plugin/testdata/hostile/import.wasm"); !strings.Contains(text, "it imports env.secret") {
		t.Error(text)
	}
}
