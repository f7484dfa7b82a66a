package reductions

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// momentTactics are the normalisations by statistics of the input's own rows, or of what lies along other axes.
func momentTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.LayerNorm, graph.RMSNorm, graph.InstanceNorm, graph.GroupNorm, graph.LpNorm, graph.MeanVarianceNorm} {
		list = append(list, emit.Tactic{
			Name: "normalize_rows_linear", Op: op, In: kernels.Linear, Out: kernels.Linear,
			Match: func(b kernels.Binding) error {
				_, err := momentsOf(b)
				return err
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				m, err := momentsOf(b)
				if err != nil {
					return nil, err
				}
				return m.emit()
			},
			Cost: func(b kernels.Binding) []emit.Job {
				m, err := momentsOf(b)
				if err != nil {
					return nil
				}
				return []emit.Job{m.job()}
			},
		})
	}
	return list
}

// moments is a normalisation of rows, of neighbours but where axes says otherwise: (x - mean) / spread, then a program of what the layer multiplies and
// adds by element, and of its epilogue.
type moments struct {
	binding       kernels.Binding // with parameters in the form in which they broadcast
	params        []int           // the inputs that the program takes behind the quotient, before the epilogue's
	program       elementwise.Program
	outer, length int
	axes          *reducedPlaces // of rows that are not of neighbours
	x             emit.Storage
	centred       bool // the mean is taken off
	power         int  // 1: the spread is the sum of magnitudes, 2: the root of the sum of squares; 0: of their mean
	epsilon       float32
	outside       bool // epsilon is added to the root, not under it
}

func momentsOf(b kernels.Binding) (*moments, error) {
	in := b.Layer.Inputs[0]
	if b.Consts[0] != nil || emit.Storable(in) != nil || in.Type == numeric.Bool {
		return nil, fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
	}
	for _, t := range b.Layer.Outputs[1:] {
		if err := emit.Storable(t); err != nil {
			return nil, err
		}
	}
	x := b.In[0].Dims
	if numeric.Count(x) == 0 {
		return nil, fmt.Errorf("the tensor is empty")
	}
	m := &moments{binding: b, x: emit.Storage{Type: in.Type, Range: in.Range}, centred: true}
	if err := m.attributes(b); err != nil {
		return nil, err
	}
	m.length = numeric.Count(x) / m.outer
	if err := emit.ThreadsFit(m.outer * mostThreads(m.length)); err != nil {
		return nil, err
	}
	m.programOf()
	one := m.binding
	one.Out = one.Out[:1]
	if err := emit.CheckArguments(one, m.program, len(b.Layer.OpInputs())); err != nil {
		return nil, err
	}
	_, err := emit.Arguments(one, m.params, one.Out[0], new([]byte))
	return m, err
}

// attributes reads what the layer's op asks for: what a row is, how it is normalised, and by what multiplied.
func (m *moments) attributes(b kernels.Binding) error {
	x := b.In[0].Dims
	first, rank := 0, len(x)
	switch a := b.Layer.Attrs.(type) {
	case graph.LayerNormAttrs:
		m.centred, m.epsilon, first = b.Layer.Op == graph.LayerNorm, a.Epsilon, (a.Axis+rank)%rank
		for i := 1; i < len(b.Layer.OpInputs()); i++ {
			if b.Layer.Inputs[i] != nil {
				m.params = append(m.params, i)
			}
		}
	case graph.InstanceNormAttrs:
		m.epsilon, first = a.Epsilon, 2
		if err := m.byChannel(1); err != nil {
			return err
		}
	case graph.GroupNormAttrs:
		m.epsilon, m.outer = a.Epsilon, x[0]*a.Groups
		repeat := 1
		if a.PerGroup {
			repeat = x[1] / a.Groups
		}
		return m.byChannel(repeat)
	case graph.LpNormAttrs:
		m.centred, m.power = false, a.P
		m.along(x, []int{a.Axis})
		return nil
	case graph.MeanVarianceNormAttrs:
		m.epsilon, m.outside = 1e-9, true
		m.along(x, a.Axes)
		return nil
	}
	m.outer = numeric.Count(x[:first])
	return nil
}

// along makes rows of what lies along some axes.
func (m *moments) along(dims, axes []int) {
	sorted := make([]int, len(axes))
	for i, a := range axes {
		sorted[i] = (a + len(dims)) % len(dims)
	}
	slices.Sort(sorted)
	outer, length, inner, places := reducedShape(dims, sorted)
	if m.outer, m.axes = outer*inner, places; inner > 1 && places == nil {
		m.axes = &reducedPlaces{kept: []emit.Axis{{Extent: outer, Stride: length * inner}, {Extent: inner, Stride: 1}}, along: []emit.Axis{{Extent: length, Stride: inner}}}
	}
}

// byChannel makes scale and bias, inputs 1 and 2, broadcast along the channels; constants are repeated for so many each.
func (m *moments) byChannel(repeat int) error {
	b := &m.binding
	b.In, b.Consts = append([]kernels.Desc(nil), b.In...), append([][]byte(nil), b.Consts...)
	for i := 1; i <= 2; i++ {
		d := b.In[i]
		if repeat > 1 {
			if b.Consts[i] == nil {
				return fmt.Errorf("scale or bias by group is no constant")
			}
			size := d.Type.Size()
			var data []byte
			for at := 0; at < len(b.Consts[i]); at += size {
				for range repeat {
					data = append(data, b.Consts[i][at:at+size]...)
				}
			}
			b.Consts[i] = data
		}
		dims := make([]int, len(b.In[0].Dims)-1) // [C, 1, ...]
		for j := range dims {
			dims[j] = 1
		}
		dims[0] = d.Dims[0] * repeat
		b.In[i].Dims = dims
		m.params = append(m.params, i)
	}
	return nil
}

