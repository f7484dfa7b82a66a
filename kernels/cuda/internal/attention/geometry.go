package attention

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// problem is what a layer asks for.
type problem struct {
	binding        kernels.Binding
	batch          int
	heads, kvHeads int
	queries, keys  int // of a batch, keys with the past
	past           int // keys
	size, sizeV    int // elements of a head of queries and keys, and of one of values

	q, k, v    matrix
	scale, cap float32
	ends       bool // a query sees no keys from so many behind its place on
	behind     int  // that many
	window     int  // one more than the keys that it sees in front of its place; 0: all
	mask       *mask
	sinks      *matrix // one for each head of queries; nil for none
	counts     int     // the input that has the number of keys of each batch; -1: all have all
	flat       bool    // the output's heads lie in its last axis
}

// matrix is a batch of heads of rows: element (batch, head, row, i) lies at the sum of their multiples.
type matrix struct {
	emit.Storage
	name             string
	source           emit.Arg // where it lies, unless it is a constant
	fixed            []byte   // its elements, where it is a constant
	batch, head, row int      // elements from one to the next
	size             int      // of a row
}

// mask is added to scores, or says which count. What is the same for all of an axis has a stride of 0 there.
type mask struct {
	matrix
	key    int // from one key to the next
	length int // keys that it has; those behind them do not count
}

// The places of outputs: of the keys and values with those of the past, and of the scores.
const (
	outY, outK = 0, 1
	outScores  = 3
)

// problemOf returns the problem of a layer.
func problemOf(b kernels.Binding) (*problem, error) {
	a := b.Layer.Attrs.(graph.AttentionAttrs)
	p := &problem{binding: b, heads: a.Heads, kvHeads: a.KVHeads, cap: a.Softcap, counts: -1, ends: a.Causal || a.Right > 0, window: a.Left}
	if p.behind = a.Right; a.Causal {
		p.behind = 1
	}
	if err := p.operands(b); err != nil {
		return nil, err
	}
	if p.scale = a.Scale; p.scale == 0 {
		p.scale = float32(1 / math.Sqrt(float64(p.size)))
	}
	if err := p.options(b); err != nil {
		return nil, err
	}
	return p, p.outputs(b)
}

// rows returns the rows of a head of keys: each query has one for each head of its own that shares these keys.
func (p *problem) rows() int { return p.queries * p.group() }

// group returns how many heads of queries share a head of keys.
func (p *problem) group() int { return p.heads / p.kvHeads }

// keyTiles returns how many tiles all keys are.
func (p *problem) keyTiles(t Tile) int { return emit.CeilDiv(p.keys, t.BN) }

// operands finds queries, keys and values.
func (p *problem) operands(b kernels.Binding) error {
	for i, heads := range []*int{&p.heads, &p.kvHeads, &p.kvHeads} {
		if d := b.In[i].Dims; len(d) == 4 {
			*heads = d[1]
		}
	}
	if p.kvHeads < 1 || p.heads < 1 || p.heads%p.kvHeads != 0 {
		return fmt.Errorf("%d heads share %d", p.heads, p.kvHeads)
	}
	for i, m := range []*matrix{&p.q, &p.k, &p.v} {
		heads := p.kvHeads
		if i == graph.AttentionQ {
			heads = p.heads
		}
		if err := m.read(b, i, heads); err != nil {
			return err
		}
	}
	q, k := b.In[graph.AttentionQ].Dims, b.In[graph.AttentionK].Dims
	p.batch, p.size, p.sizeV, p.flat = q[0], p.q.size, p.v.size, len(q) == 3
	p.queries, p.keys = q[2], k[2]
	if p.flat {
		p.queries = q[1]
	}
	if len(k) == 3 {
		p.keys = k[1]
	}
	if b.Layer.Input(graph.AttentionPastK) != nil {
		p.past = b.In[graph.AttentionPastK].Dims[2]
		p.keys += p.past
	}
	if numeric.Count(b.Out[outY].Dims) == 0 || p.keys == 0 || p.size == 0 {
		return fmt.Errorf("a tensor is empty")
	}
	return p.joinable()
}

// read finds where operand i lies: by heads where it has four axes, in its last axis where it has three.
func (m *matrix) read(b kernels.Binding, i, heads int) error {
	t, d := b.Layer.Inputs[i], b.In[i]
	if err := emit.Storable(t); err != nil {
		return err
	}
	m.Storage, m.name = emit.Storage{Type: t.Type, Range: t.Range}, "x"+string(rune('a'+i))
	m.source, m.fixed = emit.InArg(i), b.Consts[i]
	m.batch = d.BatchStride()
	switch n := len(d.Dims); n {
	case 3:
		m.row, m.size = d.Dims[2], d.Dims[2]/heads
		m.head = m.size
	case 4:
		m.row, m.size = d.Dims[3], d.Dims[3]
		m.head = d.Dims[2] * d.Dims[3]
	default:
		return fmt.Errorf("%s has %d axes", t.Name, n)
	}
	return nil
}

// options finds the mask, and which keys count.
func (p *problem) options(b kernels.Binding) error {
	if b.Layer.Input(graph.AttentionCos) != nil {
		return fmt.Errorf("queries and keys are to be turned, which the kernel does not")
	}
	if t := b.Layer.Input(graph.AttentionSinks); t != nil {
		if t.Type != numeric.F32 && t.Type != numeric.F16 {
			return fmt.Errorf("sinks are %s, the kernel takes f32 and f16", t.Type)
		}
		p.sinks = &matrix{Storage: emit.Storage{Type: t.Type}, name: "sinks", source: emit.InArg(graph.AttentionSinks), fixed: b.Consts[graph.AttentionSinks]}
	}
	if b.Layer.Input(graph.AttentionKVLengths) != nil {
		p.counts = graph.AttentionKVLengths
	}
	if b.Layer.Input(graph.AttentionMask) == nil {
		return nil
	}
	t, dims := b.Layer.Inputs[graph.AttentionMask], b.In[graph.AttentionMask].Dims
	if t.Type != numeric.Bool && t.Type != numeric.F32 && t.Type != numeric.F16 {
		return fmt.Errorf("the mask is %s, the kernel takes bool, f32 and f16", t.Type)
	}
	n := len(dims)
	if n < 1 || n > 4 {
		return fmt.Errorf("the mask has %d axes", n)
	}
	p.mask = &mask{length: dims[n-1]}
	p.mask.Storage, p.mask.name = emit.Storage{Type: t.Type}, "mask"
	p.mask.source, p.mask.fixed = emit.InArg(graph.AttentionMask), b.Consts[graph.AttentionMask]
	strides := emit.StridesOf(dims)
	for i, to := range []*int{&p.mask.key, &p.mask.row, &p.mask.head, &p.mask.batch} {
		if at := n - 1 - i; at >= 0 && dims[at] > 1 {
			*to = strides[at]
		}
	}
	if p.mask.length == 1 { // the same for all keys
		p.mask.key, p.mask.length = 0, p.keys
	}
	return nil
}

// outputs checks what is written.
func (p *problem) outputs(b kernels.Binding) error {
	if len(b.Out) > outScores {
		return fmt.Errorf("the scores themselves are an output, the kernel never has all of them")
	}
	if len(b.Out) == 1 {
		return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
	}
	if len(b.Layer.Epilogue.Code) > 0 {
		return fmt.Errorf("an epilogue with %d outputs", len(b.Out))
	}
	if t := b.Out[outY].Type; t != numeric.F16 && t != numeric.F32 {
		return fmt.Errorf("the output is %s, the kernel writes f16 and f32", t)
	}
	return nil
}
