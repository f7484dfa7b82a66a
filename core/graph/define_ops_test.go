package graph

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// defineCase is a call of the method of a Definition that adds a layer of an op.
type defineCase struct {
	method string
	call   func(d *Definition, g given) *Tensor
}

// given are inputs of many types and shapes.
type given struct {
	x, matrix, flags, bytes, ints, unsigned, scalar *Tensor
	d                                               *Definition
}

func newGiven(d *Definition) given {
	image := []symbolic.Dim{symbolic.Const(2), symbolic.Const(4), symbolic.Const(6), symbolic.Const(6)}
	return given{
		d: d, x: d.Input("x", numeric.F32, image...), matrix: d.Input("matrix", numeric.F32, symbolic.Const(4), symbolic.Const(6)),
		flags: d.Input("flags", numeric.Bool, symbolic.Const(4), symbolic.Const(6)), bytes: d.Input("bytes", numeric.U8, image...),
		ints: d.Input("ints", numeric.I64, symbolic.Const(4), symbolic.Const(6)), unsigned: d.Input("unsigned", numeric.U32, symbolic.Const(4), symbolic.Const(6)),
		scalar: d.Constant("one", numeric.Values(numeric.I64, []int64{1})),
	}
}

// w returns ones.
func (g given) w(dims ...int) *Tensor {
	return g.d.Weights(unique(g.d.net.tensors, "w"), slices.Repeat([]float32{1}, numeric.Count(dims)), dims...)
}

// b returns small bytes.
func (g given) b(dims ...int) *Tensor {
	return g.d.Constant(unique(g.d.net.tensors, "b"), numeric.Values(numeric.U8, slices.Repeat([]uint8{3}, numeric.Count(dims)), dims...))
}

// i returns integers.
func (g given) i(list []int64, dims ...int) *Tensor {
	return g.d.Constant(unique(g.d.net.tensors, "i"), numeric.Values(numeric.I64, list, dims...))
}

// s returns strings.
func (g given) s(list ...string) *Tensor {
	return g.d.Constant(unique(g.d.net.tensors, "s"), numeric.Strings(list, len(list)))
}

func (g given) q(data *Tensor) Quantised { return Quantised{data, g.w(), g.b()} }

