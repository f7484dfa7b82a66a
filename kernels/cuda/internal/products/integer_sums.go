package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// integerSums is what ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul have in common: sums of products of bytes less
// their zero points, which are inputs, and what they become: I32, or bytes of another scale.
type integerSums struct {
	second  int    // input of the weights
	zeros   [2]int // inputs of the zero points of either side; -1: 0
	scales  [3]int // of x, of w, of y; -1 where the result is I32
	result  int    // input of y's zero point
	typ     numeric.DataType
	perZero bool // the second side has a zero point for each channel of the output
	perW    bool // and a scale

	zero0, zero1, zeroY, factor ptx.GlobalPtr
	types                       [2]numeric.DataType
}

func integerSumsOf(b kernels.Binding) *integerSums {
	s := &integerSums{second: 1, zeros: [2]int{-1, -1}, scales: [3]int{-1, -1, -1}, result: -1, typ: b.Out[0].Type}
	if op := b.Layer.Op; op == graph.QLinearConv || op == graph.QLinearMatMul {
		s.second, s.zeros, s.scales, s.result = 3, [2]int{2, 5}, [3]int{1, 4, 6}, 7
		return s
	}
	for i := range s.zeros {
		if b.Layer.Input(2+i) != nil {
			s.zeros[i] = 2 + i
		}
	}
	return s
}

// maxIntegerProducts bounds a sum that is scaled: each product may be 255*255.
const maxIntegerProducts = 1 << 15

// check returns an error where a parameter is not one number, or of the second side one for each channel, and where sums of
// so many products may not fit.
func (s *integerSums) check(b kernels.Binding, channels, products int) error {
	if b.Layer.Epilogue.Args > 0 {
		return fmt.Errorf("the kernel has no epilogue")
	}
	if s.result >= 0 && products > maxIntegerProducts {
		return fmt.Errorf("sums of %d products, the kernel scales those of up to %d", products, maxIntegerProducts)
	}
	length := func(i int) int {
		if i < 0 {
			return 1
		}
		return numeric.Count(b.In[i].Dims)
	}
	for _, i := range []int{s.zeros[0], s.scales[0], s.scales[2], s.result} {
		if length(i) != 1 {
			return fmt.Errorf("%s has %d elements, the kernel takes one", b.Layer.Inputs[i].Name, length(i))
		}
	}
	for _, i := range []int{s.zeros[1], s.scales[1]} {
		if n := length(i); n != 1 && n != channels {
			return fmt.Errorf("%s has %d elements, the kernel takes one, or one for each of %d channels", b.Layer.Inputs[i].Name, n, channels)
		}
	}
	for _, i := range s.scales {
		if i >= 0 && b.In[i].Type != numeric.F32 && b.In[i].Type != numeric.F16 {
			return fmt.Errorf("scale %s is %s, the kernel takes f32 and f16", b.Layer.Inputs[i].Name, b.In[i].Type)
		}
	}
	s.perZero, s.perW = length(s.zeros[1]) > 1, length(s.scales[1]) > 1
	return nil
}

// parameters declares what the sums' parameters are in memory.
func (s *integerSums) parameters(k *ptx.K, l *emit.Launch, w *emit.Work, b kernels.Binding) {
	at := func(i int) ptx.GlobalPtr {
		if i < 0 {
			return ptx.GlobalPtr{}
		}
		return l.Operand(k, w, b, i)
	}
	s.zero0, s.zero1, s.zeroY = at(s.zeros[0]), at(s.zeros[1]), at(s.result)
	for i, z := range s.zeros {
		if z >= 0 {
			s.types[i] = b.In[z].Type
		}
	}
	if s.result >= 0 {
		s.factor = l.Scratch(k, "factors", 0)
	}
}

// zero is the zero point of a side.
func (s *integerSums) zero(k *ptx.K, side int, channel ptx.Uint) ptx.Int {
	signed := s.types[side] == numeric.I8
	switch {
	case s.zeros[side] < 0:
		return ptx.I(0)
	case side == 0:
		return k.LoadByteAs(s.zero0, signed)
	case s.perZero:
		return k.LoadByteAs(k.Offset(s.zero1, channel, 1), signed)
	}
	return k.LoadByteAs(s.zero1, signed)
}

// factors returns how many factors sx*sw/sy there are; none where the sums stay as they are.
func (s *integerSums) factors(b kernels.Binding) int {
	if s.result < 0 {
		return 0
	}
	return numeric.Count(b.In[s.scales[1]].Dims)
}

// emitFactors emits the kernel that puts them in the workspace. In the kernel of the sums, these would be spilled around the
// routine that a rounded quotient calls.
func (s *integerSums) emitFactors(w *emit.Work, b kernels.Binding) {
	n := s.factors(b)
	if n == 0 {
		return
	}
	k, l := w.Threads("factors", n)
	var scale [3]emit.Storage
	for i, in := range s.scales {
		scale[i] = emit.Storage{Type: b.In[in].Type, Base: l.Operand(k, w, b, in)}
	}
	to := l.Scratch(k, "factors", 0)
	index := emit.ThreadIndex(k, n)
	x, y := scale[0].LoadOne(k, scale[0].Base), scale[2].LoadOne(k, scale[2].Base)
	of := scale[1].LoadOne(k, k.Offset(scale[1].Base, index, scale[1].Type.Size()))
	k.StoreF(k.Offset(to, index, 4), k.DivF(k.MulF(x, of), y))
	w.End(k, l)
}

// store writes what element index becomes of its sum: the sum, or round(float32(sum) * factor) + zero, saturated.
func (s *integerSums) store(k *ptx.K, y ptx.GlobalPtr, index ptx.Uint, sum ptx.Int, channel ptx.Uint) {
	if s.result < 0 {
		k.Store(k.Offset(y, index, 4), sum.Word())
		return
	}
	if !s.perW {
		channel = ptx.U(0)
	}
	factor := k.LoadF(k.Offset(s.factor, channel, 4), 1)[0]
	q := emit.RoundedLong(k, k.MulF(k.IntToFloat(sum), factor))
	n := k.AddL(q, k.LongOf(k.LoadByteAs(s.zeroY, s.typ == numeric.I8)))
	k.StoreByte(k.Offset(y, index, 1), k.Low(emit.Saturated(k, n, s.typ)).Word())
}
