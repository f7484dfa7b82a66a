package cuda

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
)

// targets are what kernels are assembled for: the oldest GPUs that have what they need, the newest ones and, where TRTUI_SIM is
// "full", one between, which has the instructions of the oldest.
var targets = [...]ptx.Target{{SM: 80}, {SM: 90, Arch: true}, {SM: 89}}

// TestAssembler gives kernels to NVIDIA's assembler: the tiles' on runs that have all pairs of what they differ in and, each
// third with another, on the layers of a residual network (with TRTUI_SIM=full all), every other tactic's on layers of the
// suite that have each of their traits. It must take them for each target, within the registers that the kernels leave each
// other, spill nothing, and tell of no speed that is lost. What they take is in testdata/TestAssembler.golden, as the release
// that make ptxas installs has it: a line for each tactic, with its kernels and the fewest and most registers for each target;
// -update brings a change in. What was assembled when it was brought in is believed (testdata/TestAssembler/record.golden), but for
// a share that is assembled again, another each time; with TRTUI_SIM=full nothing is.
func TestAssembler(t *testing.T) {
	tool := emittest.Assembler(t)
	full, record := os.Getenv("TRTUI_SIM") == "full", "testdata/TestAssembler/record.golden"
	if full {
		record = ""
	}
	ledger, err := emittest.OpenLedger(tool, record)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	g := gate{ledger: ledger, targets: targets[:2], texts: map[[sha256.Size]byte]bool{}}
	if full {
		g.targets = targets[:]
	}
	t.Run("runs", func(t *testing.T) {
		for _, r := range assemblies(t) {
			tactic := g.tactic(r.tactic.Name)
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				g.check(t, r, tactic)
			})
		}
	})
	if t.Failed() {
		return
	}
	total := fmt.Sprintf("ptxas %s: %s", tool.Release, g.total())
	t.Log(total)
	installs, err := os.ReadFile("../../scripts/ptxas.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !full && strings.Contains(string(installs), "nvidia-cuda-nvcc=="+tool.Release+" ") {
		golden.RequireEqual(t, total+"\n"+g.table())
		t.Run("record", func(t *testing.T) { golden.RequireEqual(t, ledger.Record()) })
	}
}

// gate assembles kernels and sums up what they take. Several goroutines may use it.
type gate struct {
	ledger  *emittest.Ledger
	targets []ptx.Target
	tactics []*assembledTactic

	mu      sync.Mutex
	texts   map[[sha256.Size]byte]bool // layers of one form share theirs, and so do some tactics
	kernels [len(targets)]int
	most    int // registers
	spills  int // bytes
}

// assembledTactic is what the kernels of a tactic take.
type assembledTactic struct {
	name         string
	texts        map[[sha256.Size]byte]bool
	kernels      int
	fewest, most [len(targets)]int // registers
}

// tactic returns a tactic's line.
func (g *gate) tactic(name string) *assembledTactic {
	for _, a := range g.tactics {
		if a.name == name {
			return a
		}
	}
	a := &assembledTactic{name: name, texts: map[[sha256.Size]byte]bool{}}
	g.tactics = append(g.tactics, a)
	return a
}

// check assembles the kernels of a run for each target.
func (g *gate) check(t *testing.T, r productRun, tactic *assembledTactic) {
	binding, ok := emittest.BindingOf(r.layer, r.tactic)
	if !ok {
		t.Fatal("the layer has no such format")
	}
	if err := r.tactic.Matches(binding); err != nil {
		t.Fatal(err)
	}
	var made [len(targets)]ptxas.Assembled
	texts := sha256.New()
	for i, target := range g.targets {
		if r.tactic.RunsOn(target.SM) != nil {
			continue
		}
		w, err := r.tactic.Work(emit.Device{SM: target.SM}, binding)
		if err != nil {
			t.Fatal(err)
		}
		limits := map[string]int{}
		for _, k := range w.Module.Kernels {
			limits[k.Name] = emittest.RegisterLimit(k)
		}
		text := w.Module.String()
		texts.Write([]byte(text))
		a, err := g.ledger.Assemble(t.Context(), target.String(), text)
		if err != nil {
			t.Fatal(err)
		}
		if made[i] = a; len(a.Kernels) != len(limits) {
			t.Errorf("%s: the assembler tells of %d kernels of %d", target, len(a.Kernels), len(limits))
		}
		for _, k := range a.Kernels {
			if k.SpillStores+k.SpillLoads > 0 || k.Registers > limits[k.Name] {
				t.Errorf("%s: kernel %s spills %d bytes and loads %d, with %d registers of %d", target, k.Name, k.SpillStores, k.SpillLoads, k.Registers, limits[k.Name])
			}
		}
		for _, line := range a.Warnings {
			t.Errorf("%s: %s", target, line)
		}
	}
	g.add([sha256.Size]byte(texts.Sum(nil)), tactic, made)
}

