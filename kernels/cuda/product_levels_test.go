package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
)

// The factors that the kernels of tiles differ in, and the layers that they are run on.
const (
	familyFactor = iota // op and layout
	shapeFactor         // unit and tile
	stagesFactor
	splitFactor
	typeFactor
	windowFactor // taps, strides, dilations, pads, groups; or how the weights lie
	epilogueFactor
	pixelsFactor   // output pixels against the tile's
	channelsFactor // output channels against the tile's
	depthFactor    // the sum against vectors and steps
)

var factorNames = []string{"family", "tile", "stages", "split", "type", "window", "epilogue", "pixels", "channels", "depth"}

// The levels of the factors.
var (
	coverFamilies = []struct {
		name, prefix string
		op           *graph.Op
		format       kernels.Format
	}{
		{"conv", "conv_", graph.Conv, kernels.NHWC},
		{"gemm_linear", "gemm_linear_", graph.Gemm, kernels.Linear},
		{"gemm_nhwc", "gemm_nhwc_", graph.Gemm, kernels.NHWC},
		{"matmul_linear", "gemm_linear_", graph.MatMul, kernels.Linear},
		{"matmul_nhwc", "gemm_nhwc_", graph.MatMul, kernels.NHWC},
		{"conv_transposed", "conv_transposed_", graph.ConvTranspose, kernels.NHWC},
	}
	coverShapes = slices.Concat(shapesOf(emit.SimtF32), shapesOf(emit.TensorF16), shapesOf(emit.TensorI8))
	coverStages = []int{3, 4}
	coverSplits = []int{1, 2, 4, 8, 16}
	coverTypes  = []struct {
		name        string
		in, w, out  numeric.DataType
		zx, zw, zy  int32
		perChannelW bool
		zeros       bool // of the weights, for every channel another
	}{
		{name: "f32", in: numeric.F32, w: numeric.F32, out: numeric.F32},
		{name: "f16", in: numeric.F16, w: numeric.F16, out: numeric.F16},
		{name: "s8_s8", in: numeric.I8, w: numeric.I8, out: numeric.I8, perChannelW: true},
		{name: "s8_f32", in: numeric.I8, w: numeric.I8, out: numeric.F32, perChannelW: true},
		{name: "u8_zeros_u8", in: numeric.U8, w: numeric.I8, out: numeric.U8, zx: 119, zy: 7, perChannelW: true},
		{name: "s8_zeros_s8", in: numeric.I8, w: numeric.I8, out: numeric.I8, zx: -128, zy: -5},
		{name: "u8_weights_u8", in: numeric.U8, w: numeric.U8, out: numeric.U8, zx: 128, zw: 131, zy: 3},
		{name: "s8_weights_u8", in: numeric.I8, w: numeric.U8, out: numeric.I8, zx: 5, zw: 120, zy: 3},
		{name: "u8_zeros_by_channel_u8", in: numeric.U8, w: numeric.U8, out: numeric.U8, zx: 117, zy: 9, perChannelW: true, zeros: true},
		{name: "s8_zeros_by_channel_s8", in: numeric.I8, w: numeric.I8, out: numeric.I8, zx: 3, zy: -4, perChannelW: true, zeros: true},
	}
	coverWindows = []struct {
		name string
		conv graph.ConvAttrs // with taps of kernel
		taps []int           // nil: a matrix product
		row  bool            // whose weights lie in rows of the sum

		turned *graph.ConvTransposeAttrs // of a transposed convolution
		most   int                       // taps of one of its phases
	}{
		{name: "1x1", conv: graph.ConvAttrs{}, taps: []int{1, 1}},
		{name: "1x1_strided", conv: graph.ConvAttrs{Strides: []int{2, 2}}, taps: []int{1, 1}},
		{name: "3x3_same", conv: graph.ConvAttrs{Pads: []int{1, 1, 1, 1}}, taps: []int{3, 3}},
		{name: "3x3_strided_uneven", conv: graph.ConvAttrs{Strides: []int{2, 2}, Pads: []int{0, 1, 1, 1}}, taps: []int{3, 3}},
		{name: "3x3_dilated", conv: graph.ConvAttrs{Dilations: []int{2, 2}, Pads: []int{2, 2, 2, 2}}, taps: []int{3, 3}},
		{name: "2x4_by_axis", conv: graph.ConvAttrs{Strides: []int{1, 3}, Dilations: []int{3, 1}, Pads: []int{0, 2, 3, 1}}, taps: []int{2, 4}},
		{name: "line", conv: graph.ConvAttrs{Pads: []int{1, 1}}, taps: []int{3}},
		{name: "grouped", conv: graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 2}, taps: []int{3, 3}},
		{name: "columns"},
		{name: "rows", row: true},
		{name: "turned_3x3", turned: &graph.ConvTransposeAttrs{Pads: []int{1, 1, 1, 1}}, taps: []int{3, 3}, most: 9},
		{name: "turned_2x2_by_2", turned: &graph.ConvTransposeAttrs{Strides: []int{2, 2}}, taps: []int{2, 2}, most: 1},
		{name: "turned_4x4_by_2", turned: &graph.ConvTransposeAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}}, taps: []int{4, 4}, most: 4},
		{name: "turned_3x3_by_2", turned: &graph.ConvTransposeAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, OutputPadding: []int{1, 1}}, taps: []int{3, 3}, most: 4},
		{name: "turned_by_axis", turned: &graph.ConvTransposeAttrs{Strides: []int{3, 2}, Pads: []int{0, 2, 1, 1}, Dilations: []int{2, 1}}, taps: []int{2, 5}, most: 3},
		{name: "turned_apart", turned: &graph.ConvTransposeAttrs{Strides: []int{4, 2}, Dilations: []int{1, 2}, Pads: []int{0, 1, 0, 2}}, taps: []int{2, 3}, most: 3},
		{name: "turned_line", turned: &graph.ConvTransposeAttrs{Strides: []int{2}, Pads: []int{2, 1}, OutputPadding: []int{1}}, taps: []int{5}, most: 3},
	}
	coverEpilogues = []struct {
		name     string
		residual bool // another activation of the output's shape
		channel  bool // a constant by channel
		program  elementwise.Program
	}{
		{name: "plain"},
		{name: "relu", program: elementwise.Unary(elementwise.Relu)},
		{name: "clamp", program: elementwise.Unary(elementwise.Clamp, 0, 6)},
		{name: "add", residual: true, program: elementwise.Binary(elementwise.Add)},
		{name: "add_relu", residual: true, program: elementwise.Binary(elementwise.Add).Then(elementwise.Unary(elementwise.Relu), 0)},
		{name: "silu", program: elementwise.Unary(elementwise.Silu)},
		{name: "gelu_add", residual: true, program: elementwise.Unary(elementwise.Gelu).Then(elementwise.Binary(elementwise.Add), 0)},
		{name: "prelu", channel: true, program: elementwise.Binary(elementwise.PRelu)},
	}
	coverPixels   = []string{"one", "under", "exact", "over"}
	coverChannels = []string{"one", "under", "exact", "over"}
	coverDepths   = []string{"odd", "exact", "long"}
)

