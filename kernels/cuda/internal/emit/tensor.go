package emit

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Layout is a tensor as memory has it: rows along the axis that is innermost there, which is padded to a pitch.
type Layout struct {
	Outer []int // extents of the other axes, in memory order
	Last  int   // extent of the innermost axis
	Width int   // elements of a row, padding included
	Pitch int   // elements from one row to the next
}

// LayoutOf returns the layout of a tensor: its channels are innermost in NHWC, its last axis in Linear.
func LayoutOf(d kernels.Desc) Layout {
	switch {
	case len(d.Dims) == 0:
		return Layout{Last: 1, Width: 1, Pitch: 1}
	case d.Format == kernels.NHWC:
		outer := append([]int{d.Dims[0]}, d.Dims[2:]...)
		return Layout{outer, d.Dims[1], d.Width(), d.PixelPitch()}
	}
	n := len(d.Dims) - 1
	return Layout{d.Dims[:n], d.Dims[n], d.Dims[n], d.Dims[n]}
}

// Rows returns the number of rows.
func (l Layout) Rows() int { return numeric.Count(l.Outer) }

// Axis is an extent with a distance in elements.
type Axis struct{ Extent, Stride int }

// Reach returns how an argument of the given layout is walked along the rows of l, which it broadcasts to: the fewest axes
// that do, outermost first, and whether it has a row's elements or repeats one. An axis of extent 1 repeats.
func (l Layout) Reach(arg Layout) (axes []Axis, whole bool, err error) {
	skip := len(l.Outer) - len(arg.Outer)
	if skip < 0 {
		return nil, false, fmt.Errorf("an argument of %d axes does not broadcast to %d", len(arg.Outer)+1, len(l.Outer)+1)
	}
	strides := make([]int, len(l.Outer))
	stride := arg.Pitch
	for i := len(arg.Outer) - 1; i >= 0; i-- {
		switch arg.Outer[i] {
		case l.Outer[skip+i]:
			strides[skip+i] = stride
		case 1:
		default:
			return nil, false, fmt.Errorf("an argument's axis of %d does not broadcast to %d", arg.Outer[i], l.Outer[skip+i])
		}
		stride *= arg.Outer[i]
	}
	if arg.Last != l.Last && arg.Last != 1 {
		return nil, false, fmt.Errorf("an argument's axis of %d does not broadcast to %d", arg.Last, l.Last)
	}
	for i, n := range l.Outer {
		if n == 1 {
			continue
		}
		if j := len(axes) - 1; j >= 0 && axes[j].Stride == n*strides[i] {
			axes[j] = Axis{axes[j].Extent * n, strides[i]}
			continue
		}
		axes = append(axes, Axis{n, strides[i]})
	}
	return axes, arg.Last == l.Last && l.Last > 1 || arg.Last == l.Last && arg.Width == l.Width, nil
}

// RowOffset returns the element at which an argument's row begins.
func RowOffset(k *ptx.K, row ptx.Uint, axes []Axis) ptx.Uint {
	offset, rest := ptx.U(0), row
	for i := len(axes) - 1; i >= 0; i-- {
		index := rest
		if i > 0 {
			rest, index = k.DivRem(rest, axes[i].Extent)
		}
		if axes[i].Stride > 0 {
			offset = k.Mad(index, ptx.U(axes[i].Stride), offset)
		}
	}
	return offset
}

// Storage is how a tensor's elements are stored.
type Storage struct {
	Type  numeric.DataType
	Range numeric.Range // of quantised integers
	Base  ptx.GlobalPtr
}

