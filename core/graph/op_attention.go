package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// AttentionAttrs are the attributes of an attention.
type AttentionAttrs struct {
	Heads, KVHeads int     // heads of queries, and of keys and values, of operands that have them in the last axis
	Scale          float32 // of the products of queries and keys; 0: 1/sqrt(size of a head)
	Softcap        float32 // bounds scores s to Softcap * tanh(s/Softcap); 0: no bound
	Causal         bool    // a query does not see the keys behind its own place
	Left, Right    int     // one more than the keys that a query sees in front of and behind its own place; 0: all
	Scores         ScoreStage
	Interleaved    bool // queries and keys are turned as RotaryAttrs says
}

// ScoreStage says how far the scores of output 3 are computed.
type ScoreStage int

// The stages, numbered as ONNX's qk_matmul_output_mode.
const (
	ScoresRaw     ScoreStage = iota // the scaled product of queries and keys
	ScoresCapped                    // bounded
	ScoresMasked                    // with the mask added
	ScoresSoftmax                   // as weights of the values
)

// The inputs of an attention, and its outputs.
const (
	AttentionQ = iota
	AttentionK
	AttentionV
	AttentionMask      // optional: bool, true where a key is seen, or real, added to the scores; it broadcasts to [B,Heads,Sq,Skv]
	AttentionPastK     // optional, with AttentionPastV: keys before those of AttentionK, [B,KVHeads,P,D]
	AttentionPastV     // [B,KVHeads,P,Dv]
	AttentionKVLengths // optional, without a past: how many of the keys are there, I64 [B]
	AttentionCos       // optional, with AttentionSin: queries and keys, not those of the past, are turned first: see [Rotary]
	AttentionSin       // [B,S,D/2]; a B of 1 serves all items
	AttentionSinks     // optional: a score of each head beside those of its keys, of no value, [Heads]
)

// Attention is y = softmax(cap(scale * q kT) + mask) v, for each head. Each of q, k and v has its heads in an axis of their
// own, [B,Heads,S,D], or in the last one, [B,S,Heads*D]; y is as q is. There may be fewer heads of keys and values, of which
// each serves as many heads of queries that follow each other. Outputs 1 and 2 are the keys and values with the past in front,
// [B,KVHeads,P+Skv,D], and output 3 the scores, [B,Heads,Sq,P+Skv]. A query whose mask, window and place leave no key gets
// zeros. The place of query i is i + P, or i + (number of keys that are there) - Sq.
//
// A sink takes its share of each row of its head: the weights of the keys are softmax([scores, sink]) without the last, so that a
// query that sees no key gets zeros.
//
// The softmax is computed in F32 at least, whatever ONNX's softmax_precision. A mask may be shorter than the keys: those behind
// its end are not seen.
var Attention = &Op{
	Name:  "Attention",
	Attrs: AttentionAttrs{},
	Onnx:  []string{"Attention"},
	Class: ClassNorm, Memory: Written,
	Inputs: []Role{Data, Data, Data, Coefficients, Data, Data, Parameter, Coefficients},
	Moves:  computed,
	FLOPs:  attentionFLOPs, Products: attentionProducts, Details: attentionDetails,
	Infer:  inferAttention,
	Eval:   evalAttention,
	Import: importAttention,
	Export: exportAttention,
}

// attentionDims are the extents of an attention.
type attentionDims struct{ batch, heads, kvHeads, queries, keys, past, size, valueSize symbolic.Dim }

// operand splits the dims of q, k or v.
func operand(t *Tensor, heads int) (batch, head, length, size symbolic.Dim, err error) {
	switch d := t.Dims; {
	case len(d) == 4:
		return d[0], d[1], d[2], d[3], nil
	case len(d) != 3:
		err = fmt.Errorf("%s has %d axes, want [batch, heads, length, size] or [batch, length, heads*size]", t.TypeString(), len(d))
	case heads < 1:
		err = fmt.Errorf("%s has its heads in the last axis, but their number is %d", t.TypeString(), heads)
	default:
		if n, ok := d[2].IsConst(); ok && n%heads != 0 {
			return batch, head, length, size, fmt.Errorf("%s: the last axis cannot be split into %d heads", t.TypeString(), heads)
		}
		return d[0], symbolic.Const(heads), d[1], d[2].DivN(heads), nil
	}
	return batch, head, length, size, err
}