// defineCases has a call for every op: see TestDefinitionHasEveryOp.
var defineCases = func() map[string]defineCase {
	m := map[string]defineCase{
		"And": {"And", func(d *Definition, g given) *Tensor { return d.And(g.flags, g.flags) }}, "Or": {"Or", func(d *Definition, g given) *Tensor { return d.Or(g.flags, g.flags) }},
		"Xor": {"Xor", func(d *Definition, g given) *Tensor { return d.Xor(g.flags, g.flags) }}, "Not": {"Not", func(d *Definition, g given) *Tensor { return d.Not(g.flags) }},
		"Where": {"Where", func(d *Definition, g given) *Tensor { return d.Where(g.flags, g.matrix, g.matrix) }},
		"Pointwise": {"Program", func(d *Definition, g given) *Tensor {
			return d.Program(elementwise.Unary(elementwise.Exp).Then(elementwise.Unary(elementwise.Neg), 0), g.x)
		}},
		"BitShift":   {"BitShift", func(d *Definition, g given) *Tensor { return d.BitShift(g.unsigned, g.unsigned, true) }},
		"BitwiseAnd": {"BitwiseAnd", func(d *Definition, g given) *Tensor { return d.BitwiseAnd(g.ints, g.ints) }},
		"BitwiseOr":  {"BitwiseOr", func(d *Definition, g given) *Tensor { return d.BitwiseOr(g.ints, g.ints) }},
		"BitwiseXor": {"BitwiseXor", func(d *Definition, g given) *Tensor { return d.BitwiseXor(g.ints, g.ints) }},
		"BitwiseNot": {"BitwiseNot", func(d *Definition, g given) *Tensor { return d.BitwiseNot(g.ints) }},

		"Det":        {"Det", func(d *Definition, g given) *Tensor { return d.Det(g.w(2, 3, 3)) }},
		"GridSample": {"GridSample", func(d *Definition, g given) *Tensor { return d.GridSample(g.x, g.w(2, 3, 3, 2), GridSampleAttrs{}) }},
		"RoiAlign": {"RoiAlign", func(d *Definition, g given) *Tensor {
			return d.RoiAlign(g.x, g.w(3, 4), g.i([]int64{0, 1, 1}, 3), RoiAlignAttrs{Height: 2, Width: 2})
		}},
		"NonZero": {"NonZero", func(d *Definition, g given) *Tensor { return d.NonZero(g.i([]int64{0, 3, 0, 4}, 2, 2)) }},
		"Unique": {"Unique", func(d *Definition, g given) *Tensor {
			y, _, _, _ := d.Unique(g.i([]int64{3, 1, 3}, 3), UniqueAttrs{Flat: true, Sorted: true})
			return y
		}},
		"NonMaxSuppression": {"NonMaxSuppression", func(d *Definition, g given) *Tensor {
			return d.NonMaxSuppression(g.w(1, 3, 4), g.w(1, 2, 3), g.scalar, nil, nil, NonMaxSuppressionAttrs{})
		}},
		"MaxRoiPool": {"MaxRoiPool", func(d *Definition, g given) *Tensor {
			return d.MaxRoiPool(g.x, g.w(3, 5), MaxRoiPoolAttrs{Height: 2, Width: 2})
		}},
		"MaxUnpool": {"MaxUnpool", func(d *Definition, g given) *Tensor {
			return d.MaxUnpool(g.x, g.i(make([]int64, 2*4*6*6), 2, 4, 6, 6), nil, UnpoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}})
		}},
		"Col2Im": {"Col2Im", func(d *Definition, g given) *Tensor {
			return d.Col2Im(g.w(1, 4, 9), []int{4, 4}, Col2ImAttrs{Block: []int{2, 2}})
		}},
		"DeformColumns": {"DeformColumns", func(d *Definition, g given) *Tensor {
			return d.DeformColumns(g.x, g.w(2, 8, 5, 5), nil, DeformAttrs{Kernel: []int{2, 2}})
		}},

		"Conv":          {"Conv", func(d *Definition, g given) *Tensor { return d.Conv(g.x, g.w(3, 4, 3, 3), nil, ConvAttrs{}) }},
		"ConvTranspose": {"Deconv", func(d *Definition, g given) *Tensor { return d.Deconv(g.x, g.w(4, 3, 2, 2), nil, ConvTransposeAttrs{}) }},
		"ConvInteger": {"ConvInteger", func(d *Definition, g given) *Tensor {
			return d.ConvInteger(g.bytes, g.b(3, 4, 3, 3), nil, nil, ConvAttrs{})
		}},
		"QLinearConv": {"QLinearConv", func(d *Definition, g given) *Tensor {
			return d.QLinearConv(g.q(g.bytes), g.q(g.b(3, 4, 3, 3)), g.q(nil), nil, ConvAttrs{})
		}},
		"QLinearMatMul": {"QLinearMatMul", func(d *Definition, g given) *Tensor { return d.QLinearMatMul(g.q(g.bytes), g.q(g.b(6, 5)), g.q(nil)) }},
		"MatMulInteger": {"MatMulInteger", func(d *Definition, g given) *Tensor { return d.MatMulInteger(g.bytes, g.b(6, 5), nil, nil) }},
		"Gemm":          {"FullyConnected", func(d *Definition, g given) *Tensor { return d.FullyConnected(g.matrix, g.w(5, 6), g.w(5)) }},
		"GatedMatMul": {"GatedMatMul", func(d *Definition, g given) *Tensor {
			return d.GatedMatMul(g.matrix, g.w(6, 5), g.w(6, 5), nil, g.w(5), elementwise.Silu)
		}},
		"MatMulNBits": {"MatMulNBits", func(d *Definition, g given) *Tensor {
			w := d.Constant("few", numeric.Value{Type: numeric.U8, Dims: []int{5, 1, 8}, Data: make([]byte, 40)})
			return d.MatMulNBits(g.matrix, w, g.w(5, 1), nil, g.w(5), NBitsAttrs{K: 6, Bits: 4, Block: 16})
		}},
		"DynamicQuantizeMatMul": {"DynamicQuantizeMatMul", func(d *Definition, g given) *Tensor {
			w := d.Constant("bytes", numeric.Value{Type: numeric.I8, Dims: []int{6, 5}, Data: make([]byte, 30)})
			return d.DynamicQuantizeMatMul(g.matrix, w, g.w(5), nil, DynamicAttrs{})
		}},
		"RoundRows":   {"RoundRows", func(d *Definition, g given) *Tensor { return d.RoundRows(g.matrix, RoundRowsAttrs{RowsWithZero}) }},
		"MatMul":      {"MatMul", func(d *Definition, g given) *Tensor { return d.MatMul(g.matrix, g.w(6, 5)) }},
		"MaxPool":     {"MaxPool", func(d *Definition, g given) *Tensor { return d.MaxPool(g.x, PoolAttrs{Kernel: []int{2, 2}}) }},
		"AveragePool": {"AveragePool", func(d *Definition, g given) *Tensor { return d.AveragePool(g.x, PoolAttrs{Global: true}) }},

		"BatchNormalization":    {"BatchNorm", func(d *Definition, g given) *Tensor { return d.BatchNorm(g.x, g.w(4), g.w(4), g.w(4), g.w(4), 1e-5) }},
		"InstanceNormalization": {"InstanceNorm", func(d *Definition, g given) *Tensor { return d.InstanceNorm(g.x, g.w(4), g.w(4), 1e-5) }},
		"GroupNormalization":    {"GroupNorm", func(d *Definition, g given) *Tensor { return d.GroupNorm(g.x, g.w(4), g.w(4), 2, 1e-5) }},
		"Attention": {"Attention", func(d *Definition, g given) *Tensor {
			return d.Attention(g.x, g.w(2, 4, 5, 6), g.w(2, 5, 8), g.w(6, 5), AttentionAttrs{KVHeads: 4})
		}},
		"LayerNormalization": {"LayerNorm", func(d *Definition, g given) *Tensor { return d.LayerNorm(g.matrix, g.w(6), nil, -1, 1e-5) }},
		"RMSNormalization":   {"RMSNorm", func(d *Definition, g given) *Tensor { return d.RMSNorm(g.matrix, g.w(6), -1, 1e-5) }},
		"LinearAttention": {"LinearAttention", func(d *Definition, g given) *Tensor {
			y, _ := d.LinearAttention(g.w(2, 3, 8), g.w(2, 3, 4), g.w(2, 3, 6), nil, nil, nil, LinearAttentionAttrs{Heads: 4, KVHeads: 2})
			return y
		}},
		"RotaryEmbedding": {"Rotary", func(d *Definition, g given) *Tensor {
			return d.Rotary(g.x, g.w(2, 6, 3), g.w(2, 6, 3), nil, RotaryAttrs{})
		}},
		"TensorScatter": {"TensorScatter", func(d *Definition, g given) *Tensor {
			return d.TensorScatter(g.x, g.w(2, 4, 2, 6), g.i([]int64{0, 3}, 2), TensorScatterAttrs{Axis: 2})
		}},
		"LRN":                       {"LRN", func(d *Definition, g given) *Tensor { return d.LRN(g.x, LRNAttrs{3, 1e-4, 0.75, 1}) }},
		"LpNormalization":           {"LpNorm", func(d *Definition, g given) *Tensor { return d.LpNorm(g.x, -1, 2) }},
		"MeanVarianceNormalization": {"MeanVarianceNorm", func(d *Definition, g given) *Tensor { return d.MeanVarianceNorm(g.x, 2, 3) }},
		"Softmax":                   {"Softmax", func(d *Definition, g given) *Tensor { return d.Softmax(g.x, 1) }},
		"Hardmax":                   {"Hardmax", func(d *Definition, g given) *Tensor { return d.Hardmax(g.x, 1) }},
		"ArgMax":                    {"ArgMax", func(d *Definition, g given) *Tensor { return d.ArgMax(g.x, ArgAttrs{Axis: 1}) }},
		"ArgMin":                    {"ArgMin", func(d *Definition, g given) *Tensor { return d.ArgMin(g.x, ArgAttrs{Axis: 1}) }},
		"CumSum":                    {"CumSum", func(d *Definition, g given) *Tensor { return d.CumSum(g.x, CumAttrs{Axis: 1}) }},
		"CumProd":                   {"CumProd", func(d *Definition, g given) *Tensor { return d.CumProd(g.x, CumAttrs{Axis: 1}) }},

		"Identity": {"Identity", func(d *Definition, g given) *Tensor { return d.Identity(g.x) }},
		"Reformat": {"Reformat", func(d *Definition, g given) *Tensor { return d.Reformat(g.x) }},
		"BitCast":  {"BitCast", func(d *Definition, g given) *Tensor { return d.BitCast(g.x, numeric.I32) }},
		"Cast":     {"Cast", func(d *Definition, g given) *Tensor { return d.Cast(g.x, numeric.I32) }},
		"Concat":   {"Concat", func(d *Definition, g given) *Tensor { return d.Concat(1, g.x, g.x) }},
		"Split":    {"Split", func(d *Definition, g given) *Tensor { return d.Split(g.x, 1, 1, 3)[1] }},
		"Slice": {"Slice", func(d *Definition, g given) *Tensor {
			return d.Slice(g.x, SliceAttrs{Starts: []int{1}, Ends: []int{3}})
		}},
		"Pad":          {"Pad", func(d *Definition, g given) *Tensor { return d.Pad(g.x, 0, 0, 0, 1, 1, 0, 0, 1, 1) }},
		"Reshape":      {"Reshape", func(d *Definition, g given) *Tensor { return d.Reshape(g.x, 0, -1) }},
		"Flatten":      {"Flatten", func(d *Definition, g given) *Tensor { return d.Flatten(g.x, 1) }},
		"Squeeze":      {"Squeeze", func(d *Definition, g given) *Tensor { return d.Squeeze(g.d.Unsqueeze(g.x, 0)) }},
		"Unsqueeze":    {"Unsqueeze", func(d *Definition, g given) *Tensor { return d.Unsqueeze(g.x, 0) }},
		"Transpose":    {"Transpose", func(d *Definition, g given) *Tensor { return d.Transpose(g.x, 0, 2, 3, 1) }},
		"Expand":       {"Expand", func(d *Definition, g given) *Tensor { return d.Expand(g.matrix, 3, 4, 6) }},
		"Tile":         {"Tile", func(d *Definition, g given) *Tensor { return d.Tile(g.matrix, 2, 1) }},
		"DepthToSpace": {"DepthToSpace", func(d *Definition, g given) *Tensor { return d.DepthToSpace(g.x, BlockAttrs{Size: 2}) }},
		"SpaceToDepth": {"SpaceToDepth", func(d *Definition, g given) *Tensor { return d.SpaceToDepth(g.x, BlockAttrs{Size: 2}) }},
		"Trilu":        {"Trilu", func(d *Definition, g given) *Tensor { return d.Trilu(g.matrix, TriluAttrs{Upper: true}) }},
		"Resize":       {"Resize", func(d *Definition, g given) *Tensor { return d.Resize(g.x, ResizeAttrs{Scales: []float32{1, 1, 2, 2}}) }},

		"Gather":         {"Gather", func(d *Definition, g given) *Tensor { return d.Gather(g.x, g.i([]int64{3, 0}, 2), 1) }},
		"GatherElements": {"GatherElements", func(d *Definition, g given) *Tensor { return d.GatherElements(g.matrix, g.i([]int64{3, 0}, 1, 2), 0) }},
		"GatherND":       {"GatherND", func(d *Definition, g given) *Tensor { return d.GatherND(g.matrix, g.i([]int64{3, 0}, 1, 2), 0) }},
		"ScatterElements": {"ScatterElements", func(d *Definition, g given) *Tensor {
			return d.ScatterElements(g.matrix, g.i([]int64{3, 0}, 1, 2), g.w(1, 2), ScatterAttrs{})
		}},
		"ScatterND": {"ScatterND", func(d *Definition, g given) *Tensor {
			return d.ScatterND(g.matrix, g.i([]int64{3, 0}, 1, 2), g.w(1), ScatterAttrs{Reduction: "add"})
		}},
		"OneHot": {"OneHot", func(d *Definition, g given) *Tensor { return d.OneHot(g.ints, g.w(2), OneHotAttrs{Axis: -1, Depth: 3}) }},
		"TopK": {"TopK", func(d *Definition, g given) *Tensor {
			values, _ := d.TopK(g.x, TopKAttrs{K: 2, Axis: -1})
			return values
		}},
		"Shape": {"ShapeOf", func(d *Definition, g given) *Tensor { return d.ShapeOf(g.x) }},
		"Size":  {"SizeOf", func(d *Definition, g given) *Tensor { return d.SizeOf(g.x) }},
		"ConstantOfShape": {"ConstantOfShape", func(d *Definition, g given) *Tensor {
			return d.ConstantOfShape(g.i([]int64{2, 3}, 2), numeric.Values(numeric.F32, []float32{7}))
		}},
		"Range": {"Sequence", func(d *Definition, g given) *Tensor {
			return d.Sequence(g.i([]int64{2}), g.i([]int64{9}), g.i([]int64{3}))
		}},
		"If": {"If", func(d *Definition, g given) *Tensor {
			return d.If(d.Constant("c", numeric.Values(numeric.Bool, []uint8{1})), func(b *Definition) []*Tensor { return []*Tensor{b.Neg(g.x)} },
				func(b *Definition) []*Tensor { return []*Tensor{g.x} })[0]
		}},
		"Loop": {"Loop", func(d *Definition, g given) *Tensor {
			return d.Loop(g.scalar, nil, []*Tensor{g.x}, func(b *Definition, _, _ *Tensor, c []*Tensor) (*Tensor, []*Tensor) {
				return nil, []*Tensor{b.Neg(c[0])}
			})[0]
		}},
		"Scan": {"Scan", func(d *Definition, g given) *Tensor {
			return d.Scan(nil, []*Tensor{g.x}, ScanAttrs{}, func(b *Definition, _, x []*Tensor) []*Tensor { return []*Tensor{b.Neg(x[0])} })[0]
		}},
		"Places": {"Places", func(d *Definition, g given) *Tensor { return d.Places(g.scalar, PlacesAttrs{Most: 5, Count: "n"}) }},
		"RandomUniform": {"RandomUniform", func(d *Definition, g given) *Tensor {
			return d.RandomUniform(g.i([]int64{2, 3}, 2), RandomAttrs{Type: numeric.F32, B: 1})
		}},
		"RandomNormal": {"RandomNormal", func(d *Definition, g given) *Tensor {
			return d.RandomNormal(g.i([]int64{2, 3}, 2), RandomAttrs{Type: numeric.F32, B: 1})
		}},
		"EyeLike": {"EyeLike", func(d *Definition, g given) *Tensor { return d.EyeLike(g.matrix, EyeAttrs{K: 1}) }},

		"LSTM": {"LSTM", func(d *Definition, g given) *Tensor {
			y, _, _ := d.LSTM(g.w(2, 3, 4), Recurrent{W: g.w(1, 20, 4), R: g.w(1, 20, 5)}, RecurrentAttrs{Hidden: 5})
			return y
		}},
		"GRU": {"GRU", func(d *Definition, g given) *Tensor {
			_, state := d.GRU(g.w(2, 3, 4), Recurrent{W: g.w(2, 15, 4), R: g.w(2, 15, 5), Bias: g.w(2, 30)}, RecurrentAttrs{Hidden: 5, Direction: Bidirectional})
			return state
		}},
		"RNN": {"RNN", func(d *Definition, g given) *Tensor {
			y, _ := d.RNN(g.w(2, 3, 4), Recurrent{W: g.w(1, 5, 4), R: g.w(1, 5, 5), State: g.w(1, 3, 5)}, RecurrentAttrs{Hidden: 5})
			return y
		}},
		"StringConcat": {"StringConcat", func(d *Definition, g given) *Tensor { return d.StringConcat(g.s("a", "b"), g.s("c", "")) }},
		"StringSplit": {"StringSplit", func(d *Definition, g given) *Tensor {
			parts, _ := d.StringSplit(g.s("a b", "c"), StringSplitAttrs{Splits: -1, Most: 4})
			return parts
		}},
		"StringCase":     {"StringCase", func(d *Definition, g given) *Tensor { return d.StringCase(g.s("a"), StringCaseAttrs{To: CaseUpper}) }},
		"StringIndex":    {"StringIndex", func(d *Definition, g given) *Tensor { return d.StringIndex(g.s("a"), Words{"a", "b"}) }},
		"RegexFullMatch": {"RegexFullMatch", func(d *Definition, g given) *Tensor { return d.RegexFullMatch(g.s("a"), "a*") }},
		"TfIdfVectorizer": {"TfIdf", func(d *Definition, g given) *Tensor {
			return d.TfIdf(g.i([]int64{3, 1, 3}, 3), TfIdfAttrs{Shortest: 1, Longest: 2, Skips: 1, Mode: "TF", Pool: []int{3, 3, 1}, Starts: []int{0, 1}, Places: []int{1, 0}})
		}},
		"ImageDecoder": {"ImageDecoder", func(d *Definition, g given) *Tensor {
			return d.ImageDecoder(g.b(9), ImageDecoderAttrs{Pixels: PixelsBGR, Most: 4})
		}},
		"ReverseSequence": {"ReverseSequence", func(d *Definition, g given) *Tensor {
			return d.ReverseSequence(g.x, g.i([]int64{3, 1}, 2), ReverseSequenceAttrs{Batch: 0, Time: 1})
		}},
		"DFT":  {"DFT", func(d *Definition, g given) *Tensor { return d.DFT(g.w(2, 6, 1), DFTAttrs{Axis: 1, OneSided: true}) }},
		"STFT": {"STFT", func(d *Definition, g given) *Tensor { return d.STFT(g.w(2, 20, 1), g.w(6), STFTAttrs{Step: 3}) }},
		"HannWindow": {"HannWindow", func(d *Definition, g given) *Tensor {
			return d.HannWindow(g.i([]int64{9}), WindowAttrs{Periodic: true})
		}},
		"HammingWindow": {"HammingWindow", func(d *Definition, g given) *Tensor { return d.HammingWindow(g.i([]int64{9}), WindowAttrs{}) }},
		"BlackmanWindow": {"BlackmanWindow", func(d *Definition, g given) *Tensor {
			return d.BlackmanWindow(g.i([]int64{9}), WindowAttrs{Type: numeric.F64})
		}},
		"MelWeightMatrix": {"MelWeightMatrix", func(d *Definition, g given) *Tensor {
			hertz := func(name string, x float32) *Tensor {
				return d.Constant(name, numeric.Values(numeric.F32, []float32{x}))
			}
			return d.MelWeightMatrix(g.i([]int64{4}), g.i([]int64{32}), g.i([]int64{8000}), hertz("low", 0), hertz("high", 4000), MelAttrs{})
		}},

		"QuantizeLinear": {"Quantize", func(d *Definition, g given) *Tensor { return d.Quantize(g.x, numeric.PerTensor(0.5, 3), numeric.U8) }},
		"DequantizeLinear": {"Dequantize", func(d *Definition, g given) *Tensor {
			return d.Dequantize(g.bytes, numeric.PerTensor(0.5, 3), numeric.F32)
		}},
		"DynamicQuantizeLinear": {"DynamicQuantize", func(d *Definition, g given) *Tensor {
			y, _, _ := d.DynamicQuantize(g.x)
			return y
		}},
	}
	for _, op := range reductions {
		m[op.Name] = defineCase{"Reduce", func(d *Definition, g given) *Tensor { return d.Reduce(op, g.x, true, 1, 2) }}
	}
	// Element-wise ops are methods of their own names: of one tensor or two of them, and then numbers.
	for _, op := range elementwiseOps() {
		if _, ok := m[op.Name]; ok {
			continue
		}
		m[op.Name] = defineCase{op.Name, func(d *Definition, g given) *Tensor {
			f := reflect.ValueOf(d).MethodByName(op.Name)
			var args []reflect.Value
			for i := range f.Type().NumIn() {
				switch in := f.Type().In(i); in.Kind() {
				case reflect.Pointer:
					args = append(args, reflect.ValueOf(g.x))
				case reflect.Slice:
					args = append(args, reflect.ValueOf([]*Tensor{g.x, g.x}))
				default:
					args = append(args, reflect.ValueOf(float32(0.5)))
				}
			}
			if f.Type().IsVariadic() {
				return f.CallSlice(args)[0].Interface().(*Tensor)
			}
			return f.Call(args)[0].Interface().(*Tensor)
		}}
	}
	return m
}()

