package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// LinearAttentionAttrs are the attributes of a linear attention.
type LinearAttentionAttrs struct {
	Heads, KVHeads int     // of queries, and of keys and values
	Scale          float32 // of results; 0: 1/sqrt(size of a head)
	Gated          bool    // the state fades before each place, by the exponential of input 4
	Delta          bool    // what the state already has for a key is taken from the value, times input 5
}

// The inputs of a linear attention behind q, k and v.
const (
	LinearAttentionPast  = 3 + iota // optional: the state before the first place, [B,KVHeads,D,Dv]; zeros without
	LinearAttentionDecay            // if Gated: logarithms, for each component of keys, [B,T,KVHeads*D], or for heads, [B,T,KVHeads]
	LinearAttentionBeta             // if Delta: [B,T,KVHeads] or [B,T,1]
)

// LinearAttention adds, place after place, the outer product of key and value to a state of each head of keys, and its result is the
// product of query and state. q, k and v have their heads in the last axis, [B,T,Heads*D]; there may be fewer heads of keys, of which
// each serves as many of queries that follow each other. Output 1 is the last state.
var LinearAttention = &Op{
	Name:  "LinearAttention",
	Attrs: LinearAttentionAttrs{},
	Onnx:  []string{"LinearAttention"},
	Class: ClassReduction, Inputs: []Role{Data, Data, Data, Data, Coefficients}, Memory: Written,
	Moves: computed,
	FLOPs: linearAttentionFLOPs, Products: linearAttentionProducts,
	Infer:  inferLinearAttention,
	Eval:   evalLinearAttention,
	Import: importLinearAttention,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(LinearAttentionAttrs)
		attrs := Attributes{"q_num_heads": a.Heads, "kv_num_heads": a.KVHeads, "update_rule": a.rule()}
		if a.Scale != 0 {
			attrs["scale"] = a.Scale
		}
		for len(e.outputs) < 2 { // ONNX's has both
			e.outputs = append(e.outputs, e.unique(e.Layer.Name+"_state"))
		}
		return e.NodeSince(27, "LinearAttention", attrs)
	},
}

var linearAttentionRules = map[string]LinearAttentionAttrs{
	"linear": {}, "gated": {Gated: true}, "delta": {Delta: true}, "gated_delta": {Gated: true, Delta: true},
}

// rule returns ONNX's name of how the state changes.
func (a LinearAttentionAttrs) rule() string {
	for name, r := range linearAttentionRules {
		if r.Gated == a.Gated && r.Delta == a.Delta {
			return name
		}
	}
	return ""
}

func importLinearAttention(n *Node) (any, []*Tensor, error) {
	rule := n.String("update_rule", "gated_delta")
	a, ok := linearAttentionRules[rule]
	if !ok {
		return nil, nil, fmt.Errorf("update_rule %q is unknown; it is linear, gated, delta or gated_delta", rule)
	}
	n.Int("chunk_size", 64) // how kernels of runtimes divide the places
	a.Heads, a.KVHeads, a.Scale = n.Int("q_num_heads", 0), n.Int("kv_num_heads", 0), n.Float("scale", 0)
	return a, n.Inputs, nil
}

// linearAttentionDims returns batch, places, and the sizes of a head's keys and values.
func (l *Layer) linearAttentionDims() (dims [4]symbolic.Dim, err error) {
	a := l.Attrs.(LinearAttentionAttrs)
	if a.Heads < 1 || a.KVHeads < 1 || a.Heads%a.KVHeads != 0 {
		return dims, fmt.Errorf("%d heads of queries cannot share %d heads of keys", a.Heads, a.KVHeads)
	}
	for i, heads := range []int{a.Heads, a.KVHeads, a.KVHeads} {
		x, err := l.needReal(i)
		if err != nil {
			return dims, err
		}
		if len(x.Dims) != 3 {
			return dims, fmt.Errorf("input %d is %s, want [batch, places, heads*size]", i, x.TypeString())
		}
		batch, _, places, size, err := operand(x, heads)
		if err != nil {
			return dims, err
		}
		have := [4]symbolic.Dim{batch, places, size, size}
		if i == 0 {
			dims = have
		}
		if conflict(batch, dims[0]) || conflict(places, dims[1]) || i < 2 && conflict(size, dims[2]) {
			return dims, fmt.Errorf("input %d is %s, which does not fit q, %s", i, x.TypeString(), l.Inputs[0].TypeString())
		}
		dims[3] = size
	}
	return dims, nil
}

