package products

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Dynamic is the product whose rows are quantised as they come, for one instruction set: their range is found, they become
// bytes, and the product of bytes follows with what its sums start from and are multiplied by.
func Dynamic(isa asm.Features, workers int) kernels.Tactic {
	return kernels.Tactic{
		Name: "matmul_f32_int8_" + work.ISAName(isa), Op: graph.DynamicQuantizeMatMul, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			_, err := newDynamicKernel(b, isa, workers)
			return err
		},
		Workspace: func(b kernels.Binding) int {
			k, err := newDynamicKernel(b, isa, workers)
			if err != nil {
				return 0
			}
			l := k.layout()
			return l.floats + l.rows + l.constants + gemmInt8Workspace(k.Product, isa, GemmInt8Config{Workers: workers, Program: k.Alone()})
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := newDynamicKernel(b, isa, workers)
			if err != nil {
				return nil, err
			}
			return k, k.pack(b, isa)
		},
	}
}

// dynamicKernel is a dynamically quantised product, bound to a layer.
type dynamicKernel struct {
	b kernels.Binding
	Product
	quantised.Output
	workers int
	by      graph.RowRange
	whole   *quantised.Dynamic // by one range
	rows    *rowRanges         // by one for each row
	gemm    *GemmInt8
	calls   sync.Pool
}

func newDynamicKernel(b kernels.Binding, isa asm.Features, workers int) (*dynamicKernel, error) {
	k := &dynamicKernel{b: b, workers: workers, by: b.Layer.Attrs.(graph.DynamicAttrs).Rows}
	if b.In[0].Type != numeric.F32 {
		return nil, fmt.Errorf("input %v is not %s", b.In[0], numeric.F32)
	}
	for i := range b.Layer.OpInputs() {
		if i > 0 && b.Layer.Inputs[i] != nil && b.Consts[i] == nil {
			return nil, fmt.Errorf("input %d is no constant", i)
		}
	}
	x, w := b.In[0].Dims, b.In[1].Dims
	k.K, k.N = w[0], w[1]
	k.M = numeric.Count(x) / max(1, k.K)
	if k.M*k.K*k.N == 0 {
		return nil, fmt.Errorf("a matrix is empty")
	}
	var err error
	if k.Output, err = quantised.OutputOf(b, isa, true); err == nil && k.Residual >= 0 && b.In[k.Residual].Type != numeric.F32 {
		err = fmt.Errorf("residual %v is not %s", b.In[k.Residual], numeric.F32)
	}
	return k, err
}

// pack packs the constants and prepares launches.
func (k *dynamicKernel) pack(b kernels.Binding, isa asm.Features) error {
	packed, err := kernels.Packed(b, nil, func() (*PackedInt8, error) {
		value := func(i int) numeric.Value {
			return numeric.Value{Type: b.In[i].Type, Dims: b.In[i].Dims, Data: b.Consts[i]}
		}
		zeros := []int64{0}
		if len(b.Layer.OpInputs()) > graph.DynamicZeros && b.Layer.Inputs[graph.DynamicZeros] != nil {
			zeros = value(graph.DynamicZeros).Ints()
		}
		given, scale := value(graph.DynamicScales).Floats(), make([]float32, k.N)
		for n := range scale {
			scale[n] = given[n%len(given)]
		}
		weights := make([]int16, k.K*k.N)
		for i, q := range value(1).Ints() {
			weights[i] = int16(q - zeros[i%k.N%len(zeros)])
		}
		var row []float32
		if k.Registers.Row > 0 {
			row = value(k.Registers.Row).Floats()
		}
		zero := int32(1) // whatever it is, sums start from that much
		if k.by != graph.OneRange {
			zero = quantised.Middle
		}
		return PackInt8(k.N, k.K, weights, scale, row, PackInt8Config{InZero: zero, Features: isa})
	})
	if err != nil {
		return err
	}
	if k.gemm, err = NewGemmInt8(k.M, packed, GemmInt8Config{Workers: k.workers, Program: k.Alone()}); err != nil {
		return err
	}
	if k.by != graph.OneRange {
		k.rows = newRowRanges(k, isa)
	} else {
		k.whole = quantised.NewDynamic(k.M*k.K, isa)
	}
	k.calls.New = func() any { return new(GemmInt8Call) }
	return nil
}

// dynamicLayout says how many bytes of a launch's workspace hold what: the float32 that a program reads, the rows as bytes, and
// what follows from their ranges.
type dynamicLayout struct{ floats, rows, constants int }

func (k *dynamicKernel) layout() dynamicLayout {
	l := dynamicLayout{rows: work.RoundUp64(k.M * k.K), constants: 2 * work.BlocksOf(k.N) * work.Lanes * 4}
	if k.by != graph.OneRange {
		l.constants = work.RoundUp64(rowBytes * k.M)
	}
	if k.Alone() == nil {
		l.floats = work.RoundUp64(k.Workspace())
	}
	return l
}

// Launch computes the layer.
func (k *dynamicKernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	l, w, loop := k.layout(), ws.Host, work.Loop(st)
	take := func(n int) []byte {
		part := w[:n:n]
		w = w[n:]
		return part
	}
	floats := kernels.Mem{Host: take(l.floats)}
	if k.InPlace {
		floats = out[0]
	}
	q, constants := take(l.rows), take(l.constants)
	call := k.calls.Get().(*GemmInt8Call)
	*call = GemmInt8Call{A: q[:k.M*k.K], Epilogue: k.Registers, Workspace: w}
	if x := numeric.View[float32](in[0].Host); k.rows != nil {
		k.rows.run(loop, call, x, constants)
	} else {
		k.quantise(loop, call, x, constants)
	}
	if k.Residual >= 0 {
		call.Epilogue.Addend = work.Tensor4{Data: numeric.View[float32](in[k.Residual].Host)[:k.M*k.N], Image: k.N}
	}
	alone := k.Alone() != nil
	switch {
	case alone:
		call.Result = out[0].Host
	case k.Program != nil:
		call.Epilogue.Float = work.Tensor4{Data: numeric.View[float32](floats.Host), Image: k.N}
	case k.b.Out[0].Type == numeric.F32:
		call.Epilogue.Float = work.Tensor4{Data: numeric.View[float32](out[0].Host), Image: k.N}
	default:
		call.Epilogue.Out = work.Bytes4{Data: out[0].Host, Image: k.N}
	}
	k.gemm.Run(loop, call)
	*call = GemmInt8Call{}
	k.calls.Put(call)
	if k.Program != nil && !alone {
		k.Program.Launch(loop, floats, in, out[0])
	}
	return nil
}

// quantise quantises what a call reads by one range, and writes what its sums start from and are multiplied by.
func (k *dynamicKernel) quantise(loop work.Parallel, call *GemmInt8Call, x []float32, constants []byte) {
	start, scale := numeric.View[int32](constants[:len(constants)/2]), numeric.View[float32](constants[len(constants)/2:])
	to := k.whole.Run(loop, call.A, x)
	for n := range start {
		start[n], scale[n] = to.Zero*k.gemm.start[n], to.Scale*k.gemm.scale[n]
	}
	call.Start, call.Scale = start, scale
}
