package networks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/torture"
)

// madeByBuilder are the ops that no operator of ONNX's own domain is: passes, planner and imports of others make them.
var madeByBuilder = map[string]bool{"DynamicQuantizeMatMul": true, "GatedMatMul": true, "MatMulNBits": true, "Pointwise": true, "Reformat": true, "RoundRows": true}

// madeByImport are the ops that imports make where data decide an extent, which they do not in random networks; onnxruntime has no
// ImageDecoder.
var madeByImport = map[string]bool{"ImageDecoder": true, "Places": true}

// madeOf are the ops that no operator is by itself, by an operator that is imported as several layers, of which one is theirs.
var madeOf = map[string]string{"DeformColumns": "DeformConv", "RandomNormal": "RandomNormal", "RandomUniform": "RandomUniform", "StringCase": "StringNormalizer", "StringIndex": "StringNormalizer", "StringSplit": "StringSplit"}

// TestEveryOperator: every ONNX operator of the op table is generated, and imported as it was meant.
func TestEveryOperator(t *testing.T) {
	for _, op := range graph.Ops().All() {
		names := op.Onnx
		if name, ok := madeOf[op.Name]; ok {
			names = []string{name}
		}
		if len(names) == 0 && !madeByBuilder[op.Name] && !madeByImport[op.Name] {
			t.Errorf("no model has op %s: say who makes it, and reach it", op.Name)
		}
		for _, name := range names {
			p, ok := proposals[name]
			if !ok {
				t.Errorf("nothing generates ONNX's %s", name)
				continue
			}
			if !reached(name, p, func(l *graph.Layer) bool { return l.Op.Name == op.Name }) {
				t.Errorf("no model has a layer of ONNX's %s", name)
			}
		}
	}
	for name, p := range proposals {
		switch {
		case graph.Ops().Onnx("", name) != nil:
		case graph.Ops().Composite("", name) == nil:
			t.Errorf("%s is generated, but nothing imports it", name)
		case !reached(name, p, func(l *graph.Layer) bool { return strings.HasPrefix(l.Name, name) }):
			t.Errorf("no model has the layers of ONNX's %s", name)
		}
	}
}

// reached reports whether one of some seeds gives a model with the operator, which has such a layer.
func reached(name string, p proposal, made func(l *graph.Layer) bool) bool {
	opset := max(p.since, 13)
	if p.until != 0 {
		opset = p.until
	}
	for seed := range uint64(40) {
		n, err := onnx.Parse(graph.Ops(), "model.onnx", generate(seed, name, opset).Encode())
		if err != nil {
			continue
		}
		if slices.ContainsFunc(n.Layers, made) {
			return true
		}
	}
	return false
}

