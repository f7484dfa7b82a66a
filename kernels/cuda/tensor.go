package cuda

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// layout is a tensor as memory has it: rows along the axis that is innermost there, which is padded to a pitch.
type layout struct {
	outer []int // extents of the other axes, in memory order
	last  int   // extent of the innermost axis
	width int   // elements of a row, padding included
	pitch int   // elements from one row to the next
}

// layoutOf returns the layout of a tensor: its channels are innermost in NHWC, its last axis in Linear.
func layoutOf(d kernels.Desc) layout {
	switch {
	case len(d.Dims) == 0:
		return layout{last: 1, width: 1, pitch: 1}
	case d.Format == kernels.NHWC:
		outer := append([]int{d.Dims[0]}, d.Dims[2:]...)
		return layout{outer, d.Dims[1], d.Width(), d.PixelPitch()}
	}
	n := len(d.Dims) - 1
	return layout{d.Dims[:n], d.Dims[n], d.Dims[n], d.Dims[n]}
}

// rows returns the number of rows.
func (l layout) rows() int { return graph.Count(l.outer) }

// axis is an extent with a distance in elements.
type axis struct{ extent, stride int }

// reach returns how an argument of the given layout is walked along the rows of l, which it broadcasts to: the fewest axes
// that do, outermost first, and whether it has a row's elements or repeats one. An axis of extent 1 repeats.
func (l layout) reach(arg layout) (axes []axis, whole bool, err error) {
	skip := len(l.outer) - len(arg.outer)
	if skip < 0 {
		return nil, false, fmt.Errorf("an argument of %d axes does not broadcast to %d", len(arg.outer)+1, len(l.outer)+1)
	}
	strides := make([]int, len(l.outer))
	stride := arg.pitch
	for i := len(arg.outer) - 1; i >= 0; i-- {
		switch arg.outer[i] {
		case l.outer[skip+i]:
			strides[skip+i] = stride
		case 1:
		default:
			return nil, false, fmt.Errorf("an argument's axis of %d does not broadcast to %d", arg.outer[i], l.outer[skip+i])
		}
		stride *= arg.outer[i]
	}
	if arg.last != l.last && arg.last != 1 {
		return nil, false, fmt.Errorf("an argument's axis of %d does not broadcast to %d", arg.last, l.last)
	}
	for i, n := range l.outer {
		if n == 1 {
			continue
		}
		if j := len(axes) - 1; j >= 0 && axes[j].stride == n*strides[i] {
			axes[j] = axis{axes[j].extent * n, strides[i]}
			continue
		}
		axes = append(axes, axis{n, strides[i]})
	}
	return axes, arg.last == l.last && l.last > 1 || arg.last == l.last && arg.width == l.width, nil
}

// rowOffset returns the element at which an argument's row begins.
func rowOffset(k *ptx.K, row ptx.Uint, axes []axis) ptx.Uint {
	offset, rest := ptx.U(0), row
	for i := len(axes) - 1; i >= 0; i-- {
		index := rest
		if i > 0 {
			rest, index = k.DivRem(rest, axes[i].extent)
		}
		if axes[i].stride > 0 {
			offset = k.Mad(index, ptx.U(axes[i].stride), offset)
		}
	}
	return offset
}

// storage is how a tensor's elements are stored.
type storage struct {
	typ  graph.DataType
	rng  graph.Range // of quantised integers
	base ptx.GlobalPtr
}