// TestDefinitionHasEveryOp walks the table of ops and fails for one that no method of a Definition adds.
func TestDefinitionHasEveryOp(t *testing.T) {
	for _, op := range Ops().All() {
		c, ok := defineCases[op.Name]
		if !ok {
			t.Errorf("%s: write a method of Definition that adds it, and a case here that calls it", op.Name)
			continue
		}
		if !reflect.ValueOf(Define("")).MethodByName(c.method).IsValid() {
			t.Errorf("%s: there is no method %s", op.Name, c.method)
			continue
		}
		d := Define(op.Name)
		y := c.call(d.Named("it"), newGiven(d))
		d.Output("y", y)
		n, err := d.Network()
		if err != nil {
			t.Errorf("%s: %v", op.Name, err)
			continue
		}
		if l := n.Layer("it"); l == nil || l.Op.Name != op.Name {
			t.Errorf("%s: the layer is %v", op.Name, n.Layers)
		}
		if _, err := n.Eval(t.Context(), zeros(n), nil); err != nil {
			t.Errorf("%s: %v", op.Name, err)
		}
	}
}

func zeros(n *Network) map[string]numeric.Value {
	in := map[string]numeric.Value{}
	for _, t := range n.Inputs {
		in[t.Name] = numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
	}
	return in
}