// programOf composes what becomes of a quotient: times the first parameter, plus the second, then the epilogue.
func (m *moments) programOf() {
	m.program = emit.Identity()
	for i := range m.params {
		op := []elementwise.Op{elementwise.Mul, elementwise.Add}[i]
		m.program = m.program.Then(elementwise.Binary(op), 0)
	}
	if e := m.binding.Layer.Epilogue; e.Args > 0 {
		m.program = m.program.Then(e, 0)
	}
}

// output places what the program reads behind the quotient.
func (m *moments) output(w *emit.Work) (*emit.RowOutput, error) {
	out, err := emit.PlainOutput(m.binding, w)
	if err != nil {
		return nil, err
	}
	params, err := emit.Arguments(m.binding, m.params, m.binding.Out[0], &w.Constants)
	if err != nil {
		return nil, err
	}
	out.Precede(params, m.program)
	return out, nil
}

// share returns how threads share a row.
func (m *moments) share(out *emit.RowOutput) rowShare {
	most, _ := out.Aligned()
	if most = min(most, 16/min(m.x.Type.Size(), out.Y.Type.Size())); m.axes != nil {
		most = 1
	}
	return newRowShare(m.length, most, most, false)
}

// job estimates the launch.
func (m *moments) job() emit.Job {
	const element, again = 10, 22 // instructions of a thread for an element: kept, read each time
	out, err := m.output(new(emit.Work))
	if err != nil {
		return emit.Job{Blocks: 1, Bytes: emit.Traffic(m.binding)}
	}
	s, bytes := m.share(out), emit.Traffic(m.binding)
	each := element
	if !s.keeps() {
		each, bytes = again, bytes+2*float64(m.binding.In[0].Bytes())
	}
	return emit.ThreadJob(m.outer*s.threads, 120+each*s.vectors()*s.n, bytes)
}

func (m *moments) emit() (*emit.Work, error) {
	w := emit.NewWork()
	out, err := m.output(w)
	if err != nil {
		return nil, err
	}
	share := m.share(out)
	k, l := w.Threads("normalize", m.outer*share.threads)
	m.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	var stats []emit.Storage
	for i, t := range m.binding.Layer.Outputs[1:] {
		stats = append(stats, emit.Storage{Type: t.Type, Range: t.Range, Base: l.Output(k, i+1)})
	}
	line := &momentLine{moments: m, rowLine: newRowLine(k, share, m.x, m.outer)}
	if line.begin(k.Mul(line.row, ptx.U(m.length))); m.axes != nil {
		line.begin(emit.RowOffset(k, line.row, m.axes.kept))
		line.place = func(i ptx.Uint) ptx.Uint { return k.Add(line.first, emit.RowOffset(k, i, m.axes.along)) }
	}
	line.load()
	mean, factor := line.statistics()
	line.each(func(i ptx.Uint, x []ptx.Float) {
		y := make([]ptx.Float, len(x))
		for j, v := range x {
			y[j] = k.MulF(k.SubF(v, mean), factor)
		}
		line.where(func() {
			r, column := line.row, i
			if m.axes != nil || out.Width != m.length {
				r, column = k.DivRem(line.at(i), out.Width)
			}
			out.Store(k, r, column, y)
		})
	})
	if len(stats) > 0 {
		line.where(func() {
			k.If(k.Eq(line.lane, ptx.U(0)), func() {
				for i, s := range stats {
					s.Store(k, line.row, []ptx.Float{[]ptx.Float{mean, factor}[i]})
				}
			})
		})
	}
	w.End(k, l)
	return w, nil
}

// momentLine is the code for one row.
type momentLine struct {
	*moments
	*rowLine
}

// statistics returns a row's mean, or 0, and the reciprocal of its spread. Two passes keep what a sum of squares would lose.
func (m *momentLine) statistics() (mean, factor ptx.Float) {
	mean = ptx.F(0)
	part := 1 / float32(m.moments.length)
	if m.centred {
		sum := m.VarF(ptx.F(0))
		m.each(func(_ ptx.Uint, x []ptx.Float) {
			for _, v := range x {
				m.SetF(sum, m.AddF(sum, v))
			}
		})
		mean = m.MulF(m.across("mean", sum, (*ptx.K).AddF), ptx.F(part))
	}
	sum := m.VarF(ptx.F(0))
	m.each(func(_ ptx.Uint, x []ptx.Float) {
		for _, v := range x {
			if d := m.SubF(v, mean); m.power == 1 {
				m.SetF(sum, m.AddF(sum, m.AbsF(d)))
			} else {
				m.SetF(sum, m.Fma(d, d, sum))
			}
		}
	})
	spread := m.across("spread", sum, (*ptx.K).AddF)
	switch {
	case m.power == 1:
	case m.power == 2:
		spread = m.Sqrt(spread)
	case m.outside:
		spread = m.AddF(m.Sqrt(m.MulF(spread, ptx.F(part))), ptx.F(m.epsilon))
	default:
		spread = m.Sqrt(m.Fma(spread, ptx.F(part), ptx.F(m.epsilon)))
	}
	factor = m.Rcp(spread)
	if m.power > 0 { // of a row of zeros the result is 0
		factor = m.SelectF(m.EqF(spread, ptx.F(0)), ptx.F(0), factor)
	}
	return mean, factor
}
