package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// directTactics are the convolutions that do not go through shared memory: for inputs of few channels, for groups that
// are too narrow for tiles, and whatever else no tile takes.
func directTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		for _, columns := range []int{1, 4} {
			list = append(list, emit.Tactic{
				Name: fmt.Sprintf("conv_direct_%s_%dx%d", f, columns, directChannels), Op: graph.Conv, Variant: shape("conv_direct_"+f.String(), columns, directChannels), In: f, Out: kernels.NHWC,
				Strided: f == kernels.NHWC,
				Match: func(b kernels.Binding) error {
					if _, err := directOf(b, columns); err != nil {
						return err
					}
					return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
				},
				Emit: func(b kernels.Binding) (*emit.Work, error) {
					d, err := directOf(b, columns)
					if err != nil {
						return nil, err
					}
					return d.emit(b)
				},
				Cost: func(b kernels.Binding) []emit.Job {
					d, err := directOf(b, columns)
					if err != nil {
						return nil
					}
					return d.jobs(b)
				},
			})
		}
	}
	return list
}

// directChannels is how many output channels a thread computes.
const directChannels = 4

// direct is a convolution in which each thread computes directChannels channels of some neighbouring pixels of an output
// row. The input is in NHWC or in Linear.
type direct struct {
	*product
	planar  bool // the input is Linear
	columns int  // pixels of a thread
	planes  int  // of an image: 1, or the planes of a volume
	x       emit.Storage
	out     *emit.RowOutput
}

func directOf(b kernels.Binding, columns int) (*direct, error) {
	p, err := productOf(b)
	if err != nil {
		return nil, err
	}
	return directBy(p, b, columns)
}

// directBy returns the convolution that a product is.
func directBy(p *product, b kernels.Binding, columns int) (*direct, error) {
	switch p.typ {
	case numeric.F32, numeric.F16, numeric.I8, numeric.U8:
	default:
		return nil, fmt.Errorf("elements are %s, the kernel multiplies f32, f16, i8 and u8", p.typ)
	}
	d := &direct{product: p, planar: b.In[0].Format == kernels.Linear, columns: columns, planes: 1}
	d.x = emit.Storage{Type: p.typ}
	if err := weightsFit(p.r*p.s*p.c, p.rowWeights()); err != nil {
		return nil, err
	}
	if columns > 1 && p.q < columns {
		return nil, fmt.Errorf("output rows of %d pixels are shorter than a thread's %d", p.q, columns)
	}
	return d, nil
}

// joined is the product as one group: what becomes of its sums does not depend on groups.
func (p *product) joined() *product {
	q := *p
	q.k, q.groups = p.k*p.groups, 1
	return &q
}

// shared reports whether all channels of a vector read the same input channels.
func (d *direct) shared() bool { return d.groups == 1 || d.k%directChannels == 0 }

// rowWeights returns the length of a row of weights: the output channels, as the widest output pads them.
func (p *product) rowWeights() int { return emit.RoundUp(p.k*p.groups, 16) }

// packDirect returns the weights as [tap][input channel of a group][output channel] words: reals as f32, bytes as integers
// less their zero point. Behind the last output channel are zeros.
func (p *product) packDirect() []byte {
	row := p.rowWeights()
	at := func(o, t, c int) int { return (t*p.c+c)*row + o }
	put := func(store func(dst, src int)) {
		for o := range p.k * p.groups {
			for t := range p.r * p.s {
				for c := range p.c {
					store(at(o, t, c), p.source(o, c, t))
				}
			}
		}
	}
	n := p.r * p.s * p.c * row
	if p.scale != nil {
		list, src := make([]int32, n), p.weight.Ints()
		put(func(d, s int) { list[d] = int32(src[s]) - p.zeroOf(d%row) })
		return numeric.Bytes(list)
	}
	list, src := make([]float32, n), p.reals()
	put(func(d, s int) { list[d] = src[s] })
	return numeric.Bytes(list)
}

// reals returns the weights rounded to the product's type.
func (p *product) reals() []float32 {
	src := p.weight.Floats()
	if p.typ != numeric.F16 || p.weight.Type == numeric.F16 {
		return src
	}
	rounded := make([]float32, len(src))
	for i, f := range src {
		rounded[i] = numeric.F16ToF32(numeric.F32ToF16(f))
	}
	return rounded
}

// emit emits the kernel.
func (d *direct) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	w.Constants = d.packDirect()
	var err error
	if d.out, err = emit.NewRowOutput(b, d.joined().sums(), w); err != nil {
		return nil, err
	}
	t, l := d.thread(w)
	t.begin()
	t.sum()
	if d.r*d.s > 1 { // found again: nothing of it is kept while the loops take all registers
		t.place(t.Mad(t.BlockX(), ptx.U(emit.BlockThreads), t.Thread()))
	}
	t.finish()
	w.End(t.K, l)
	return w, nil
}