// Storable returns an error where code cannot read or write a tensor's elements as reals.
func Storable(t *graph.Tensor) error {
	switch t.Type {
	case numeric.F32, numeric.F16, numeric.Bool:
		return nil
	case numeric.I8, numeric.U8:
		if t.Range.IsSet() && !t.Range.PerChannel() {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, the kernel takes f32, f16, bool and bytes quantised by one scale", t.Name, t.Type)
}

// Load returns n consecutive elements from element at on, as floats: one, or as many as 4, 8 or 16 bytes hold or several
// times 16 bytes. at is a multiple of n. With a predicate, zeros where it does not hold.
func (s Storage) Load(k *ptx.K, at ptx.Uint, n int, when *ptx.Cond) []ptx.Float {
	size := s.Type.Size()
	p := k.Offset(s.Base, at, size)
	if n*size < 4 {
		if when != nil {
			panic("emit: a single element under a predicate")
		}
		list := make([]ptx.Float, n)
		for i := range list {
			list[i] = s.LoadOne(k, p.At(i*size))
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
			list = append(list, s.Unpack(k, w)...)
		}
		at += bytes
	}
	return list
}

// LoadOne returns the element at an address.
func (s Storage) LoadOne(k *ptx.K, p ptx.GlobalPtr) ptx.Float {
	switch s.Type {
	case numeric.F32:
		return k.LoadF(p, 1)[0]
	case numeric.F16:
		return k.HalfToFloat(k.LoadHalf(p))
	case numeric.I8:
		return s.real(k, k.LoadByteS(p))
	default:
		return s.real(k, k.LoadByte(p).Int())
	}
}

// Unpack returns the elements of a word.
func (s Storage) Unpack(k *ptx.K, w ptx.Word) []ptx.Float {
	switch s.Type {
	case numeric.F32:
		return []ptx.Float{k.FloatOf(w)}
	case numeric.F16:
		lo, hi := k.UnpackHalves(w)
		return []ptx.Float{lo, hi}
	}
	list := make([]ptx.Float, 4)
	for i := range list {
		if s.Type == numeric.I8 {
			list[i] = s.real(k, k.BfeS(w, 8*i, 8))
		} else {
			list[i] = s.real(k, k.Bfe(w, 8*i, 8).Int())
		}
	}
	return list
}

// real is the number that an integer stands for.
func (s Storage) real(k *ptx.K, q ptx.Int) ptx.Float {
	if !s.Range.IsSet() {
		return k.IntToFloat(q)
	}
	return k.MulF(k.IntToFloat(k.SubS(q, ptx.I(int(s.Range.ZeroAt(0))))), ptx.F(s.Range.ScaleAt(0)))
}

// integer is the quantised number of a real: round(x / scale) + zero, to be saturated; zero of NaN.
func (s Storage) integer(k *ptx.K, x ptx.Float) ptx.Int {
	if !s.Range.IsSet() {
		return k.FloatToInt(x)
	}
	// A quotient may be as large as integers are, where the zero point would take it round to the other end.
	x, most := quotient(k, x, s.Range.ScaleAt(0))
	q, zero := k.FloatToInt(x), int(s.Range.ZeroAt(0))
	switch {
	case most < math.MaxInt32: // it is not
	case zero > 0:
		q = k.MinS(q, ptx.I(highestQuotient))
	case zero < 0:
		q = k.MaxS(q, ptx.I(-highestQuotient))
	}
	return k.AddS(q, ptx.I(zero))
}

// highestQuotient is a number that every zero point leaves beyond the bytes.
const highestQuotient = 1024

// quotient is x / d for a positive constant d, and how large its magnitude may be: correctly rounded between 1e-30 and
// highestQuotient, a number of that size or more where it is larger, one as small where it is smaller; NaN of NaN. With y the
// rounded reciprocal, q = x*y and its rest give the rounded quotient q + (x - q*d)*y (Markstein, "Computation of elementary
// functions on the IBM RISC System/6000 processor", 1990).
func quotient(k *ptx.K, x ptx.Float, d float32) (q ptx.Float, most float64) {
	y := 1 / d
	if bits := math.Float32bits(d); bits&(1<<23-1) == 0 && !math.IsInf(float64(y), 0) {
		return k.MulF(x, ptx.F(y)), math.Inf(1) // a power of two
	}
	if d < 1e-30 || d > 1e30 { // where products of the below could leave the range of floats
		return k.DivF(x, ptx.F(d)), math.Inf(1)
	}
	x = k.MaxNaN(k.MinNaN(x, ptx.F(highestQuotient*d)), ptx.F(-highestQuotient*d))
	q = k.MulF(x, ptx.F(y))
	rest := k.Fma(q, ptx.F(-d), x)
	return k.Fma(rest, ptx.F(y), q), highestQuotient
}

// Store writes n consecutive elements, as Load reads them.
func (s Storage) Store(k *ptx.K, at ptx.Uint, list []ptx.Float) {
	size := s.Type.Size()
	p := k.Offset(s.Base, at, size)
	if len(list)*size < 4 {
		for i, x := range list {
			s.StoreOne(k, p.At(i*size), x)
		}
		return
	}
	var words []ptx.Word
	for i := 0; i < len(list); i += 4 / size {
		words = append(words, s.Pack(k, list[i:i+4/size]))
	}
	for i := 0; i < len(words); i += 4 {
		k.Store(p.At(4*i), words[i:min(i+4, len(words))]...)
	}
}

// StoreOne writes the element at an address.
func (s Storage) StoreOne(k *ptx.K, p ptx.GlobalPtr, x ptx.Float) {
	switch s.Type {
	case numeric.F32:
		k.StoreF(p, x)
	case numeric.F16:
		k.StoreHalf(p, k.FloatToHalf(x))
	default:
		q := s.integer(k, x)
		k.StoreByte(p, k.Saturate4([4]ptx.Int{q, q, q, q}, s.Type == numeric.I8))
	}
}

// Pack returns the word of as many elements as it holds; where there are fewer they are the lowest.
func (s Storage) Pack(k *ptx.K, list []ptx.Float) ptx.Word {
	switch s.Type {
	case numeric.F32:
		return k.Bits(list[0])
	case numeric.F16:
		return k.PackHalves(list[0], list[len(list)-1])
	}
	var q [4]ptx.Int
	for i := range q {
		if i < len(list) {
			q[i] = s.integer(k, list[i])
		} else {
			q[i] = q[i-1]
		}
	}
	return k.Saturate4(q, s.Type == numeric.I8)
}

// VectorOf returns how many elements of a row of a type are worth one thread's access: those of 16 bytes, fewer where
// rows of the pitch do not begin at such multiples.
func VectorOf(size, pitch int) int {
	return min(16/size, 1<<bits.TrailingZeros(uint(max(1, pitch))))
}

// Words returns the words of n consecutive elements from element at on, and where when does not hold, words of otherwise.
func (s Storage) Words(k *ptx.K, at ptx.Uint, n int, when *ptx.Cond, otherwise ptx.Word) []ptx.Word {
	p := k.Offset(s.Base, at, s.Type.Size())
	var list []ptx.Word
	for i := 0; i < n*s.Type.Size(); i += 16 {
		count := min(4, (n*s.Type.Size()-i)/4)
		if when != nil {
			list = append(list, k.LoadOr(*when, p.At(i), count, otherwise)...)
		} else {
			list = append(list, k.Load(p.At(i), count)...)
		}
	}
	return list
}

// Quantized reports whether a tensor holds bytes that stand for real numbers by one scale.
func Quantized(t *graph.Tensor) bool {
	return (t.Type == numeric.I8 || t.Type == numeric.U8) && t.Range.IsSet() && !t.Range.PerChannel()
}

// StridesOf returns the distances in elements of a shape's axes.
func StridesOf(dims []int) []int {
	s := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}