// storable returns an error where code cannot read or write a tensor's elements as reals.
func storable(t *graph.Tensor) error {
	switch t.Type {
	case graph.F32, graph.F16, graph.Bool:
		return nil
	case graph.I8, graph.U8:
		if t.Range.IsSet() && !t.Range.PerChannel() {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, the kernel takes f32, f16, bool and bytes quantised by one scale", t.Name, t.Type)
}

// load returns n consecutive elements from element at on, as floats: one, or as many as 4, 8 or 16 bytes hold or several
// times 16 bytes. at is a multiple of n. With a predicate, zeros where it does not hold.
func (s storage) load(k *ptx.K, at ptx.Uint, n int, when *ptx.Cond) []ptx.Float {
	size := s.typ.Size()
	p := k.Offset(s.base, at, size)
	if n*size < 4 {
		if when != nil {
			panic("cuda: a single element under a predicate")
		}
		list := make([]ptx.Float, n)
		for i := range list {
			list[i] = s.loadOne(k, p.At(i*size))
		}
		return list
	}
	var list []ptx.Float
	for at := 0; at < n*size; {
		bytes := min(16, n*size-at)
		var words []ptx.Word
		if when != nil {
			words = k.LoadWhen(*when, p.At(at), bytes/4)
		} else {
			words = k.Load(p.At(at), bytes/4)
		}
		for _, w := range words {
			list = append(list, s.unpack(k, w)...)
		}
		at += bytes
	}
	return list
}

// loadOne returns the element at an address.
func (s storage) loadOne(k *ptx.K, p ptx.GlobalPtr) ptx.Float {
	switch s.typ {
	case graph.F32:
		return k.LoadF(p, 1)[0]
	case graph.F16:
		return k.HalfToFloat(k.LoadHalf(p))
	case graph.I8:
		return s.real(k, k.LoadByteS(p))
	default:
		return s.real(k, k.LoadByte(p).Int())
	}
}

// unpack returns the elements of a word.
func (s storage) unpack(k *ptx.K, w ptx.Word) []ptx.Float {
	switch s.typ {
	case graph.F32:
		return []ptx.Float{k.FloatOf(w)}
	case graph.F16:
		lo, hi := k.UnpackHalves(w)
		return []ptx.Float{lo, hi}
	}
	list := make([]ptx.Float, 4)
	for i := range list {
		if s.typ == graph.I8 {
			list[i] = s.real(k, k.BfeS(w, 8*i, 8))
		} else {
			list[i] = s.real(k, k.Bfe(w, 8*i, 8).Int())
		}
	}
	return list
}

// real is the number that an integer stands for.
func (s storage) real(k *ptx.K, q ptx.Int) ptx.Float {
	if !s.rng.IsSet() {
		return k.IntToFloat(q)
	}
	return k.MulF(k.IntToFloat(k.SubS(q, ptx.I(int(s.rng.ZeroAt(0))))), ptx.F(s.rng.ScaleAt(0)))
}

// integer is the quantised number of a real: round(x / scale) + zero, to be saturated.
func (s storage) integer(k *ptx.K, x ptx.Float) ptx.Int {
	if !s.rng.IsSet() {
		return k.FloatToInt(x)
	}
	return k.AddS(k.FloatToInt(quotient(k, x, s.rng.ScaleAt(0))), ptx.I(int(s.rng.ZeroAt(0))))
}

// quotient is x / d for a positive constant d: correctly rounded between 1e-30 and 1024, a number of that size or more
// where it is larger, one as small where it is smaller; NaN of NaN. With y the rounded reciprocal, q = x*y and its rest give the rounded quotient q +
// (x - q*d)*y (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990).
func quotient(k *ptx.K, x ptx.Float, d float32) ptx.Float {
	y := 1 / d
	if bits := math.Float32bits(d); bits&(1<<23-1) == 0 && !math.IsInf(float64(y), 0) {
		return k.MulF(x, ptx.F(y)) // a power of two
	}
	const most = 1024
	if d < 1e-30 || d > 1e30 { // where products of the above could leave the range of floats
		return k.DivF(x, ptx.F(d))
	}
	x = k.MaxNaN(k.MinNaN(x, ptx.F(most*d)), ptx.F(-most*d))
	q := k.MulF(x, ptx.F(y))
	rest := k.Fma(q, ptx.F(-d), x)
	return k.Fma(rest, ptx.F(y), q)
}

// store writes n consecutive elements, as load reads them.
func (s storage) store(k *ptx.K, at ptx.Uint, list []ptx.Float) {
	size := s.typ.Size()
	p := k.Offset(s.base, at, size)
	if len(list)*size < 4 {
		for i, x := range list {
			s.storeOne(k, p.At(i*size), x)
		}
		return
	}
	var words []ptx.Word
	for i := 0; i < len(list); i += 4 / size {
		words = append(words, s.pack(k, list[i:i+4/size]))
	}
	for i := 0; i < len(words); i += 4 {
		k.Store(p.At(4*i), words[i:min(i+4, len(words))]...)
	}
}

func (s storage) storeOne(k *ptx.K, p ptx.GlobalPtr, x ptx.Float) {
	switch s.typ {
	case graph.F32:
		k.StoreF(p, x)
	case graph.F16:
		k.StoreHalf(p, k.FloatToHalf(x))
	default:
		q := s.integer(k, x)
		k.StoreByte(p, k.Saturate4([4]ptx.Int{q, q, q, q}, s.typ == graph.I8))
	}
}

// pack returns the word of as many elements as it holds.
func (s storage) pack(k *ptx.K, list []ptx.Float) ptx.Word {
	switch s.typ {
	case graph.F32:
		return k.Bits(list[0])
	case graph.F16:
		return k.PackHalves(list[0], list[1])
	}
	var q [4]ptx.Int
	for i, x := range list {
		q[i] = s.integer(k, x)
	}
	return k.Saturate4(q, s.typ == graph.I8)
}

// vectorOf returns how many elements of a row of a type are worth one thread's access: those of 16 bytes, fewer where
// rows of the pitch do not begin at such multiples.
func vectorOf(size, pitch int) int {
	return min(16/size, 1<<bits.TrailingZeros(uint(max(1, pitch))))
}

// words returns the words of n consecutive elements from element at on, and where when does not hold, words of otherwise.
func (s storage) words(k *ptx.K, at ptx.Uint, n int, when *ptx.Cond, otherwise ptx.Word) []ptx.Word {
	p := k.Offset(s.base, at, s.typ.Size())
	var list []ptx.Word
	for i := 0; i < n*s.typ.Size(); i += 16 {
		count := min(4, (n*s.typ.Size()-i)/4)
		if when != nil {
			list = append(list, k.LoadOr(*when, p.At(i), count, otherwise)...)
		} else {
			list = append(list, k.Load(p.At(i), count)...)
		}
	}
	return list
}

// quantized reports whether a tensor holds bytes that stand for real numbers by one scale.
func quantized(t *graph.Tensor) bool {
	return (t.Type == graph.I8 || t.Type == graph.U8) && t.Range.IsSet() && !t.Range.PerChannel()
}

// stridesOf returns the distances in elements of a shape's axes.
func stridesOf(dims []int) []int {
	s := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}