// thread starts the kernel and finds what a thread computes: neighbouring threads neighbouring channels, then pixels.
func (d *direct) thread(w *emit.Work) (*directThread, *emit.Launch) {
	vectors, perRow := emit.CeilDiv(d.widthOut, directChannels), emit.CeilDiv(d.q, d.columns)
	total := d.n * d.p * perRow * vectors
	k, l := w.Threads("conv", total)
	d.x.Base = l.Input(k, 0)
	var weights ptx.GlobalPtr
	if d.given {
		weights = l.Scratch(k, "w", 0)
	} else {
		weights = l.Constant(k, "w", 0)
	}
	d.out.Parameters(k, l)
	t := &directThread{direct: d, K: k}
	line, column := t.place(emit.ThreadIndex(k, total))
	image, y := k.DivRem(line, d.p)
	t.image = image
	t.weights = k.Offset(weights, t.channel, 4)
	t.top = k.Sub(k.Mul(y, ptx.U(d.stride[0])), ptx.U(d.pad[0]))
	t.left = k.Sub(k.Mul(column, ptx.U(d.stride[1])), ptx.U(d.pad[1]))
	return t, l
}

// place finds the first output channel and pixel of the thread with an index, and the line and column of that pixel.
func (t *directThread) place(index ptx.Uint) (line, column ptx.Uint) {
	vectors, perRow := emit.CeilDiv(t.widthOut, directChannels), emit.CeilDiv(t.q, t.columns)
	rest, vector := t.DivRem(index, vectors)
	line, piece := t.DivRem(rest, perRow)
	// The last thread of a row begins where its pixels still fit: some are computed twice.
	column = t.Mul(piece, ptx.U(t.columns))
	if t.q%t.columns != 0 {
		column = t.Min(column, ptx.U(t.q-t.columns))
	}
	t.channel, t.pixel = t.Mul(vector, ptx.U(directChannels)), t.Mad(line, ptx.U(t.q), column)
	return line, column
}

// finish writes the outputs.
func (t *directThread) finish() {
	for i, sums := range t.sums {
		finishRow(t.K, t.out, t.Add(t.pixel, ptx.U(i)), t.channel, sums, t.widthOut%directChannels == 0)
	}
}

// finishRow writes the outputs of sums of consecutive channels of a pixel, in vectors as the output has them. whole says
// that no sums lie behind the row's end.
func finishRow(k *ptx.K, out *emit.RowOutput, pixel, channel ptx.Uint, sums []ptx.Word, whole bool) {
	n := min(len(sums), out.Vector)
	for i := 0; i < len(sums); i += n {
		at := k.Add(channel, ptx.U(i))
		write := func() { out.Emit(k, pixel, at, sums[i:i+n]) }
		if whole {
			write()
		} else {
			k.If(k.Lt(at, ptx.U(out.Width)), write)
		}
	}
}

// directThread is the code of one thread.
type directThread struct {
	*direct
	*ptx.K
	image, channel, pixel ptx.Uint // of the output: the first of several channels and pixels
	top, left             ptx.Uint // of the first pixel's window
	weights               ptx.GlobalPtr
	inputs                []ptx.Uint   // first input channel, by output channel or for all
	sums                  [][]ptx.Word // by pixel, by channel
}

// begin finds the input channels, and sets the sums to zero.
func (t *directThread) begin() {
	switch {
	case t.groups == 1:
		t.inputs = []ptx.Uint{ptx.U(0)}
	case t.shared():
		t.inputs = []ptx.Uint{t.firstInput(t.channel)}
	default:
		for i := range directChannels {
			t.inputs = append(t.inputs, t.firstInput(t.Add(t.channel, ptx.U(i))))
		}
	}
	for range t.columns {
		list := make([]ptx.Word, directChannels)
		for i := range list {
			if t.scale != nil {
				list[i] = t.VarS(ptx.I(0)).Word()
			} else {
				list[i] = t.VarF(ptx.F(0)).Register()
			}
		}
		t.sums = append(t.sums, list)
	}
}

// firstInput is the first input channel of an output channel's group; of the last group behind the last channel.
func (t *directThread) firstInput(channel ptx.Uint) ptx.Uint {
	group := t.Min(t.Div(channel, t.k), ptx.U(t.groups-1))
	return t.Mul(group, ptx.U(t.c))
}

// sum adds the products of all taps and input channels.
func (t *directThread) sum() {
	rows := t.h
	if t.planar { // of the planes of all channels
		rows *= t.c * t.groups
	}
	t.sumPlane(planeTaps{plane: t.image, rows: rows, taps: t.r}, t.VarGlobal(t.weights))
}

// planeTaps are the taps that meet a plane of the input.
type planeTaps struct {
	plane  ptx.Uint // which begins rows apart from its neighbours
	rows   int
	taps   int       // rows of taps
	inside *ptx.Cond // whether there is such a plane; nil: there is
}

