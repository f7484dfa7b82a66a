package products

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// poolTactics are the poolings in NHWC. Those over the whole input are reductions.
func poolTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.MaxPool, graph.AveragePool} {
		list = append(list, emit.Tactic{
			Name: "pool_nhwc", Op: op, In: kernels.NHWC, Out: kernels.NHWC, Strided: true,
			Match: func(b kernels.Binding) error {
				p, err := poolingOf(b)
				if err != nil || p.maximum && p.typ.Size() == 1 { // which nothing is done to
					return err
				}
				return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
			},
			Emit: emitPool,
			Cost: func(b kernels.Binding) []emit.Job {
				p, err := poolingOf(b)
				if err != nil {
					return nil
				}
				n := p.vector(16)
				return []emit.Job{emit.ThreadJob(p.n*p.p*p.q*emit.CeilDiv(p.widthOut, n), 20+p.r*p.s*(6+3*n), emit.Traffic(b))}
			},
		})
	}
	return list
}

// pooling is the geometry of a pooling, with the product's names, and its arithmetic.
type pooling struct {
	product
	x       emit.Storage
	maximum bool
	counted bool // averages divide by the places on the padded input
	windows []graph.Window
}

// poolingOf returns the pooling that a layer is.
func poolingOf(b kernels.Binding) (*pooling, error) {
	x, y := b.In[0].Dims, b.Out[0].Dims
	if b.Consts[0] != nil {
		return nil, fmt.Errorf("the input is a constant")
	}
	if len(x) != 3 && len(x) != 4 {
		return nil, fmt.Errorf("%d spatial axes, the kernel takes 1 or 2", len(x)-2)
	}
	if numeric.Count(x) == 0 || numeric.Count(y) == 0 {
		return nil, fmt.Errorf("a tensor is empty")
	}
	in, out := b.Layer.Inputs[0], b.Layer.Outputs[0]
	if len(b.Out) > 1 {
		return nil, fmt.Errorf("where the maxima are is not told")
	}
	if err := b.Only(numeric.F32, numeric.F16, numeric.I8, numeric.U8); err != nil {
		return nil, err
	}
	a := b.Layer.Attrs.(graph.PoolAttrs)
	p := &pooling{maximum: b.Layer.Op == graph.MaxPool, counted: a.CountIncludePad, windows: a.Windows(x[2:])}
	p.x = emit.Storage{Type: in.Type, Range: in.Range}
	if in.Type.Size() == 1 {
		if p.maximum && (out.Type != in.Type || b.Layer.Epilogue.Args > 0) {
			return nil, fmt.Errorf("the maximum of bytes keeps their type, and has no epilogue")
		}
		if !p.maximum && !emit.Quantized(in) {
			return nil, fmt.Errorf("%s is not quantised by one scale", in.Name)
		}
	}
	if len(x) == 3 {
		p.windows = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, p.windows[0]}
		x, y = []int{x[0], x[1], 1, x[2]}, []int{y[0], y[1], 1, y[2]}
	}
	p.typ, p.n, p.h, p.w, p.p, p.q = in.Type, x[0], x[2], x[3], y[2], y[3]
	p.c, p.k, p.groups, p.alpha = x[1], x[1], 1, 1
	for i, d := range p.windows {
		p.stride[i], p.dilation[i], p.pad[i] = d.Stride, d.Dilation, d.PadBegin
	}
	p.r, p.s = p.windows[0].Kernel, p.windows[1].Kernel
	p.rows(b.In[0], b.Out[0])
	return p, p.windowsFit()
}

// vector returns how many channels a thread pools, given how many it writes at once.
func (p *pooling) vector(most int) int {
	return min(most, emit.VectorOf(p.typ.Size(), p.widthIn|p.pitchIn), 8)
}

// inner reports whether every window lies within the image.
func (p *product) inner() bool {
	last := func(i, out int) int { return (out-1)*p.stride[i] - p.pad[i] }
	return p.pad == [2]int{} && last(0, p.p)+(p.r-1)*p.dilation[0] < p.h && last(1, p.q)+(p.s-1)*p.dilation[1] < p.w
}

// unrolled is how many taps a kernel has one after another; more are a loop.
const unrolled = 25

