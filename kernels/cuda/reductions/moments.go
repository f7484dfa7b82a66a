package reductions

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
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
				t := m.threads()
				return []emit.Job{emit.ThreadJob(m.outer*t, 16*emit.CeilDiv(m.length, t)+120, emit.Traffic(b))}
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
	program       graph.Program
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
	if b.Consts[0] != nil || emit.Storable(in) != nil || in.Type == graph.Bool {
		return nil, fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
	}
	x := b.In[0].Dims
	if graph.Count(x) == 0 {
		return nil, fmt.Errorf("the tensor is empty")
	}
	m := &moments{binding: b, x: emit.Storage{Type: in.Type, Range: in.Range}, centred: true}
	if err := m.attributes(b); err != nil {
		return nil, err
	}
	m.length = graph.Count(x) / m.outer
	if err := emit.ThreadsFit(m.outer * m.threads()); err != nil {
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
	m.outer = graph.Count(x[:first])
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
		op := []graph.EltOp{graph.EltMul, graph.EltAdd}[i]
		m.program = m.program.Then(graph.Binary(op), 0)
	}
	if e := m.binding.Layer.Epilogue; e.Args > 0 {
		m.program = m.program.Then(e, 0)
	}
}

// threads returns how many threads share a row.
func (m *moments) threads() int {
	if m.length <= rowInWarp {
		return 32
	}
	return emit.BlockThreads
}

func (m *moments) emit() (*emit.Work, error) {
	b := m.binding
	w := emit.NewWork()
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	params, err := emit.Arguments(b, m.params, b.Out[0], &w.Constants)
	if err != nil {
		return nil, err
	}
	out.Precede(params, m.program)
	t := m.threads()
	k, l := w.Threads("normalize", m.outer*t)
	m.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	var stats []ptx.GlobalPtr
	for i := 1; i < len(b.Out); i++ {
		stats = append(stats, l.Output(k, i))
	}
	row, lane := k.DivRem(emit.ThreadIndex(k, m.outer*t), t)
	line := &momentLine{moments: m, K: k, out: out, threads: t, lane: lane}
	if line.first = k.Mul(row, ptx.U(m.length)); m.axes != nil {
		line.first = emit.RowOffset(k, row, m.axes.kept)
	}
	mean, factor := line.statistics()
	line.each(func(i ptx.Uint, x ptx.Float) {
		at := line.place(i)
		r, column := k.DivRem(at, out.Width)
		out.Store(k, r, column, []ptx.Float{k.MulF(k.SubF(x, mean), factor)})
	})
	if len(stats) > 0 {
		k.If(k.Eq(lane, ptx.U(0)), func() {
			for i, p := range stats {
				k.StoreF(k.Offset(p, row, 4), []ptx.Float{mean, factor}[i])
			}
		})
	}
	w.End(k, l)
	return w, nil
}

// momentLine is the code for one row.
type momentLine struct {
	*moments
	*ptx.K
	out      *emit.RowOutput
	threads  int
	lane     ptx.Uint
	first    ptx.Uint // element of the input
	elements []ptx.Float
}

// place is where element i of the row lies.
func (m *momentLine) place(i ptx.Uint) ptx.Uint {
	if m.axes != nil {
		i = emit.RowOffset(m.K, i, m.axes.along)
	}
	return m.Add(m.first, i)
}

// each runs body for the thread's elements: their index and value. Up to kept of them stay in registers.
func (m *momentLine) each(body func(i ptx.Uint, x ptx.Float)) {
	load := func(i ptx.Uint) ptx.Float {
		return m.x.LoadOne(m.K, m.Offset(m.x.Base, m.place(i), m.x.Type.Size()))
	}
	count := emit.CeilDiv(m.length, m.threads)
	if count > kept {
		m.For(m.lane, ptx.U(m.length), ptx.U(m.threads), func(i ptx.Uint) { body(i, load(i)) })
		return
	}
	read := m.elements == nil
	for e := range count {
		i := m.Add(m.lane, ptx.U(e*m.threads))
		if read {
			m.elements = append(m.elements, m.VarF(ptx.F(0)))
		}
		one := func() {
			if read {
				m.SetF(m.elements[e], load(i))
			}
			body(i, m.elements[e])
		}
		if (e+1)*m.threads <= m.length {
			one()
		} else {
			m.If(m.Lt(i, ptx.U(m.length)), one)
		}
	}
}

// statistics returns a row's mean, or 0, and the reciprocal of its spread. Two passes keep what a sum of squares would lose.
func (m *momentLine) statistics() (mean, factor ptx.Float) {
	mean = ptx.F(0)
	if m.centred {
		sum := m.VarF(ptx.F(0))
		m.each(func(_ ptx.Uint, x ptx.Float) { m.SetF(sum, m.AddF(sum, x)) })
		mean = m.MulF(m.across("mean", sum), ptx.F(1/float32(m.length)))
	}
	sum := m.VarF(ptx.F(0))
	m.each(func(_ ptx.Uint, x ptx.Float) {
		if d := m.SubF(x, mean); m.power == 1 {
			m.SetF(sum, m.AddF(sum, m.AbsF(d)))
		} else {
			m.SetF(sum, m.Fma(d, d, sum))
		}
	})
	spread := m.across("spread", sum)
	switch {
	case m.power == 1:
	case m.power == 2:
		spread = m.Sqrt(spread)
	case m.outside:
		spread = m.AddF(m.Sqrt(m.MulF(spread, ptx.F(1/float32(m.length)))), ptx.F(m.epsilon))
	default:
		spread = m.Sqrt(m.Fma(spread, ptx.F(1/float32(m.length)), ptx.F(m.epsilon)))
	}
	factor = m.Rcp(spread)
	if m.power > 0 { // of a row of zeros the result is 0
		factor = m.SelectF(m.EqF(spread, ptx.F(0)), ptx.F(0), factor)
	}
	return mean, factor
}

// across is the sum over all threads of the row, which each of them gets.
func (m *momentLine) across(name string, v ptx.Float) ptx.Float {
	for mask := 16; mask > 0; mask /= 2 {
		v = m.AddF(v, m.ShuffleXor(v, mask))
	}
	if m.threads == 32 {
		return v
	}
	warps := m.threads / 32
	shared := m.Array(name, 4*warps, 16)
	warp, lane := m.Shr(m.lane, 5), m.And(m.lane, ptx.U(31))
	m.If(m.Eq(lane, ptx.U(0)), func() { m.StoreSharedF(m.OffsetShared(shared, warp, 4), v) })
	m.Barrier()
	v = ptx.F(0)
	for i := 0; i < warps; i += 4 {
		for _, x := range m.LoadSharedF(shared.At(4*i), 4) {
			v = m.AddF(v, x)
		}
	}
	return v
}
