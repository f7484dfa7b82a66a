package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// depthwiseTactics are the convolutions in NHWC whose every output channel reads the input channel of its own.
func depthwiseTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, columns := range []int{1, 2, 4} {
		list = append(list, emit.Tactic{
			Name: fmt.Sprintf("conv_depthwise_nhwc_%dx%d", columns, directChannels), Op: graph.Conv, Variant: shape("conv_depthwise_nhwc", columns, directChannels), In: kernels.NHWC, Out: kernels.NHWC,
			Strided: true,
			Match: func(b kernels.Binding) error {
				if _, err := depthwiseOf(b, columns); err != nil {
					return err
				}
				return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				d, err := depthwiseOf(b, columns)
				if err != nil {
					return nil, err
				}
				return d.emit(b)
			},
			Cost: func(b kernels.Binding) []emit.Job {
				d, err := depthwiseOf(b, columns)
				if err != nil {
					return nil
				}
				return d.jobs(b)
			},
		})
	}
	return list
}

// depthwise is such a convolution, of which each thread computes directChannels channels of some neighbouring pixels of an
// output row: an element that several of the pixels' windows have is read once.
type depthwise struct {
	*direct
}

func depthwiseOf(b kernels.Binding, columns int) (*depthwise, error) {
	d, err := directOf(b, columns)
	if err != nil {
		return nil, err
	}
	if d.c != 1 || d.k != 1 {
		return nil, fmt.Errorf("groups of %d to %d channels, the kernel takes 1 to 1", d.c, d.k)
	}
	if d.zeros != nil {
		return nil, fmt.Errorf("the weights have a zero point for every channel")
	}
	if d.s*columns > 32 {
		return nil, fmt.Errorf("windows of %d columns are too wide for %d pixels", d.s, columns)
	}
	return &depthwise{d}, nil
}

func (d *depthwise) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	if d.scale != nil {
		w.Constants = d.packBytes()
	} else {
		w.Constants = d.packDirect()
	}
	var err error
	if d.out, err = emit.NewRowOutput(b, d.joined().sums(), w); err != nil {
		return nil, err
	}
	t, l := d.thread(w)
	t.begin()
	c := &depthwiseThread{directThread: t, valid: d.reaches(t.K, t.channel, directChannels)}
	if d.scale != nil {
		(&bytesThread{depthwiseThread: c}).sum()
	} else {
		c.sum()
	}
	t.finish()
	w.End(t.K, l)
	return w, nil
}

// depthwiseThread is the code of one thread, for reals.
type depthwiseThread struct {
	*directThread
	valid *ptx.Cond // the channels are in the input's rows; nil: they are
}

// sum adds the products of all taps, row by row.
func (t *depthwiseThread) sum() {
	row := 4 * t.rowWeights() * t.s
	if t.r*t.s <= unrolled {
		for y := range t.r {
			t.sumRow(ptx.U(y*t.dilation[0]), t.weights.At(y*row))
		}
		return
	}
	at := t.VarGlobal(t.weights)
	t.For(ptx.U(0), ptx.U(t.r*t.dilation[0]), ptx.U(t.dilation[0]), func(dy ptx.Uint) {
		t.sumRow(dy, at)
		t.SetGlobal(at, at.At(row))
	})
}

// sumRow adds the products of one row of the windows.
func (t *depthwiseThread) sumRow(dy ptx.Uint, weights ptx.GlobalPtr) {
	var list [][]ptx.Word
	for x := range t.s {
		list = append(list, t.LoadConst(weights.At(4*t.rowWeights()*x), directChannels))
	}
	y := t.Add(t.top, dy)
	line := t.Mul(t.Mad(t.image, ptx.U(t.h), y), ptx.U(t.w))
	inside := t.valid
	if !t.inner() {
		inside = t.also(inside, t.Lt(y, ptx.U(t.h)))
	}
	elements := map[int][]ptx.Word{} // by column behind the first window's begin
	for i, sums := range t.sums {
		for x := range t.s {
			at := i*t.stride[1] + x*t.dilation[1]
			if elements[at] == nil {
				elements[at] = t.element(line, at, inside)
			}
			for o, sum := range sums {
				t.multiplyAdd(sum, elements[at][o], list[x][o])
			}
		}
	}
}

func (t *depthwiseThread) also(a *ptx.Cond, b ptx.Cond) *ptx.Cond {
	if a != nil {
		b = t.Both(*a, b)
	}
	return &b
}

// element is the channels of the input pixel so many columns behind the begin of the first window, as registers.
func (t *depthwiseThread) element(line ptx.Uint, column int, inside *ptx.Cond) []ptx.Word {
	x := t.Add(t.left, ptx.U(column))
	if !t.inner() {
		inside = t.also(inside, t.Lt(x, ptx.U(t.w)))
	}
	at := t.Mad(t.Add(line, x), ptx.U(t.pitchIn), t.channel)
	var list []ptx.Word
	for _, w := range t.x.Words(t.K, at, directChannels, inside, ptx.W(0)) {
		for _, f := range t.x.Unpack(t.K, w) {
			list = append(list, f.Register())
		}
	}
	return list
}

// jobs estimates the launch.
func (d *depthwise) jobs(b kernels.Binding) []emit.Job {
	threads := d.n * d.p * emit.CeilDiv(d.q, d.columns) * emit.CeilDiv(d.widthOut, directChannels)
	reads := min(d.columns*d.s, (d.columns-1)*d.stride[1]+(d.s-1)*d.dilation[1]+1)
	each := reads*(4+directChannels) + d.s*(2+d.columns*directChannels)
	multiplied := d.r * d.s * d.columns * directChannels
	if d.scale != nil { // four taps at a time
		multiplied = 0
		each = reads*4 + d.groupsOfTaps()*(2+d.columns*2*directChannels)
	}
	return []emit.Job{emit.ThreadJob(threads, 30+25*d.columns+d.r*(4+each), emit.Traffic(b)).Multiplying(multiplied)}
}