// attentionDims returns the extents; errors name the input.
func (l *Layer) attentionDims() (n attentionDims, err error) {
	a := l.Attrs.(AttentionAttrs)
	var q, k, v *Tensor
	for i, t := range []**Tensor{&q, &k, &v} {
		if *t, err = l.needReal(i); err != nil {
			return n, err
		}
	}
	if n.batch, n.heads, n.queries, n.size, err = operand(q, a.Heads); err != nil {
		return n, err
	}
	batch, kvHeads, keys, size, err := operand(k, a.KVHeads)
	if err != nil {
		return n, err
	}
	batchV, headsV, values, valueSize, err := operand(v, a.KVHeads)
	if err != nil {
		return n, err
	}
	n.kvHeads, n.keys, n.valueSize = kvHeads, keys, valueSize
	for _, c := range []struct {
		a, b symbolic.Dim
		what string
	}{
		{n.batch, batch, "batches of q and k"}, {n.batch, batchV, "batches of q and v"}, {n.size, size, "sizes of heads of q and k"},
		{kvHeads, headsV, "numbers of heads of k and v"}, {keys, values, "lengths of k and v"},
	} {
		if conflict(c.a, c.b) {
			return n, fmt.Errorf("the %s differ: %s and %s", c.what, c.a, c.b)
		}
	}
	heads, ok := n.heads.IsConst()
	kv, ok2 := kvHeads.IsConst()
	if ok && ok2 && (kv < 1 || heads%kv != 0) {
		return n, fmt.Errorf("%d heads of queries cannot share %d heads of keys", heads, kv)
	}
	return n, l.attentionPast(&n)
}

// attentionPast adds the extent of earlier keys and values, which must fit the others.
func (l *Layer) attentionPast(n *attentionDims) error {
	k, v := l.Input(AttentionPastK), l.Input(AttentionPastV)
	n.past = symbolic.Const(0)
	if (k == nil) != (v == nil) {
		return fmt.Errorf("past keys and values come together, and one is missing")
	}
	if k == nil {
		return nil
	}
	for i, want := range map[int]symbolic.Dim{AttentionPastK: n.size, AttentionPastV: n.valueSize} {
		t, err := l.needReal(i)
		if err != nil {
			return err
		}
		if len(t.Dims) != 4 || conflict(t.Dims[0], n.batch) || conflict(t.Dims[1], n.kvHeads) || conflict(t.Dims[3], want) {
			return fmt.Errorf("input %d is %s, want [%s,%s,past,%s]", i, t.TypeString(), n.batch, n.kvHeads, want)
		}
	}
	if conflict(k.Dims[2], v.Dims[2]) {
		return fmt.Errorf("there are %s past keys and %s past values", k.Dims[2], v.Dims[2])
	}
	n.past = k.Dims[2]
	return nil
}

func inferAttention(l *Layer) error {
	a := l.Attrs.(AttentionAttrs)
	n, err := l.attentionDims()
	if err != nil {
		return err
	}
	if a.Scores < ScoresRaw || a.Scores > ScoresSoftmax || a.Left < 0 || a.Right < 0 || a.Softcap < 0 {
		return fmt.Errorf("scores of stage %d, a window of %d and %d keys and a bound of %g: want 0 to 3, and no negative number", a.Scores, a.Left-1, a.Right-1, a.Softcap)
	}
	if err := l.checkAttentionAngles(n); err != nil {
		return err
	}
	q, all := l.Inputs[AttentionQ], n.past.Add(n.keys)
	if err := l.checkAttentionMask(n, all); err != nil {
		return err
	}
	if err := l.checkAttentionSinks(n); err != nil {
		return err
	}
	if t := l.Input(AttentionKVLengths); t != nil {
		if t.Type != numeric.I64 || len(t.Dims) != 1 || conflict(t.Dims[0], n.batch) || !n.past.Is(0) {
			return fmt.Errorf("input %d is %s, want the number of keys of each item, i64[%s], and no past", AttentionKVLengths, t.TypeString(), n.batch)
		}
	}
	dims := [][]symbolic.Dim{{n.batch, n.heads, n.queries, n.valueSize}, {n.batch, n.kvHeads, all, n.size}, {n.batch, n.kvHeads, all, n.valueSize}, {n.batch, n.heads, n.queries, all}}
	if len(q.Dims) == 3 {
		dims[0] = []symbolic.Dim{n.batch, n.queries, n.valueSize.Mul(n.heads)}
	}
	if len(l.Outputs) > len(dims) {
		return fmt.Errorf("%d outputs, want at most %d", len(l.Outputs), len(dims))
	}
	types := []numeric.DataType{q.RealType(), q.RealType(), l.Inputs[AttentionV].RealType(), q.RealType()}
	for i, out := range l.Outputs {
		out.Type, out.Dims = types[i], dims[i]
	}
	return nil
}