// eachTap runs body for every tap of the window: its row and column in pixels of the input.
func (p *product) eachTap(k *ptx.K, body func(dy, dx ptx.Uint)) {
	if p.r*p.s <= unrolled {
		for y := range p.r {
			for x := range p.s {
				body(ptx.U(y*p.dilation[0]), ptx.U(x*p.dilation[1]))
			}
		}
		return
	}
	k.For(ptx.U(0), ptx.U(p.r*p.dilation[0]), ptx.U(p.dilation[0]), func(dy ptx.Uint) {
		k.For(ptx.U(0), ptx.U(p.s*p.dilation[1]), ptx.U(p.dilation[1]), func(dx ptx.Uint) { body(dy, dx) })
	})
}

// place is where a window lies.
type windowPlace struct {
	image, y, x ptx.Uint // of the output
	top, left   ptx.Uint // of the window in the input, wrapping below 0
}

// placeOf finds the window of an output pixel.
func (p *product) placeOf(k *ptx.K, pixel ptx.Uint) windowPlace {
	image, rest := k.DivRem(pixel, p.p*p.q)
	y, x := k.DivRem(rest, p.q)
	return windowPlace{
		image: image, y: y, x: x,
		top:  k.Sub(k.Mul(y, ptx.U(p.stride[0])), ptx.U(p.pad[0])),
		left: k.Sub(k.Mul(x, ptx.U(p.stride[1])), ptx.U(p.pad[1])),
	}
}

// tap returns the input pixel of a window's tap, and whether it is there, nil where all are.
func (p *product) tap(k *ptx.K, at windowPlace, dy, dx ptx.Uint) (pixel ptx.Uint, inside *ptx.Cond) {
	y, x := k.Add(at.top, dy), k.Add(at.left, dx)
	if !p.inner() {
		c := k.Both(k.Lt(y, ptx.U(p.h)), k.Lt(x, ptx.U(p.w)))
		inside = &c
	}
	return k.Mad(k.Mad(at.image, ptx.U(p.h), y), ptx.U(p.w), x), inside
}

// emitPool emits a kernel in which each thread pools a vector of channels of one output pixel.
func emitPool(b kernels.Binding) (*emit.Work, error) {
	p, err := poolingOf(b)
	if err != nil {
		return nil, err
	}
	w := emit.NewWork()
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	n := p.vector(out.Vector)
	perPixel := emit.CeilDiv(p.widthOut, n)
	total := p.pixels() * perPixel
	k, l := w.Threads("pool", total)
	p.x.Base = l.Input(k, 0)
	var counts [2]ptx.GlobalPtr
	if !p.maximum {
		for i, name := range []string{"rows", "columns"} {
			counts[i] = l.Constant(k, name, w.Append(p.counts(i)))
		}
	}
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, total)
	pixel, piece := k.DivRem(index, perPixel)
	channel := k.Mul(piece, ptx.U(n))
	at := p.placeOf(k, pixel)
	sums := p.pool(k, at, channel, n)
	switch {
	case p.maximum && p.typ.Size() == 1:
		p.storeBytes(k, k.Offset(out.Y.Base, k.Mad(pixel, ptx.U(p.pitchOut), channel), 1), sums)
	case p.maximum:
		x := floatsOf(sums)
		if valid := p.reaches(k, channel, n); valid != nil { // behind the input's rows there is no largest
			for i := range x {
				x[i] = k.SelectF(*valid, x[i], ptx.F(0))
			}
		}
		out.Store(k, pixel, channel, x)
	default:
		count := k.Mul(k.Load(k.Offset(counts[0], at.y, 4), 1)[0].Uint(), k.Load(k.Offset(counts[1], at.x, 4), 1)[0].Uint())
		out.Store(k, pixel, channel, p.averages(k, sums, k.UintToFloat(count)))
	}
	w.End(k, l)
	return w, nil
}

// floatsOf returns the floats whose registers the words are.
func floatsOf(list []ptx.Word) []ptx.Float {
	f := make([]ptx.Float, len(list))
	for i, w := range list {
		f[i] = w.FloatRegister()
	}
	return f
}