// add counts what a text takes on each target, once in all and once for its tactic.
func (g *gate) add(sum [sha256.Size]byte, tactic *assembledTactic, made [len(targets)]ptxas.Assembled) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.texts[sum] {
		g.texts[sum] = true
		for i, a := range made {
			g.kernels[i] += len(a.Kernels)
			for _, k := range a.Kernels {
				g.most, g.spills = max(g.most, k.Registers), g.spills+k.SpillStores+k.SpillLoads
			}
		}
	}
	if tactic.texts[sum] {
		return
	}
	tactic.texts[sum] = true
	tactic.kernels += len(made[0].Kernels)
	for i, a := range made {
		for _, k := range a.Kernels {
			if tactic.fewest[i] == 0 || k.Registers < tactic.fewest[i] {
				tactic.fewest[i] = k.Registers
			}
			tactic.most[i] = max(tactic.most[i], k.Registers)
		}
	}
}

// total tells how many kernels were assembled for each target.
func (g *gate) total() string {
	var counts []string
	for i, target := range g.targets {
		counts = append(counts, fmt.Sprintf("%s %d kernels", target, g.kernels[i]))
	}
	return fmt.Sprintf("%s; most registers %d, spills %d", strings.Join(counts, ", "), g.most, g.spills)
}

// table has a line for each tactic.
func (g *gate) table() string {
	var b strings.Builder
	line := func(name, kernels string, registers [len(targets)]string) {
		fmt.Fprintf(&b, "%-44s %7s", name, kernels)
		for _, r := range registers[:len(g.targets)] {
			fmt.Fprintf(&b, " %7s", r)
		}
		b.WriteByte('\n')
	}
	var names [len(targets)]string
	for i, target := range g.targets {
		names[i] = target.String()
	}
	line("tactic", "kernels", names)
	for _, a := range g.tactics {
		var registers [len(targets)]string
		for i := range registers {
			if registers[i] = fmt.Sprint(a.most[i]); a.fewest[i] != a.most[i] {
				registers[i] = fmt.Sprintf("%d-%d", a.fewest[i], a.most[i])
			}
		}
		line(a.name, fmt.Sprint(a.kernels), registers)
	}
	return b.String()
}