// shapesOf returns the tiles of a unit, of whatever stages and split.
func shapesOf(u emit.Unit) []products.Tile {
	var list []products.Tile
	for _, t := range products.Tiles(u) {
		if t.Stages, t.Split = 0, 0; !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// productFactors are the factors with what their levels exclude.
func productFactors() factors {
	return factors{
		levels: []int{len(coverFamilies), len(coverShapes), len(coverStages), len(coverSplits), len(coverTypes), len(coverWindows),
			len(coverEpilogues), len(coverPixels), len(coverChannels), len(coverDepths)},
		excludes: func(a, b choice) bool { return excluded(a, b) != "" },
	}
}

// excluded says why two choices never occur together; "" where they may.
func excluded(a, b choice) string {
	switch [2]int{a.factor, b.factor} {
	case [2]int{shapeFactor, typeFactor}:
		if want := coverShapes[a.level].Unit.Type(); want != coverTypes[b.level].in && (want != numeric.I8 || coverTypes[b.level].in.Size() != 1) {
			return "the tile multiplies other elements"
		}
	case [2]int{shapeFactor, splitFactor}:
		if !slices.Contains(coverShapes[a.level].Splits(), coverSplits[b.level]) {
			return "a large tile has few parts"
		}
	case [2]int{familyFactor, windowFactor}:
		f, w := coverFamilies[a.level], coverWindows[b.level]
		if (f.op == graph.Conv || f.op == graph.ConvTranspose) != (w.taps != nil) || (f.op == graph.ConvTranspose) != (w.turned != nil) ||
			f.op == graph.MatMul && w.row {
			return "the op has no such attributes"
		}
	case [2]int{familyFactor, depthFactor}:
		if coverFamilies[a.level].format == kernels.Linear && coverDepths[b.level] == "odd" {
			return "rows of an odd length do not begin at multiples of 16 bytes"
		}
	case [2]int{windowFactor, depthFactor}:
		if coverWindows[a.level].conv.Group > 1 && coverDepths[b.level] == "odd" {
			return "groups of an odd width do not fill vectors"
		}
	case [2]int{windowFactor, channelsFactor}:
		if c := coverChannels[b.level]; coverWindows[a.level].conv.Group > 1 && (c == "one" || c == "under") {
			return "groups of an odd width do not fill vectors"
		}
	}
	return ""
}

// wantedProducts are every family with every tile and type, and every tactic.
func wantedProducts(f factors) [][]choice {
	var list [][]choice
	add := func(c ...choice) {
		for i, x := range c {
			if !f.allows(c[:i], x) {
				return
			}
		}
		list = append(list, c)
	}
	for family := range coverFamilies {
		for shape := range coverShapes {
			for typ := range coverTypes {
				add(choice{familyFactor, family}, choice{shapeFactor, shape}, choice{typeFactor, typ})
			}
			for stages := range coverStages {
				for split := range coverSplits {
					if coverFamilies[family].op != graph.MatMul { // which has Gemm's tactics
						add(choice{familyFactor, family}, choice{shapeFactor, shape}, choice{stagesFactor, stages}, choice{splitFactor, split})
					}
				}
			}
		}
	}
	return list
}

// productRun is a tile's kernel on a layer.
type productRun struct {
	name   string
	tactic emit.Tactic
	layer  *graph.Layer
	tol    suite.Tolerance
}

// makeRun builds the layer that a run's levels describe.
func makeRun(levels []int) (productRun, error) {
	family, typ, window := coverFamilies[levels[familyFactor]], coverTypes[levels[typeFactor]], coverWindows[levels[windowFactor]]
	t := coverShapes[levels[shapeFactor]]
	t.Stages, t.Split = coverStages[levels[stagesFactor]], coverSplits[levels[splitFactor]]
	if !slices.Contains(t.Splits(), t.Split) {
		return productRun{}, fmt.Errorf("%v is not cut into %d parts", t, t.Split)
	}
	var parts []string
	for i, names := range [][]string{pixelsFactor: coverPixels, channelsFactor: coverChannels, depthFactor: coverDepths} {
		if names != nil {
			parts = append(parts, names[levels[i]])
		}
	}
	r := productRun{
		name:   strings.Join(append([]string{family.name, t.String(), typ.name, window.name, coverEpilogues[levels[epilogueFactor]].name}, parts...), "/"),
		tactic: products.OnTile(family.prefix, family.op, family.format, t),
		tol:    suite.Tolerance{Real: 1e-4},
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	group := max(1, window.conv.Group)
	taps := 1
	for _, n := range window.taps {
		taps *= n
	}
	if window.turned != nil {
		taps = window.most
	}
	c := group * depthOf(t, coverDepths[levels[depthFactor]], taps, typ.in.Size())
	k := group * channelsOf(t, coverChannels[levels[channelsFactor]])
	n, rows, columns := pixelsOf(t, coverPixels[levels[pixelsFactor]])

	x, w, attrs := []int{n * rows * columns, c}, []int{c, k}, any(nil)
	switch {
	case window.turned != nil:
		x, w, attrs = windowedBack(*window.turned, window.taps, n, rows, columns, c, k)
	case window.taps != nil:
		x, w, attrs = windowed(window.conv, window.taps, n, rows, columns, c, k)
	case family.op == graph.Gemm:
		if attrs = (graph.GemmAttrs{Alpha: 0.5, Beta: 2, TransB: window.row}); window.row {
			w = []int{k, c}
		}
	case family.format == kernels.Linear:
		x = []int{n, rows * columns, c}
	}
	l := &graph.Layer{Name: family.op.Name, Op: family.op, From: []string{family.op.Name}, Attrs: attrs}
	in := &graph.Tensor{Name: "x", Type: typ.in, Dims: symbolic.Shape(x...)}
	weights := &graph.Tensor{Name: "w", Type: typ.w, Dims: symbolic.Shape(w...)}
	if typ.in.IsInteger() {
		in.Range, weights.Range = numeric.PerTensor(0.03, typ.zx), numeric.PerTensor(0.01, typ.zw)
		if typ.perChannelW {
			weights.Range = numeric.Range{Scale: make([]float32, k)}
			for i := range k {
				weights.Range.Scale[i] = 0.002 * float32(1+i%5)
				if typ.zeros {
					weights.Range.Zero = append(weights.Range.Zero, int32(i*37%128))
				}
			}
			if window.taps == nil && !window.row || window.turned != nil {
				weights.Range.Axis = 1
			}
		}
	}
	weights.Weights = randomWeights(rnd, typ.w, numeric.Count(w), taps*c/group)
	l.AddInput(in)
	l.AddInput(weights)
	bias := numeric.F32
	if family.op == graph.Gemm && typ.w.IsFloat() {
		bias = typ.w
	}
	if family.op != graph.MatMul {
		l.AddInput(&graph.Tensor{Name: "b", Type: bias, Dims: symbolic.Shape(k), Weights: randomWeights(rnd, bias, k, 1)})
	}
	y := &graph.Tensor{Name: "y", Producer: l}
	l.Outputs = []*graph.Tensor{y}
	if err := l.Infer(); err != nil {
		return r, err
	}
	if y.Type = typ.out; typ.out.IsInteger() {
		y.Range = numeric.PerTensor(0.02*float32(math.Sqrt(float64(taps*c/group))), typ.zy)
	}
	r.layer = l
	r.fuse(rnd, levels[epilogueFactor], typ.in, numeric.PerTensor(0.05, typ.zx), k)
	return r, nil
}

// fuse puts an epilogue on the layer; a residual is of the type, and of the range if that is quantised.
func (r *productRun) fuse(rnd *rand.Rand, level int, t numeric.DataType, rng numeric.Range, k int) {
	e, y := coverEpilogues[level], r.layer.Outputs[0]
	if e.name == "silu" || e.name == "gelu_add" || y.Type.IsInteger() && e.name == "prelu" {
		r.tol.Step = 1 // near a boundary the last bit decides
	}
	switch {
	case e.residual:
		other := &graph.Tensor{Name: "r", Type: t, Dims: y.Dims}
		if t.IsInteger() {
			other.Range = rng
		}
		r.layer.Fuse(e.program, 0, other)
	case e.channel:
		dims := []int{k}
		if r.layer.Op != graph.Gemm && r.layer.Op != graph.MatMul {
			dims = slices.Concat(dims, slices.Repeat([]int{1}, len(y.Dims)-2))
		}
		r.layer.Fuse(e.program, 0, &graph.Tensor{Name: "s", Type: numeric.F32, Dims: symbolic.Shape(dims...), Weights: randomWeights(rnd, numeric.F32, k, 1)})
	case len(e.program.Code) > 0:
		r.layer.Fuse(e.program, 0)
	}
}

// randomWeights returns n elements: bytes, or reals such that sums of fan of them stay near 1.
func randomWeights(rnd *rand.Rand, t numeric.DataType, n, fan int) []byte {
	v := numeric.NewValue(t, n)
	for i := range n {
		f := float32(rnd.NormFloat64() / math.Sqrt(float64(fan)))
		switch t {
		case numeric.F32:
			v.F32()[i] = f
		case numeric.F16:
			numeric.View[uint16](v.Data)[i] = numeric.F32ToF16(f)
		default:
			v.Data[i] = byte(rnd.Uint32())
		}
	}
	return v.Data
}