// checkAttentionAngles checks what queries and keys are turned by.
func (l *Layer) checkAttentionAngles(n attentionDims) error {
	if (l.Input(AttentionCos) == nil) != (l.Input(AttentionSin) == nil) {
		return fmt.Errorf("cosines and sines come together, and one is missing")
	}
	if l.Input(AttentionCos) == nil {
		return nil
	}
	size, ok := n.size.IsConst()
	if ok && size%2 != 0 || conflict(n.queries, n.keys) {
		return fmt.Errorf("%s queries and %s keys of size %s are turned, want as many of each, of an even size", n.queries, n.keys, n.size)
	}
	want := []symbolic.Dim{n.batch, n.queries, n.size.DivN(2)}
	for i := AttentionCos; i <= AttentionSin; i++ {
		t, err := l.needReal(i)
		if err != nil {
			return err
		}
		if !fitsOnce(t.Dims, want) {
			return fmt.Errorf("input %d is %s, want %s", i, t.TypeString(), symbolic.Format(want))
		}
	}
	if c, s := l.Inputs[AttentionCos], l.Inputs[AttentionSin]; !SameShape(c.Dims, s.Dims) {
		return fmt.Errorf("cosines %s and sines %s differ in shape", c.TypeString(), s.TypeString())
	}
	return nil
}

func (l *Layer) checkAttentionSinks(n attentionDims) error {
	if l.Input(AttentionSinks) == nil {
		return nil
	}
	t, err := l.needReal(AttentionSinks)
	if err == nil && (len(t.Dims) != 1 || conflict(t.Dims[0], n.heads)) {
		err = fmt.Errorf("input %d is %s, want a sink for each of %s heads", AttentionSinks, t.TypeString(), n.heads)
	}
	return err
}

func (l *Layer) checkAttentionMask(n attentionDims, all symbolic.Dim) error {
	t := l.Input(AttentionMask)
	if t == nil {
		return nil
	}
	if t.Type != numeric.Bool && !isReal(t) {
		return fmt.Errorf("the mask is %s, want booleans or real numbers", t.TypeString())
	}
	want := []symbolic.Dim{n.batch, n.heads, n.queries, all}
	if len(t.Dims) < 1 || len(t.Dims) > len(want) {
		return fmt.Errorf("the mask has %d axes, want 1 to %d", len(t.Dims), len(want))
	}
	for i, d := range slices.Backward(t.Dims) {
		w := want[len(want)-len(t.Dims)+i]
		have, ok := d.IsConst()
		need, ok2 := w.IsConst()
		last := i == len(t.Dims)-1
		if ok && ok2 && have != need && have != 1 && !(last && have < need) {
			return fmt.Errorf("the mask is %s, which does not fit [%s,%s,%s,%s]", t.TypeString(), want[0], want[1], want[2], want[3])
		}
	}
	return nil
}

// attentionFLOPs counts two for each multiply-add of both products, and of each score its factor, the maximum, a difference, an
// exponential and the sum, three for a bound and one for a mask, and the quotients of the results.
func attentionFLOPs(l *Layer, env map[string]int) int64 {
	a := l.Attrs.(AttentionAttrs)
	n, err := l.attentionDims()
	if err != nil {
		return 0
	}
	each := 2*(n.size.Eval(env)+n.valueSize.Eval(env)) + 5
	if a.Softcap > 0 {
		each += 3
	}
	if l.Input(AttentionMask) != nil {
		each++
	}
	rows := int64(n.batch.Eval(env)) * int64(n.heads.Eval(env)) * int64(n.queries.Eval(env))
	return rows * (int64(n.keys.Eval(env)+n.past.Eval(env))*int64(each) + int64(n.valueSize.Eval(env)))
}

// attentionProducts counts both products alone.
func attentionProducts(l *Layer, env map[string]int) int64 {
	n, err := l.attentionDims()
	if err != nil {
		return 0
	}
	rows := int64(n.batch.Eval(env)) * int64(n.heads.Eval(env)) * int64(n.queries.Eval(env))
	return rows * int64(n.keys.Eval(env)+n.past.Eval(env)) * int64(2*(n.size.Eval(env)+n.valueSize.Eval(env)))
}

func importAttention(n *Node) (any, []*Tensor, error) {
	a := AttentionAttrs{Heads: n.Int("q_num_heads", 0), KVHeads: n.Int("kv_num_heads", 0), Scale: n.Float("scale", 0), Softcap: n.Float("softcap", 0),
		Causal: n.Flag("is_causal", false), Scores: ScoreStage(n.Int("qk_matmul_output_mode", 0)), Left: n.Int("left_window_size", -1) + 1, Right: n.Int("right_window_size", -1) + 1}
	if len(n.Inputs) > AttentionCos {
		return nil, nil, fmt.Errorf("%d inputs, want at most %d", len(n.Inputs), AttentionCos)
	}
	n.Int("softmax_precision", 0) // Eval computes in float64, whatever the type asked for
	if n.Has("scale") && a.Scale == 0 {
		return nil, nil, fmt.Errorf("a scale of 0 is not supported")
	}
	for i, heads := range []*int{&a.Heads, &a.KVHeads} {
		if t := n.Input(i); t != nil && len(t.Dims) == 4 {
			*heads, _ = t.Dims[1].IsConst()
		}
	}
	return a, n.Inputs, nil
}