// bench returns a bench with onnxruntime where TRTUI_PYTHON names an interpreter that has it.
func bench(t testing.TB) *Bench {
	b, err := newBench(os.Getenv("TRTUI_PYTHON"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestKept checks what once went wrong.
func TestKept(t *testing.T) {
	b := bench(t)
	dirs, err := filepath.Glob("testdata/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d cases, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		c, err := ReadCase(dir)
		if err != nil {
			t.Fatal(err)
		}
		if f := b.Check(context.Background(), c.Model, c.Setup); f != nil {
			t.Errorf("%s: %v", dir, f)
		}
	}
}

func TestNetworks(t *testing.T) {
	b := bench(t)
	features := FeatureSets()
	for seed := range uint64(30) {
		m := Generate(seed)
		for _, s := range RandomSetups(seed, features) {
			if f := b.Check(context.Background(), m, s); f != nil {
				t.Errorf("seed %d, %+v: %v", seed, s, f)
			}
		}
	}
	t.Logf("%+v", b.Figures)
}

// TestTileEdge: the hunt finds elements behind the last whole tile that are not computed, and shrinks what shows it.
func TestTileEdge(t *testing.T) {
	w, err := start(torture.Place{Planted: TileEdge})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for seed := range uint64(50) {
		if found := w.Try(context.Background(), seed); len(found) > 0 {
			f := found[0]
			var c Case
			if err := json.Unmarshal(f.Files["case.json"], &c); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(f.Kind, "engine differs") || len(c.Model.Nodes) > 2 {
				t.Errorf("%s: %d nodes are left", f.Kind, len(c.Model.Nodes))
			}
			t.Logf("found by try %d: %s", seed, f.Kind)
			return
		}
	}
	t.Error("a wrong tile edge is not found")
}

// TestNoise: what is compared has room for rounding alone.
func TestNoise(t *testing.T) {
	n := graph.NewNetwork("n")
	x := n.AddInput("x", numeric.F32, symbolic.Const(1), symbolic.Const(64))
	w := n.AddConst("w", numeric.Values(numeric.F32, slices.Repeat([]float32{0.5}, 64*8), 64, 8))
	l, err := n.Add("y", graph.MatMul, nil, []*graph.Tensor{x, w}, "y")
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(l.Outputs[0])
	m, err := meaningOf(n, map[string]numeric.Value{"x": numeric.Values(numeric.F32, slices.Repeat([]float32{1}, 64), 1, 64)}, cpuOrOracle)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		factor float32
		agree  bool
	}{{1, true}, {1 + 1e-6, true}, {1 + 1e-4, false}, {63. / 64, false}} {
		got := numeric.Values(numeric.F32, slices.Repeat([]float32{32 * tt.factor}, 8), 1, 8)
		if _, err := m.agree(map[string]numeric.Value{"y": got}); (err == nil) != tt.agree {
			t.Errorf("times %v: %v", tt.factor, err)
		}
	}
}

// TestBuilderOps: the ops that only passes and planner make are in what is built. Which network has the last of them depends on the
// processor's instruction sets, which setups are drawn from.
func TestBuilderOps(t *testing.T) {
	b := bench(t)
	seen := map[string]bool{}
	b.look = func(p *run.Plan) {
		for _, s := range p.Steps {
			seen[s.Layer.Op.Name] = true
		}
	}
	all := func() bool {
		for name := range madeByBuilder {
			if !seen[name] {
				return false
			}
		}
		return true
	}
	for seed := uint64(0); seed < 300 && !all(); seed++ {
		m := Generate(seed)
		for _, s := range RandomSetups(seed, FeatureSets())[1:] {
			_ = b.Check(context.Background(), m, s)
		}
	}
	for name := range madeByBuilder {
		if !seen[name] {
			t.Errorf("no engine has a layer of %s", name)
		}
	}
}

// TestStoredGraphs: a model whose nodes have graphs inside is kept and read as it was.
func TestStoredGraphs(t *testing.T) {
	for _, op := range []string{"If", "Loop", "Scan"} {
		m := generate(0, op, 17)
		for seed := uint64(1); !slices.ContainsFunc(m.Nodes, func(n Node) bool { return n.Op == op }); seed++ {
			m = generate(seed, op, 17)
		}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again Model
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Encode(), m.Encode()) {
			t.Errorf("a model with %s is another one", op)
		}
	}
}

// TestOftenTurned: where noise turns many elements, one more may be turned as far; where it turns none, none may.
func TestOftenTurned(t *testing.T) {
	for _, c := range []struct {
		turned, got float64
		agree       bool
	}{{0, 5, true}, {0, 6, false}, {2, 6, true}, {2, 8, false}} {
		m := &meaning{allowed: map[string][]float64{"y": make([]float64, 100)}, factor: 1}
		want, got := slices.Repeat([]float64{5}, 100), slices.Repeat([]float64{5}, 100)
		for i := range int(c.turned) {
			m.allowed["y"][i] = 1
		}
		got[99] = c.got
		if _, err := m.near("y", got, want, numeric.U8); (err == nil) != c.agree {
			t.Errorf("%v turned, %v for 5: %v", c.turned, c.got, err)
		}
	}
}