// sumPlane adds the products of the taps on a plane, whose weights begin at the address, and moves that behind them.
func (t *directThread) sumPlane(p planeTaps, at ptx.GlobalPtr) {
	t.For(ptx.U(0), ptx.U(p.taps*t.dilation[0]), ptx.U(t.dilation[0]), func(dy ptx.Uint) {
		y := t.Add(t.top, dy)
		line := t.Mad(p.plane, ptx.U(p.rows), y)
		inRow := t.Lt(y, ptx.U(t.h))
		if p.inside != nil {
			inRow = t.Both(inRow, *p.inside)
		}
		t.For(ptx.U(0), ptx.U(t.s*t.dilation[1]), ptx.U(t.dilation[1]), func(dx ptx.Uint) {
			var pixels []tapPixel
			for i := range t.columns {
				x := t.Add(t.left, t.Add(dx, ptx.U(i*t.stride[1])))
				p := tapPixel{inside: t.Both(inRow, t.Lt(x, ptx.U(t.w)))}
				if p.at = t.Mad(line, ptx.U(t.w), x); !t.planar {
					p.at = t.Mul(p.at, ptx.U(t.pitchIn))
				}
				pixels = append(pixels, p)
			}
			t.tap(pixels, at)
		})
	})
}

// tap adds the products of one tap, whose weights begin at the address, and moves that behind them.
func (t *directThread) tap(pixels []tapPixel, at ptx.GlobalPtr) {
	row := 4 * t.rowWeights()
	if t.c <= 4 {
		for c := range t.c {
			t.multiply(pixels, ptx.U(c), at.At(c*row))
		}
		t.SetGlobal(at, at.At(t.c*row))
		return
	}
	t.For(ptx.U(0), ptx.U(t.c), ptx.U(1), func(c ptx.Uint) {
		t.multiply(pixels, c, at)
		t.SetGlobal(at, at.At(row))
	})
}

// tapPixel is the input pixel under a tap.
type tapPixel struct {
	at     ptx.Uint // element
	inside ptx.Cond
}

// multiply adds the products with one input channel of each group.
func (t *directThread) multiply(pixels []tapPixel, c ptx.Uint, weights ptx.GlobalPtr) {
	list := t.LoadConst(weights, directChannels)
	for i, p := range pixels {
		var x []ptx.Word
		for _, first := range t.inputs {
			x = append(x, t.loadInput(p, t.Add(first, c)))
		}
		for o, sum := range t.sums[i] {
			t.multiplyAdd(sum, x[o%len(x)], list[o])
		}
	}
}

// multiplyAdd adds a product to a sum: of an integer, or of a float's register with a float in a word.
func (t *directThread) multiplyAdd(sum, x, weight ptx.Word) {
	if t.scale != nil {
		t.SetS(sum.Int(), t.MadS(x.Int(), weight.Int(), sum.Int()))
	} else {
		t.FmaTo(sum.FloatRegister(), x.FloatRegister(), t.FloatOf(weight))
	}
}

// loadInput is an element of the input, a float's register or an integer. Outside the image are zeros, or zero points.
func (t *directThread) loadInput(p tapPixel, channel ptx.Uint) ptx.Word {
	at := t.Add(p.at, channel)
	if t.planar {
		at = t.Mad(channel, ptx.U(t.planes*t.h*t.w), p.at)
	}
	from := t.Offset(t.x.Base, at, t.typ.Size())
	if t.scale == nil {
		v := t.VarF(ptx.F(0))
		t.When(p.inside, func() {
			if t.typ == numeric.F32 {
				t.SetF(v, t.LoadF(from, 1)[0])
			} else {
				t.SetF(v, t.HalfToFloat(t.LoadHalf(from)))
			}
		})
		return v.Register()
	}
	v := t.VarS(ptx.I(int(t.zeroX)))
	t.When(p.inside, func() {
		t.SetS(v, t.LoadByteAs(from, t.typ == numeric.I8))
	})
	if t.transposed { // whose taps do not all meet the input: there is no sum of all weights to take off
		v = t.SubS(v, ptx.I(int(t.zeroX)))
	}
	return v.Word()
}

// jobs estimates the launch: all of a block's loads come through one unit, a quarter as fast as products.
func (d *direct) jobs(b kernels.Binding) []emit.Job {
	threads := d.n * d.p * emit.CeilDiv(d.q, d.columns) * emit.CeilDiv(d.widthOut, directChannels)
	reads := 1
	if !d.shared() {
		reads = directChannels
	}
	each := d.columns*(directChannels+4*reads) + 8
	return []emit.Job{emit.ThreadJob(threads, 40+30*d.columns+d.r*d.s*(10+8*d.columns+d.c*each), emit.Traffic(b)).Multiplying(d.r * d.s * d.c * d.columns * directChannels)}
}
