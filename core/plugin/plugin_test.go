package plugin

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

const examples = "../../testdata/plugins"

func open(t testing.TB, path string) *Plugin {
	t.Helper()
	p, err := Open(path, DefaultLimits(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// layer defines a network of one layer of a plugin's first op.
func layer(t testing.TB, p *Plugin, values []Value, outputs int, dims ...symbolic.Dim) (*graph.Network, error) {
	t.Helper()
	d := graph.Define("net")
	x := d.Input("x", numeric.F32, dims...)
	for i, y := range d.Layers(p.GraphOps()[0], Attrs{Plugin: p.Name, Hash: p.Hash, Values: values}, outputs, x) {
		d.Output([]string{"y", "z"}[i], y)
	}
	return d.Network()
}

func run(t testing.TB, n *graph.Network, x []float32, dims ...int) (map[string]numeric.Value, error) {
	t.Helper()
	return n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, dims...)}, nil)
}

// TestPower runs the plugin that is written by hand, on a shape with a symbol.
func TestPower(t *testing.T) {
	p := open(t, examples+"/power/power.wasm")
	n, err := layer(t, p, nil, 1, symbolic.Symbol("n"), symbolic.Const(3))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Outputs[0].TypeString(); got != "f32[n,3]" {
		t.Errorf("the shape is %s", got)
	}
	for _, rows := range []int{1, 2, 60000} {
		x := make([]float32, 3*rows)
		for i := range x {
			x[i] = float32(i%100) - 50
		}
		out, err := run(t, n, x, rows, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out["y"].F32() {
			if v != x[i]*x[i] {
				t.Fatalf("element %d of %d rows is %g, want %g", i, rows, v, x[i]*x[i])
			}
		}
	}
}

// TestSwirl compares the plugin that is written in C with its definition.
func TestSwirl(t *testing.T) {
	p := open(t, examples+"/swirl/swirl.wasm")
	const angle = 0.7
	n, err := layer(t, p, []Value{{Name: "angle", Kind: "float", Floats: []float64{angle}}}, 1, symbolic.Symbol("n"), symbolic.Const(2), symbolic.Const(5), symbolic.Const(3))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 60)
	for i := range x {
		x[i] = float32(i)/7 - 4
	}
	out, err := run(t, n, x, 2, 2, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	y := out["y"].F32()
	for i := range x {
		item, channel, row, at := i/30, i/15%2, i/3%5, i%15
		s, c := math.Sincos(angle * float64(row))
		a, b := float64(x[item*30+at]), float64(x[item*30+15+at])
		want := c*a - s*b
		if channel == 1 {
			want = s*a + c*b
		}
		if math.Abs(float64(y[i])-want) > 1e-6 {
			t.Errorf("element %d is %g, want %g", i, y[i], want)
		}
	}
	if _, err := layer(t, p, []Value{{Name: "angle", Kind: "float", Floats: []float64{1}}}, 1, symbolic.Const(1), symbolic.Const(3), symbolic.Const(5), symbolic.Const(3)); err == nil || !strings.Contains(err.Error(), "x is [N,2,H,W]") {
		t.Error(err)
	}
	if _, err := layer(t, p, nil, 1, symbolic.Const(1), symbolic.Const(2), symbolic.Const(5), symbolic.Const(3)); err == nil || !strings.Contains(err.Error(), "0 attributes, want 1") {
		t.Error(err)
	}
}

// TestStandardize runs the plugin that is written in Go, where make plugins has built it.
func TestStandardize(t *testing.T) {
	const path = examples + "/standardize/standardize.wasm"
	if _, err := os.Stat(path); err != nil {
		t.Skip("make plugins builds it")
	}
	p := open(t, path)
	n, err := layer(t, p, []Value{{Name: "epsilon", Kind: "float", Floats: []float64{0}}}, 2, symbolic.Symbol("n"), symbolic.Const(4))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Outputs[1].TypeString(); got != "f32[n,1]" {
		t.Errorf("the shape of mean is %s", got)
	}
	out, err := run(t, n, []float32{1, 2, 3, 4, -1, -1, 1, 1}, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{-3 / math.Sqrt(5), -1 / math.Sqrt(5), 1 / math.Sqrt(5), 3 / math.Sqrt(5), -1, -1, 1, 1}
	for i, v := range out["y"].F32() {
		if math.Abs(float64(v)-want[i]) > 1e-6 {
			t.Errorf("element %d is %g, want %g", i, v, want[i])
		}
	}
	if z := out["z"].F32(); z[0] != 2.5 || z[1] != 0 {
		t.Errorf("means %v", z)
	}
}

// hostile are the modules of testdata and what is said of them: when they are loaded, when shapes are inferred, and when they
// compute.
var hostile = map[string]struct{ load, infer, eval string }{
	"sound":               {},
	"forever-start":       {load: "it takes too long and was stopped"},
	"forever-infer":       {infer: "it takes too long and was stopped"},
	"forever-eval":        {eval: "it takes too long and was stopped"},
	"trap-start":          {load: "unreachable"},
	"trap-infer":          {infer: "unreachable"},
	"trap-eval":           {eval: "integer divide by zero"},
	"recursion":           {infer: "stack overflow"},
	"memory-bomb":         {},
	"memory-large":        {load: "no WebAssembly module"},
	"table-large":         {load: "a table of 4000000000 entries"},
	"table-bomb":          {},
	"alloc-outside":       {infer: "trtui_alloc: "},
	"alloc-odd":           {infer: "trtui_alloc: "},
	"alloc-null":          {infer: "trtui_alloc: "},
	"answer-outside":      {infer: "which is not in its memory"},
	"answer-at-end":       {infer: "its answer ends outside its memory"},
	"answer-long":         {infer: "it answers 1099511627776 bytes"},
	"answer-text-outside": {infer: "which are not in its memory"},
	"answer-type":         {infer: "output 0 has type 99"},
	"answer-rank":         {infer: "1099511627776 axes"},
	"answer-extent":       {infer: "extent 1099511627776 on axis 0"},
	"answer-symbol":       {infer: "extent -7 on axis 0"},
	"answer-vast":         {infer: "has too many elements"},
	"answer-refuses":      {infer: "no!"},
	"manifest-outside":    {load: "which is not in its memory"},
	"manifest-long":       {load: "it answers 8589934592 bytes"},
	"manifest-junk":       {load: "the manifest: invalid character"},
	"manifest-abi":        {load: "abi is 7"},
	"manifest-domain":     {load: "is not a plugin's"},
	"import":              {load: "it imports env.secret"},
	"import-memory":       {load: "it imports a memory"},
	"no-memory":           {load: "it does not export memory"},
	"no-exports":          {load: "it does not export trtui_manifest, trtui_alloc, trtui_infer, trtui_eval"},
	"other-signature":     {load: "takes or returns something else"},
	"exit":                {infer: "it ended itself with 3"},
	"files":               {},
	"floods-log":          {},
}

// TestHostile has modules that do what they must not: each is an error, soon, and takes no more memory than it is given.
func TestHostile(t *testing.T) {
	files, _ := filepath.Glob("testdata/hostile/*.wasm")
	if len(files) != len(hostile) {
		t.Errorf("%d modules, %d are known", len(files), len(hostile))
	}
	for name, want := range hostile {
		t.Run(name, func(t *testing.T) {
			limits, lines := Limits{Memory: 8 << 20, Open: 20 * time.Second, Infer: 20 * time.Second, Eval: 20 * time.Second}, 0
			if strings.HasPrefix(name, "forever") {
				limits.Open, limits.Infer, limits.Eval = 500*time.Millisecond, 200*time.Millisecond, 300*time.Millisecond
			}
			p, err := Open("testdata/hostile/"+name+".wasm", limits, func(string) { lines++ })
			if !said(t, "load", err, want.load) {
				return
			}
			defer p.Close()
			n, err := layer(t, p, nil, 1, symbolic.Const(2))
			if !said(t, "infer", err, want.infer) {
				return
			}
			_, err = run(t, n, []float32{1, 2}, 2)
			if said(t, "eval", err, want.eval); err != nil && !strings.Contains(err.Error(), name+".wasm") {
				t.Errorf("%v names no file", err)
			}
			if want.eval != "" { // and the next call has a sound instance
				_, err = layer(t, p, nil, 1, symbolic.Const(2))
				said(t, "infer again", err, "")
			}
			if lines > maxLines {
				t.Errorf("%d lines", lines)
			}
		})
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.Sys > 1<<30 {
		t.Errorf("the modules took %d MiB", m.Sys>>20)
	}
}

// said checks an error, and reports whether there is none, nor should be.
func said(t *testing.T, when string, err error, want string) bool {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", when, err, want)
	}
	return err == nil && want == ""
}

// FuzzModule loads anything, and runs what can be loaded.
func FuzzModule(f *testing.F) {
	files, _ := filepath.Glob("testdata/hostile/*.wasm")
	for _, name := range append(files, examples+"/power/power.wasm", examples+"/swirl/swirl.wasm") {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	limits := Limits{Memory: 4 << 20, Open: 200 * time.Millisecond, Infer: 50 * time.Millisecond, Eval: 50 * time.Millisecond}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Load(data, limits, nil)
		if err != nil {
			return
		}
		defer p.Close()
		n, err := layer(t, p, nil, 1, symbolic.Const(2))
		if err == nil {
			_, _ = run(t, n, []float32{1, 2}, 2)
		}
	})
}

// FuzzManifest reads anything as a manifest: what is taken can be used.
func FuzzManifest(f *testing.F) {
	f.Add(`{"abi":1,"name":"a","version":"1","ops":[{"domain":"h","name":"H","attributes":[{"name":"k","type":"ints","default":[1,2]}],"inputs":[{"name":"x","types":["f32","bool"],"optional":true}],"outputs":[{"name":"y"}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseManifest([]byte(text))
		if err != nil {
			return
		}
		p := &Plugin{Manifest: m}
		if _, err := graph.Ops().Plus(p.GraphOps()...); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzAnswer reads anything as an answer to a question for shapes.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"), uint32(0), 1, 0)
	f.Fuzz(func(t *testing.T, data []byte, at uint32, outputs, symbols int) {
		if outputs < 0 || outputs > 8 || symbols < 0 || symbols > 8 {
			return
		}
		list, err := shapes(memory{data: data}, at, outputs, symbols)
		if err != nil {
			return
		}
		for _, x := range list {
			for _, d := range x.dims {
				if d < -int64(symbols) || d > math.MaxInt32 {
					t.Fatalf("extent %d", d)
				}
			}
		}
	})
}
