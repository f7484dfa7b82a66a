package cmd

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/dataset"
)

// tokens returns a network of two products of tokens, and data in which the first of twelve is so many times as large as the others.
func tokens(t *testing.T, first float32) []string {
	t.Helper()
	const items, count, width = 16, 12, 48
	rnd := rand.New(rand.NewPCG(7, 8))
	random := func(dims ...int) numeric.Value {
		v := numeric.NewValue(numeric.F32, dims...)
		for i := range v.F32() {
			v.F32()[i] = 2*rnd.Float32() - 1
		}
		return v
	}
	d := graph.Define("tokens")
	x := d.Input("x", numeric.F32, symbolic.Shape(1, count, width)...)
	inner := d.Tanh(d.MatMul(x, d.Constant("w1", random(width, 2*width))))
	d.Output("y", d.MatMul(inner, d.Constant("w2", random(2*width, width))))
	data := random(items, count, width)
	for i := range data.F32() {
		if i/width%count == 0 {
			data.F32()[i] *= first
		}
	}
	path := filepath.Join(t.TempDir(), "tokens.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := dataset.WriteNpz(f, map[string]numeric.Value{"x": data}); err != nil {
		t.Fatal(err)
	}
	return []string{definedFile(t, d), "--data", path, "--precision", "int8", "--rounding", "nearest", "--equalization", "off", "-q"}
}

// TestRangesByTokenChosen: by default products have ranges by token where a token is much larger than others; what was compared is told,
// and an engine that keeps its source is lowered so again without data.
func TestRangesByTokenChosen(t *testing.T) {
	for first, taken := range map[float32]bool{40: true, 1: false} {
		args := tokens(t, first)
		out, _ := command(t, 0, append([]string{"inspect", "passes", "--verbose"}, args...)...)
		if !strings.Contains(out, "range-rows") || strings.Count(out, "items that were held out: nearest") != 2 || strings.Contains(out, "int8-rows") != taken {
			t.Errorf("first token %g times as large:\n%s", first, out)
		}
		file := filepath.Join(t.TempDir(), "tokens.engine")
		command(t, 0, append([]string{"build", "--keep-source", "-o", file}, args...)...)
		out, _ = command(t, 0, "inspect", "passes", file, "--verbose", "-q")
		if strings.Contains(out, "held out") || strings.Contains(out, "int8-rows") != taken || strings.Count(out, "as it was found before") != 2 {
			t.Errorf("the engine, first token %g times as large:\n%s", first, out)
		}
	}
	out, _ := command(t, 0, append([]string{"inspect", "passes", "--verbose", "--activations", "asymmetric"}, tokens(t, 40)...)...)
	if strings.Contains(out, "range-rows") || strings.Contains(out, "int8-rows") {
		t.Errorf("by one range:\n%s", out)
	}
}

// TestRaiseToRangesByToken: where a token is much larger than others, a range for each row of the product that reads it gains most of what
// all products by token gain, and the search takes it there alone.
func TestRaiseToRangesByToken(t *testing.T) {
	args := append(tokens(t, 40), "--activations", "asymmetric")
	out, _ := command(t, 0, append([]string{"inspect", "sensitivity", "--raise-to", "int8:token", "--format", "json"}, args...)...)
	var s struct {
		Layers []struct {
			Name string  `json:"name"`
			Gain float64 `json:"gain_db"`
		} `json:"layers"`
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil || len(s.Layers) != 2 || s.Layers[0].Gain < 6 || s.Layers[1].Gain > 1 {
		t.Fatalf("%v in\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "best.config.json")
	out, _ = command(t, 0, append([]string{"tune-precision", "--raise-to", "int8:token", "--min-sqnr", "30", "-o", file}, args...)...)
	best, err := os.ReadFile(file)
	if err != nil || strings.Count(string(best), ":int8:token") != 1 || !strings.Contains(string(best), `"MatMul:int8:token"`) {
		t.Errorf("%v: %s\n%s", err, best, out)
	}
}