func inferLinearAttention(l *Layer) error {
	a := l.Attrs.(LinearAttentionAttrs)
	n, err := l.linearAttentionDims()
	if err != nil {
		return err
	}
	state := []symbolic.Dim{n[0], symbolic.Const(a.KVHeads), n[2], n[3]}
	heads := symbolic.Const(a.KVHeads)
	for _, in := range []struct {
		i        int
		required bool
		shapes   [][]symbolic.Dim
	}{
		{LinearAttentionPast, false, [][]symbolic.Dim{state}},
		{LinearAttentionDecay, a.Gated, [][]symbolic.Dim{{n[0], n[1], heads}, {n[0], n[1], n[2].Mul(heads)}}},
		{LinearAttentionBeta, a.Delta, [][]symbolic.Dim{{n[0], n[1], heads}, {n[0], n[1], symbolic.Const(1)}}},
	} {
		t := l.Input(in.i)
		if t == nil && !in.required {
			continue
		}
		if _, err := l.needReal(in.i); err != nil {
			return err
		}
		fits := false
		for _, shape := range in.shapes {
			fits = fits || SameShape(t.Dims, shape)
		}
		if !fits {
			return fmt.Errorf("input %d is %s, want %s", in.i, t.TypeString(), symbolic.Format(in.shapes[0]))
		}
	}
	if len(l.Outputs) > 2 {
		return fmt.Errorf("%d outputs, want at most 2", len(l.Outputs))
	}
	q := l.Inputs[0]
	for i, dims := range [][]symbolic.Dim{{n[0], n[1], n[3].Mul(symbolic.Const(a.Heads))}, state}[:len(l.Outputs)] {
		l.Outputs[i].Type, l.Outputs[i].Dims = q.RealType(), dims
	}
	return nil
}

// linearAttentionProducts counts two for each multiply-add of a query, of an outer product and of what the state has for a key.
func linearAttentionProducts(l *Layer, env map[string]int) int64 {
	a := l.Attrs.(LinearAttentionAttrs)
	n, err := l.linearAttentionDims()
	if err != nil {
		return 0
	}
	each := 2*a.Heads + 2*a.KVHeads
	if a.Delta {
		each += 2 * a.KVHeads
	}
	return int64(numeric.Count(symbolic.Eval(n[:], env))) * int64(each)
}

// linearAttentionFLOPs counts two for each multiply-add of a query, of an outer product and of what the state has for a key, and
// one for each element that fades.
func linearAttentionFLOPs(l *Layer, env map[string]int) int64 {
	a := l.Attrs.(LinearAttentionAttrs)
	n, err := l.linearAttentionDims()
	if err != nil {
		return 0
	}
	each := 2*a.Heads + 2*a.KVHeads
	if a.Gated {
		each += a.KVHeads
	}
	if a.Delta {
		each += 2 * a.KVHeads
	}
	return int64(numeric.Count(symbolic.Eval(n[:], env))) * int64(each)
}

func evalLinearAttention(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(LinearAttentionAttrs)
	q := in[0].Dims
	e := linearAttentionEval{LinearAttentionAttrs: a, size: q[2] / a.Heads, valueSize: in[2].Dims[2] / a.KVHeads}
	if e.Scale == 0 {
		e.Scale = float32(1 / math.Sqrt(float64(e.size)))
	}
	e.state = make([]float64, e.size*e.valueSize)
	given := func(i int) numeric.Value { return optional(in, i) }
	for b := range q[0] {
		for h := range a.KVHeads {
			clear(e.state)
			at := (b*a.KVHeads + h) * len(e.state)
			if past := given(LinearAttentionPast); past.Dims != nil {
				for i := range e.state {
					e.state[i] = float64(past.F32()[at+i])
				}
			}
			for t := range q[1] {
				row := b*q[1] + t
				e.update(in[1].F32()[(row*a.KVHeads+h)*e.size:], in[2].F32()[(row*a.KVHeads+h)*e.valueSize:],
					perHead(given(LinearAttentionDecay), row, h, a.KVHeads, a.Gated), perHead(given(LinearAttentionBeta), row, h, a.KVHeads, a.Delta))
				for g := h * (a.Heads / a.KVHeads); g < (h+1)*(a.Heads/a.KVHeads); g++ {
					e.query(out[0].F32()[(row*a.Heads+g)*e.valueSize:], in[0].F32()[(row*a.Heads+g)*e.size:])
				}
			}
			if len(out) > 1 {
				for i, s := range e.state {
					out[1].F32()[at+i] = float32(s)
				}
			}
		}
	}
	return nil
}

// perHead returns the coefficients of a head at one place of an item: one, or one for each component. nil: there are none.
func perHead(v numeric.Value, row, head, heads int, used bool) []float32 {
	if !used {
		return nil
	}
	last := v.Dims[2]
	all := v.F32()[row*last : (row+1)*last]
	if last < heads { // one for all heads
		return all
	}
	each := last / heads
	return all[head*each : (head+1)*each]
}

// linearAttentionEval is the state of one head.
type linearAttentionEval struct {
	LinearAttentionAttrs
	size, valueSize int
	state           []float64 // [size,valueSize]
}

func (e *linearAttentionEval) update(k, v, decay, beta []float32) {
	for i := range e.size {
		if decay == nil {
			break
		}
		fade := math.Exp(float64(decay[i%len(decay)]))
		for j := range e.valueSize {
			e.state[i*e.valueSize+j] *= fade
		}
	}
	for j := range e.valueSize {
		value := float64(v[j])
		if beta != nil {
			for i := range e.size {
				value -= e.state[i*e.valueSize+j] * float64(k[i])
			}
			value *= float64(beta[0])
		}
		for i := range e.size {
			e.state[i*e.valueSize+j] += float64(k[i]) * value
		}
	}
}

func (e *linearAttentionEval) query(y, q []float32) {
	for j := range e.valueSize {
		sum := 0.0
		for i := range e.size {
			sum += float64(q[i]) * e.state[i*e.valueSize+j]
		}
		y[j] = float32(sum * float64(e.Scale))
	}
}