// TestDefinitionNeverPanics calls every method with arguments that make no sense: nil, tensors of another network and of a
// layer that failed, numbers out of range, attributes of any kind.
func TestDefinitionNeverPanics(t *testing.T) {
	rnd, ops := rand.New(rand.NewPCG(1, 2)), Ops().All()
	other := Define("other")
	foreign := other.Input("x", numeric.F32, symbolic.Const(3))
	for i := range reflect.TypeFor[*Definition]().NumMethod() {
		m := reflect.TypeFor[*Definition]().Method(i)
		for range 60 {
			d := Define("bad")
			g := newGiven(d)
			tensors := []*Tensor{nil, foreign, d.Softmax(nil, 0), g.x, g.matrix, g.flags, g.bytes, g.ints, g.scalar, g.w(4), g.i([]int64{1, -5}, 2)}
			var args []reflect.Value
			for j := 1; j < m.Type.NumIn(); j++ {
				args = append(args, anything(rnd, ops, m.Type.In(j), tensors, 0))
			}
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("%s(%v) panics: %v", m.Name, args, v)
					}
				}()
				f := reflect.ValueOf(d).Method(i)
				if m.Type.IsVariadic() {
					f.CallSlice(args)
				} else {
					f.Call(args)
				}
				_, _ = d.Network()
			}()
			if t.Failed() {
				break
			}
		}
	}
}

