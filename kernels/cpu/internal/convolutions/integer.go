package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// integerTactic is the convolution of bytes whose sums themselves are the result, as ONNX Runtime's dynamic quantisation writes it: the
// zero point of its input may be computed.
func integerTactic(isa asm.Features, workers int) kernels.Tactic {
	cfg := ConfigInt8{Features: isa, Workers: workers}
	return kernels.Tactic{
		Name: "conv_integer_" + work.ISAName(isa), Op: graph.ConvInteger, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			_, err := planIntegerConv(b, cfg)
			return err
		},
		Workspace: func(b kernels.Binding) int {
			k, err := planIntegerConv(b, cfg)
			if err != nil {
				return 0
			}
			return k.cfg.Workers * k.scratch()
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := planIntegerConv(b, cfg)
			if err != nil {
				return nil, err
			}
			return k, k.bind()
		},
	}
}

// integerConv is a ConvInteger bound to a layer. Rows of the windows are multiplied as those of a ColumnsInt8, whose kernels give
// float32: so much of a sum at a time as float32 holds exactly.
type integerConv struct {
	*ColumnsInt8
	b     kernels.Binding
	parts [][]int // of each panel, the steps before which its parts end
	job   *work.Job[integerRun]
}

// exactSum bounds the weights' magnitudes in a part of a sum: times the largest byte it is a whole number that float32 holds.
const exactSum = 1 << 24 / 255

// integerPixels are those whose sums are looked at together.
const integerPixels = 64

// What a part of a sum starts from, what is added to it and what it is multiplied by.
var (
	noStart [2 * work.Lanes]int32
	noBias  [2 * work.Lanes]float32
	eachOne = func() (s [2 * work.Lanes]float32) {
		for i := range s {
			s[i] = 1
		}
		return s
	}()
)

// planIntegerConv returns a layer's convolution without weights.
func planIntegerConv(b kernels.Binding, cfg ConfigInt8) (*integerConv, error) {
	if b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("an epilogue follows the sums")
	}
	if zeros := b.Layer.Input(3); zeros != nil && b.Consts[3] == nil {
		return nil, fmt.Errorf("zero points %s are computed", zeros.Name)
	}
	s, d, err := volumeShape(b)
	if err != nil {
		return nil, err
	}
	cfg.Signed, cfg.Whole = b.In[0].Type == numeric.I8, true
	c, err := planColumnsInt8(s, d, cfg)
	return &integerConv{ColumnsInt8: c, b: b}, err
}

// scratch returns the bytes that a worker needs: rows, and the sums of some pixels and a panel.
func (k *integerConv) scratch() int {
	return work.RoundUp64(k.run*k.row) + integerPixels*2*work.Lanes*4
}

// bind packs the weights and finds the parts of the sums.
func (k *integerConv) bind() error {
	v, _ := k.b.Const(1)
	zeros := []int64{0}
	if k.b.Layer.Input(3) != nil {
		z, _ := k.b.Const(3)
		zeros = z.Ints()
	}
	q := v.Ints()
	weights, each := make([]int16, len(q)), len(q)/k.shape.Filters
	for i, w := range q {
		weights[i] = int16(w - zeros[i/each%len(zeros)])
	}
	c, err := NewColumnsInt8(k.shape, k.depth, weights, make([]float32, k.shape.Filters), nil, ConfigInt8{
		InZero: 1, Signed: k.cfg.Signed, Whole: true, Features: k.cfg.Features, Workers: k.cfg.Workers})
	if err != nil {
		return err
	}
	k.ColumnsInt8 = c
	for i := range c.panels {
		p := &c.panels[i]
		k.parts = append(k.parts, exactParts(c.weights[p.Weights:], len(p.Steps), p.Kernel))
	}
	c.weights = kernels.Shared(k.b, c.weights)
	k.job = work.NewJob((*integerRun).do)
	return nil
}

// exactParts cuts the steps of a panel where no filter's weights exceed what a part may have.
func exactParts(weights []int8, steps int, kernel asm.QConvKernel) []int {
	var ends []int
	filters := 16 * kernel.Blocks
	sums := make([]int, filters)
	for at := 0; at < steps; at += kernel.Steps {
		more, most := make([]int, filters), 0
		for j, w := range weights[at*16*filters:][:kernel.Steps*16*filters] {
			more[j/4%filters] += max(int(w), -int(w))
		}
		for f := range sums {
			sums[f] += more[f]
			most = max(most, sums[f])
		}
		if most > exactSum && at > 0 {
			ends, sums = append(ends, at), more
		}
	}
	return append(ends, steps)
}

// integerRun is the state of one launch.
type integerRun struct {
	conv      *integerConv
	in        work.Bytes4
	out       []int32
	zero      byte // of the input, as its bytes are
	workspace []byte
}

// Launch computes the layer.
func (k *integerConv) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	r := integerRun{conv: k, in: work.Bytes(k.b.In[0], in[0]), out: numeric.View[int32](out[0].Host), workspace: ws.Host}
	switch {
	case k.b.Layer.Input(2) == nil:
	case k.b.Consts[2] != nil:
		r.zero = k.b.Consts[2][0]
	default:
		r.zero = in[2].Host[0]
	}
	k.job.Run(work.Loop(st), k.cfg.Workers, k.shape.Batch*k.runs(), r)
	return nil
}

// do computes a unit: a run of pixels of an image.
func (r *integerRun) do(u, worker int) {
	k := r.conv
	scratch := r.workspace[worker*k.scratch():][:k.scratch()]
	rows, sums := scratch[:k.run*k.row], numeric.View[float32](scratch[work.RoundUp64(k.run*k.row):])
	image, from := u/k.runs(), u%k.runs()*k.run
	n := min(k.run, k.count()-from)
	first, last := -1, -1 // the channels that the rows have
	for i := range k.panels {
		p := &k.panels[i]
		if p.first != first || p.last != last {
			first, last = p.first, p.last
			for x := range n {
				k.fill(rows[x*k.row:][:k.row], r.in.Data[image*r.in.Image:], r.in.Plane, r.zero, first, last, from+x)
			}
		}
		for at := 0; at < n; at += integerPixels {
			r.panel(i, rows, k.pixels[at:min(n, at+integerPixels)], sums, image, from+at)
		}
	}
}

// panel computes some pixels of a panel, the first of which is given, part by part.
func (r *integerRun) panel(i int, rows []byte, pixels []int32, sums []float32, image, first int) {
	k := r.conv
	p, zero, width := &k.panels[i], int32(r.zero), k.panels[i].Kernel.Blocks*work.Lanes
	if k.cfg.Signed {
		zero ^= 0x80
	}
	channel := p.Block * work.Lanes
	requant := asm.Requant{Scale: eachOne[:width], Bias: noBias[:width], Outer: programs.NoLimits(), OutScale: 1, Float: sums, OutPixel: width, OutBlock: work.Lanes}
	from := 0
	for _, to := range k.parts[i] {
		call := asm.QConvCall{In: rows, Steps: p.Steps[from:to], Weights: k.weights[p.Weights+from*16*width:], Start: noStart[:width]}
		p.Strip(call, pixels, requant)
		for f := range min(width, k.shape.Filters-channel) {
			out := r.out[(image*k.shape.Filters+channel+f)*k.count()+first:][:len(pixels)]
			if from == 0 {
				for x := range out {
					out[x] = zero * k.start[channel+f]
				}
			}
			for x := range out {
				out[x] += int32(sums[x*width+f])
			}
		}
		from = to
	}
}
