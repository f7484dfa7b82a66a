package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// recurrence is a recurrent layer: its op, extents, attributes, and what it has of the optional inputs.
type recurrence struct {
	op                           *graph.Op
	steps, batch, size, hidden   int
	direction                    graph.Direction
	batchFirst, variant, lengths bool // variant: the attribute of the op's own
	bias, state                  bool
	clip                         float32
	activations                  []graph.RecurrentActivation // of one direction
	outputs                      int
}

// recurrences have one place and element, sizes around a vector's, both directions, lengths of their own, and all attributes.
func (m *maker) recurrences() {
	odd := map[*graph.Op][]graph.RecurrentActivation{
		graph.LSTM: {{Op: "HardSigmoid", Alpha: 0.3, Beta: 0.4}, {Op: "ScaledTanh", Alpha: 0.7, Beta: 0.6}, {Op: "Softsign"}},
		graph.GRU:  {{Op: "Sigmoid"}, {Op: "LeakyRelu", Alpha: 0.1}},
		graph.RNN:  {{Op: "Elu", Alpha: 0.5}},
	}
	for _, op := range []*graph.Op{graph.LSTM, graph.GRU, graph.RNN} {
		for _, r := range []recurrence{
			{steps: 1, batch: 1, size: 1, hidden: 1, outputs: 1},
			{steps: 6, batch: 1, size: 5, hidden: 17, bias: true, state: true, outputs: 3},
			{steps: 7, batch: 3, size: 9, hidden: 33, direction: graph.Bidirectional, lengths: true, batchFirst: true, bias: true, outputs: 3},
			{steps: 8, batch: 2, size: 16, hidden: 16, direction: graph.Reverse, variant: true, bias: true, clip: 0.7, activations: odd[op], outputs: 2},
			{steps: 6, batch: 10, size: 20, hidden: 31, direction: graph.Reverse, lengths: true, variant: true, state: true, outputs: 2},
			{steps: 3, batch: 1, size: 40, hidden: 128, bias: true, outputs: 3},
		} {
			r.op = op
			for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
				if t == numeric.F32 || r.batch < 3 {
					m.recurrence(r, t)
				}
			}
		}
	}
}

func (m *maker) recurrence(r recurrence, t numeric.DataType) {
	a := graph.RecurrentAttrs{Hidden: r.hidden, Direction: r.direction, BatchFirst: r.batchFirst, Clip: r.clip}
	gates, lstm, d := 1, r.op == graph.LSTM, r.direction.Count()
	switch r.op {
	case graph.LSTM:
		gates, a.Coupled = 4, r.variant
	case graph.GRU:
		gates, a.ResetAfter = 3, r.variant
	}
	for range d {
		a.Activations = append(a.Activations, r.activations...)
	}
	x, state := []int{r.steps, r.batch, r.size}, []int{d, r.batch, r.hidden}
	if r.batchFirst {
		x[0], x[1], state[0], state[1] = x[1], x[0], state[1], state[0]
	}
	in := make([]*graph.Tensor, graph.RecurrentPeep+1)
	in[graph.RecurrentX] = m.tensor(t, numeric.Range{}, x...)
	in[graph.RecurrentW] = m.constant(t, numeric.Range{}, 4, d, gates*r.hidden, r.size)
	in[graph.RecurrentR] = m.constant(t, numeric.Range{}, 8, d, gates*r.hidden, r.hidden)
	if r.bias {
		in[graph.RecurrentBias] = m.constant(numeric.F32, numeric.Range{}, 1, d, 2*gates*r.hidden)
	}
	if r.lengths {
		in[graph.RecurrentLengths] = m.tensor(numeric.I32, numeric.Range{}, r.batch)
	}
	if r.state {
		in[graph.RecurrentState] = m.tensor(t, numeric.Range{}, state...)
	}
	if lstm && r.state {
		in[graph.RecurrentCell] = m.tensor(t, numeric.Range{}, state...)
	}
	if lstm && r.bias {
		in[graph.RecurrentPeep] = m.constant(numeric.F32, numeric.Range{}, 1, d, 3*r.hidden)
	}
	for len(in) > 0 && in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	l := m.layer(r.op, a, in...)
	for range min(r.outputs, 2+gates/4) - 1 {
		l.Outputs = append(l.Outputs, &graph.Tensor{Name: fmt.Sprintf("y%d", len(l.Outputs)), Producer: l})
	}
	if err := l.Infer(); err != nil {
		panic(fmt.Sprintf("suite: %v", err))
	}
	m.add(fmt.Sprintf("%s_%s_t%d_b%d_i%d_h%d_%s_%v", r.op.Name, t, r.steps, r.batch, r.size, r.hidden, r.direction, r.batchFirst), l, Tolerance{Real: 1e-5})
}

// signals are spectra, windows, and sequences that are turned around.
func (m *maker) signals() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		x := func(dims ...int) *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
		for _, n := range []int{1, 16, 30, 37} {
			m.add(fmt.Sprintf("dft_%s_%d", t, n), m.layer(graph.DFT, graph.DFTAttrs{Axis: 1, OneSided: true}, x(2, n, 3, 1)), Tolerance{Real: 1e-5})
			m.add(fmt.Sprintf("dft_%s_%d_inverse", t, n), m.layer(graph.DFT, graph.DFTAttrs{Axis: 1, Inverse: true, Length: n + 1}, x(2, n, 2)), Tolerance{Real: 1e-5})
		}
		m.add("stft_"+t.String(), m.layer(graph.STFT, graph.STFTAttrs{Step: 5, OneSided: true}, x(2, 41, 1), m.constant(numeric.F32, numeric.Range{}, 1, 16)), Tolerance{Real: 1e-5})
		m.add("stft_rank2_"+t.String(), m.layer(graph.STFT, graph.STFTAttrs{Step: 5, Length: 16}, x(2, 41)), Tolerance{Real: 1e-5})
	}
	for _, t := range append([]numeric.DataType{numeric.F32, numeric.F16}, integerTypes...) {
		l := m.layer(graph.ReverseSequence, graph.ReverseSequenceAttrs{Batch: 1}, m.tensor(t, numeric.Range{}, 7, 3, 5), m.tensor(numeric.I64, numeric.Range{}, 3))
		m.add("reverse_sequence_"+t.String(), l, Tolerance{})
	}
	for _, op := range []*graph.Op{graph.HannWindow, graph.HammingWindow, graph.BlackmanWindow} {
		m.add(op.Name, m.layer(op, graph.WindowAttrs{Periodic: true, Type: numeric.F32}, m.integers(33)), Tolerance{Real: 1e-6})
	}
	hertz := func(x float32) *graph.Tensor {
		v := numeric.Values(numeric.F32, []float32{x})
		return &graph.Tensor{Name: "hertz", Type: numeric.F32, Weights: v.Data}
	}
	l := m.layer(graph.MelWeightMatrix, graph.MelAttrs{Type: numeric.F32}, m.integers(9), m.integers(64), m.integers(8000), hertz(20), hertz(3900))
	m.add("mel", l, Tolerance{Real: 1e-6})
}