// anything returns a value of a type.
func anything(rnd *rand.Rand, ops []*Op, t reflect.Type, tensors []*Tensor, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Pointer:
		switch {
		case t == reflect.TypeFor[*Tensor]():
			return reflect.ValueOf(tensors[rnd.IntN(len(tensors))])
		case t == reflect.TypeFor[*Op]() && rnd.IntN(8) > 0:
			return reflect.ValueOf(ops[rnd.IntN(len(ops))])
		}
	case reflect.Interface:
		a := ops[rnd.IntN(len(ops))].Attrs
		if a == nil {
			return v
		}
		p := reflect.New(reflect.TypeOf(a))
		p.Elem().Set(anything(rnd, ops, reflect.TypeOf(a), tensors, depth+1))
		if rnd.IntN(2) == 0 {
			return p
		}
		return p.Elem()
	case reflect.Slice:
		n := rnd.IntN(5)
		if t.Elem().Kind() == reflect.Uint8 {
			n *= 4
		}
		v.Set(reflect.MakeSlice(t, n, n))
		for i := range n {
			v.Index(i).Set(anything(rnd, ops, t.Elem(), tensors, depth+1))
		}
	case reflect.Array:
		for i := range t.Len() {
			v.Index(i).Set(anything(rnd, ops, t.Elem(), tensors, depth+1))
		}
	case reflect.Struct:
		if t == reflect.TypeFor[symbolic.Dim]() {
			return reflect.ValueOf([]symbolic.Dim{{}, symbolic.Const(-3), symbolic.Const(4), symbolic.Symbol("n"), symbolic.Const(1 << 50)}[rnd.IntN(5)])
		}
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(anything(rnd, ops, t.Field(i).Type, tensors, depth+1))
			}
		}
	case reflect.String:
		v.SetString([]string{"", "x", "none", "linear", "add", "reflect"}[rnd.IntN(6)])
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Int, reflect.Int32:
		v.SetInt([]int64{-1 << 31, -7, -1, 0, 1, 2, 3, 4, 9, 1<<31 - 1}[rnd.IntN(10)])
	case reflect.Uint8:
		v.SetUint(uint64(rnd.IntN(90)))
	case reflect.Float32:
		v.SetFloat([]float64{0, -1, 1e-5, 2.5}[rnd.IntN(4)])
	}
	return v
}

