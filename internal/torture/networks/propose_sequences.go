package networks

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// sequences are the operators that go through sequences, and those of signals.
func sequences() map[string]proposal {
	t := map[string]proposal{
		"LSTM": {make: func(g *generator) *Node { return g.recurrent("LSTM", 4, 3) }},
		"GRU":  {make: func(g *generator) *Node { return g.recurrent("GRU", 3, 2) }},
		"RNN":  {make: func(g *generator) *Node { return g.recurrent("RNN", 1, 1) }},
		"ReverseSequence": {since: 10, make: func(g *generator) *Node {
			x := g.any(2, 4)
			batch := g.rnd.IntN(2)
			lengths := g.positions(x.dims()[1-batch]+1, false, x.dims()[batch])
			return node(attrs{"batch_axis": intOf(batch), "time_axis": intOf(1 - batch)}, x.Name, lengths)
		}},
		"DFT": {since: 17, make: func(g *generator) *Node {
			n, parts := 1+g.rnd.IntN(20), 1+g.rnd.IntN(2)
			a := attrs{"inverse": boolOf(parts == 2 && g.flip())}
			if parts == 1 && g.flip() {
				a["onesided"] = intOf(1)
			}
			x := g.input(numeric.F32, 1+g.rnd.IntN(3), n, parts).Name
			if g.flip() {
				return node(a, x)
			}
			return node(a, x, g.scalar(numeric.I64, float64(1+g.rnd.IntN(20))))
		}},
		"STFT": {since: 17, make: func(g *generator) *Node {
			length := 1 + g.rnd.IntN(12)
			dims := []int{1 + g.rnd.IntN(2), length + g.rnd.IntN(30), 1}
			x := g.input(numeric.F32, dims[:2+g.rnd.IntN(2)]...).Name
			step := g.scalar(numeric.I64, float64(1+g.rnd.IntN(6)))
			a := attrs{"onesided": boolOf(g.flip())}
			if g.flip() {
				return node(a, x, step, g.weights(1, length))
			}
			return node(a, x, step, "", g.scalar(numeric.I64, float64(length)))
		}},
		"MelWeightMatrix": {since: 17, make: func(g *generator) *Node {
			rate := float64(8000 * (1 + g.rnd.IntN(2)))
			return node(nil, g.scalar(numeric.I64, float64(1+g.rnd.IntN(9))), g.scalar(numeric.I64, float64(32+g.rnd.IntN(99))), g.scalar(numeric.I64, rate),
				g.scalar(numeric.F32, float64(g.rnd.IntN(300))), g.scalar(numeric.F32, rate/2-500))
		}},
	}
	for _, name := range []string{"HannWindow", "HammingWindow", "BlackmanWindow"} {
		t[name] = proposal{since: 17, make: func(g *generator) *Node {
			return node(attrs{"periodic": boolOf(g.flip())}, g.scalar(numeric.I64, float64(2+g.rnd.IntN(40))))
		}}
	}
	return t
}

// recurrent returns a recurrent operator of so many gates and activations, with some of its optional inputs.
func (g *generator) recurrent(op string, gates, functions int) *Node {
	x := g.real(3, 3)
	d, hidden := x.dims(), 1+g.rnd.IntN(20)
	way, ways := []string{"forward", "reverse", "bidirectional"}[g.rnd.IntN(3)], 1
	if way == "bidirectional" {
		ways = 2
	}
	a := attrs{"hidden_size": intOf(hidden), "direction": stringOf(way)}
	in := []string{x.Name, g.weights(d[2], ways, gates*hidden, d[2]), g.weights(hidden, ways, gates*hidden, hidden), "", "", "", "", ""}
	if g.flip() {
		in[3] = g.weights(1, ways, 2*gates*hidden)
	}
	if g.rnd.IntN(3) == 0 {
		lengths := numeric.NewValue(numeric.I32, d[1])
		for i := range lengths.I32() {
			lengths.I32()[i] = int32(min(d[0], 1+g.rnd.IntN(max(1, d[0]))))
		}
		in[4] = g.constant(lengths)
	}
	if g.flip() {
		in[5] = g.input(numeric.F32, ways, d[1], hidden).Name
	}
	n := node(a, in...)
	n.Out = make([]string, 1+g.rnd.IntN(2))
	switch op {
	case "LSTM":
		if n.Out = make([]string, 1+g.rnd.IntN(3)); g.flip() {
			in[6] = g.input(numeric.F32, ways, d[1], hidden).Name
		}
		if g.flip() {
			in[7] = g.weights(1, ways, 3*hidden)
		}
		a["input_forget"] = boolOf(g.rnd.IntN(5) == 0)
	case "GRU":
		a["linear_before_reset"] = boolOf(g.flip())
	}
	if g.rnd.IntN(4) == 0 {
		a["clip"] = floatOf(0.5)
	}
	if g.rnd.IntN(3) == 0 {
		list := graph.Attr{Kind: graph.AttrStrings}
		for range ways * functions {
			list.Strings = append(list.Strings, []string{"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign", "LeakyRelu", "Elu", "Softplus"}[g.rnd.IntN(8)])
		}
		a["activations"] = list
	}
	for n.In = in; n.In[len(n.In)-1] == ""; {
		n.In = n.In[:len(n.In)-1]
	}
	return n
}