// pool returns the sums or maxima of a window in registers: floats of reals, integers of bytes.
func (p *pooling) pool(k *ptx.K, at windowPlace, channel ptx.Uint, n int) []ptx.Word {
	integers := p.typ.Size() == 1
	otherwise := ptx.W(0)
	start := float32(0)
	lowest := 0
	if p.maximum {
		start = float32(math.Inf(-1))
		if p.typ == numeric.F32 {
			otherwise = ptx.W(math.Float32bits(start))
		} else {
			otherwise = ptx.W(0xfc00fc00) // -infinity twice
		}
		if p.typ == numeric.I8 {
			lowest = -128
		}
		if integers {
			otherwise = emit.Repeated(int32(lowest))
		}
	} else if integers {
		otherwise = emit.Repeated(p.x.Range.ZeroAt(0))
	}
	sums := make([]ptx.Word, n)
	for i := range sums {
		if integers {
			sums[i] = k.VarS(ptx.I(lowest)).Word()
		} else {
			sums[i] = k.VarF(ptx.F(start)).Register()
		}
	}
	valid := p.reaches(k, channel, n)
	p.eachTap(k, func(dy, dx ptx.Uint) {
		from, inside := p.tap(k, at, dy, dx)
		if valid != nil && inside != nil {
			c := k.Both(*inside, *valid)
			inside = &c
		} else if valid != nil {
			inside = valid
		}
		for i, word := range p.x.Words(k, k.Mad(from, ptx.U(p.pitchIn), channel), n, inside, otherwise) {
			if integers {
				for e, q := range emit.BytesOf(k, word, p.typ == numeric.I8) {
					p.addInt(k, sums[4*i+e].Int(), q)
				}
				continue
			}
			elements := p.x.Unpack(k, word)
			for e, v := range elements {
				p.addFloat(k, sums[len(elements)*i+e].FloatRegister(), v)
			}
		}
	})
	return sums
}

// reaches says where a vector of the output's channels lies in the input's rows, which may be shorter; nil: everywhere.
func (p *product) reaches(k *ptx.K, channel ptx.Uint, n int) *ptx.Cond {
	if emit.RoundUp(p.widthOut, n) <= p.widthIn {
		return nil
	}
	c := k.Lt(channel, ptx.U(p.widthIn))
	return &c
}

func (p *pooling) addInt(k *ptx.K, sum, q ptx.Int) {
	if p.maximum {
		k.SetS(sum, k.MaxS(sum, q))
	} else {
		k.SetS(sum, k.AddS(sum, q))
	}
}

func (p *pooling) addFloat(k *ptx.K, sum, v ptx.Float) {
	if p.maximum {
		k.SetF(sum, k.MaxNaN(sum, v))
	} else {
		k.SetF(sum, k.AddF(sum, v))
	}
}

// averages returns sums divided by a count. Of bytes it is float32(sum of (q - zero)) * float32(scale/count).
func (p *pooling) averages(k *ptx.K, sums []ptx.Word, count ptx.Float) []ptx.Float {
	list := make([]ptx.Float, len(sums))
	if p.typ.Size() > 1 {
		for i, s := range sums {
			list[i] = k.DivF(s.FloatRegister(), count)
		}
		return list
	}
	scale := k.DivF(ptx.F(p.x.Range.ScaleAt(0)), count)
	zeros := int(p.x.Range.ZeroAt(0)) * p.r * p.s
	for i, s := range sums {
		list[i] = k.MulF(k.IntToFloat(k.SubS(s.Int(), ptx.I(zeros))), scale)
	}
	return list
}

// storeBytes writes integers that are bytes already.
func (p *pooling) storeBytes(k *ptx.K, to ptx.GlobalPtr, sums []ptx.Word) {
	var words []ptx.Word
	for i := 0; i < len(sums); i += 4 {
		q := [4]ptx.Int{sums[i].Int(), sums[i+1].Int(), sums[i+2].Int(), sums[i+3].Int()}
		words = append(words, k.Saturate4(q, p.typ == numeric.I8))
	}
	k.Store(to, words...)
}

// counts returns, for each output row or column, the taps that an average divides by, as words.
func (p *pooling) counts(axis int) []byte {
	in, out := p.h, p.p
	if axis == 1 {
		in, out = p.w, p.q
	}
	return windowCounts(p.windows[axis], in, out, p.counted)
}

// windowCounts returns, for each place along an axis, the taps on the input, or on the padded input, as words; 1 where there are
// none, since the average of a window that lies wholly in the padding is 0.
func windowCounts(w graph.Window, in, out int, padded bool) []byte {
	list := make([]uint32, out)
	for o := range list {
		for t := range w.Kernel {
			at, low, high := o*w.Stride-w.PadBegin+t*w.Dilation, 0, in
			if padded {
				low, high = -w.PadBegin, in+w.PadEnd
			}
			if at >= low && at < high {
				list[o]++
			}
		}
		list[o] = max(list[o], 1)
	}
	return numeric.Bytes(list)
}