// TestDefinitionGathersErrors has all mistakes named at once, with layer and line, and none that only follows from another.
func TestDefinitionGathersErrors(t *testing.T) {
	d := Define("bad")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(3), symbolic.Const(8), symbolic.Const(8))
	y := d.Named("conv1").Conv(x, d.Weights("w", make([]float32, 9), 3, 3), nil, ConvAttrs{})
	y = d.Relu(d.Named("conv2").Conv(y, y, y, ConvAttrs{}))
	d.Named("conv3").Layer(Conv, &ConvAttrs{}, x)
	d.Named("relu").Layer(Ops().Named("Relu"), nil, x)
	d.Named("norm").Layer(Softmax, LRNAttrs{}, x)
	d.Named("stray").Softmax(Define("other").Input("x", numeric.F32, symbolic.Const(3)), 0)
	d.Named("left").Softmax(nil, 0)
	d.Output("y", y)
	_, err := d.Network()
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	want := []string{
		"network bad: 6 errors", "layer conv1 (Conv): ", "layer conv3 (Conv): its attributes are a *graph.ConvAttrs; give them by value",
		"layer relu (Relu): its attributes are graph.Elementwise, not <nil>", "layer norm (Softmax): its attributes are graph.SoftmaxAttrs, not graph.LRNAttrs",
		"layer stray (Softmax): input 0, x, is not a tensor of this network", "layer left (Softmax): input 0 is missing",
	}
	if len(lines) != len(want) {
		t.Fatalf("got %v", err)
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) || i > 0 && !strings.Contains(line, "(define_ops_test.go:") {
			t.Errorf("line %d is %q, want %q", i, line, want[i])
		}
	}
}