// assemblies returns the runs whose kernels are assembled.
func assemblies(t *testing.T) []productRun {
	var list []productRun
	_, _, levels := productRuns()
	for _, l := range levels {
		r, err := makeRun(l)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	every := 3
	if os.Getenv("TRTUI_SIM") == "full" {
		every = 1
	}
	return slices.Concat(list, residualRuns(t, every), suiteAssemblies())
}

// residualRuns are tiles on the convolutions of a residual network of 50 layers, in turn with each number of stages and parts:
// each convolution meets one in every so many tiles.
func residualRuns(t *testing.T, every int) []productRun {
	var list []productRun
	for i, c := range residualConvolutions() {
		for j, tl := range coverShapes {
			if (i+j)%every != 0 {
				continue
			}
			splits := tl.Splits()
			tl.Stages, tl.Split = coverStages[(i/3+j)%2], splits[(i/3+j/3)%len(splits)]
			e := products.OnTile("conv_", graph.Conv, kernels.NHWC, tl)
			l := c.layer(t, tl.Unit.Type())
			if b, ok := emittest.BindingOf(l, e); ok && e.Matches(b) == nil {
				list = append(list, productRun{name: fmt.Sprintf("residual/%v/%s", c, tl), tactic: e, layer: l})
			}
		}
	}
	return list
}

// residualConvolution is one of them: channels, taps, the input's extent, and the stride.
type residualConvolution struct{ in, out, taps, extent, stride int }

// residualConvolutions returns those that differ.
func residualConvolutions() []residualConvolution {
	list := []residualConvolution{{64, 64, 1, 56, 1}}
	width, extent, in := 64, 56, 64
	for stage := range 4 {
		stride := min(2, stage+1)
		if stage > 0 {
			list = append(list, residualConvolution{in, width, 1, extent, 1})
		}
		list = append(list, residualConvolution{in, 4 * width, 1, extent, stride}, residualConvolution{width, width, 3, extent, stride})
		extent /= stride
		list = append(list, residualConvolution{width, 4 * width, 1, extent, 1}, residualConvolution{4 * width, width, 1, extent, 1})
		if stage > 0 {
			list = append(list, residualConvolution{width, width, 3, extent, 1})
		}
		in, width = 4*width, 2*width
	}
	return list
}

// layer returns the convolution with its bias, for one image: what widens also adds, as the end of a block does.
func (c residualConvolution) layer(t *testing.T, typ numeric.DataType) *graph.Layer {
	t.Helper()
	x := &graph.Tensor{Name: "x", Type: typ, Dims: symbolic.Shape(1, c.in, c.extent, c.extent)}
	w := &graph.Tensor{Name: "w", Type: typ, Dims: symbolic.Shape(c.out, c.in, c.taps, c.taps)}
	w.Weights = make([]byte, c.out*c.in*c.taps*c.taps*typ.Size())
	if typ == numeric.I8 {
		x.Range, w.Range = numeric.PerTensor(0.03, 0), numeric.PerTensor(0.01, 0)
	}
	pad := c.taps / 2
	l := &graph.Layer{Name: "conv", Op: graph.Conv, From: []string{"conv"}, Attrs: graph.ConvAttrs{
		Strides: []int{c.stride, c.stride}, Pads: []int{pad, pad, pad, pad}, Group: 1,
	}}
	l.AddInput(x)
	l.AddInput(w)
	l.AddInput(&graph.Tensor{Name: "b", Type: numeric.F32, Dims: symbolic.Shape(c.out), Weights: make([]byte, 4*c.out)})
	y := &graph.Tensor{Name: "y", Producer: l}
	l.Outputs = []*graph.Tensor{y}
	if err := l.Infer(); err != nil {
		t.Fatal(err)
	}
	if y.Type = typ; typ == numeric.I8 {
		y.Range = numeric.PerTensor(0.1, 0)
	}
	program := elementwise.Unary(elementwise.Relu)
	if c.out > c.in {
		other := &graph.Tensor{Name: "r", Type: typ, Dims: y.Dims, Range: y.Range}
		l.Fuse(elementwise.Binary(elementwise.Add).Then(program, 0), 0, other)
	} else {
		l.Fuse(program, 0)
	}
	return l
}

// suiteAssemblies returns, for each tactic that is not of tiles, layers of the suite such that each of the traits of those
// that it matches is in one of them; where TRTUI_SIM is "full", all that it matches.
func suiteAssemblies() []productRun {
	tiled := map[string]bool{}
	for _, e := range products.Tiled() {
		tiled[e.Name] = true
	}
	seen := map[string]bool{}
	var list []productRun
	for _, c := range suite.Layers() {
		for _, e := range Tactics() {
			if e.Op != c.Layer.Op || tiled[e.Name] || e.Emit == nil {
				continue
			}
			b, ok := emittest.BindingOf(c.Layer, e)
			if !ok || e.Matches(b) != nil {
				continue
			}
			fresh := false
			for _, trait := range codeTraits(b) {
				key := e.Name + " " + trait
				fresh = fresh || !seen[key]
				seen[key] = true
			}
			if fresh || os.Getenv("TRTUI_SIM") == "full" {
				list = append(list, productRun{name: e.Name + "/" + c.Name, tactic: e, layer: c.Layer})
			}
		}
	}
	return list
}

// codeTraits describes what of a binding makes code differ: the op, types, epilogue, and windows or the extents' kinds.
func codeTraits(b kernels.Binding) []string {
	l := b.Layer
	var list []string
	add := func(name string, value ...any) { list = append(list, l.Op.Name+" "+name+" "+fmt.Sprint(value...)) }
	for i, x := range l.Inputs {
		if x != nil {
			add("in", i, x.Type, b.Consts[i] != nil, x.Range.IsSet() && x.Range.ZeroAt(0) != 0)
		}
	}
	add("out", l.Outputs[0].Type)
	add("epilogue", l.Epilogue)
	if a, ok := l.Attrs.(graph.ConvAttrs); ok {
		weights := 1
		if l.Op == graph.QLinearConv {
			weights = 3
		}
		add("taps", b.In[weights].Dims[2:])
		add("window", a.Strides, a.Dilations, slices.Max(append(a.Pads, 0)) > 0)
		add("groups", extent(a.Group))
		return list
	}
	for _, d := range []kernels.Desc{b.In[0], b.Out[0]} {
		add("extents", len(d.Dims), extent(numeric.Count(d.Dims)))
	}
	return list
}
