package attention

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Keys and values of the past and of the present are one matrix of all, [batch, heads, keys, size]: the output where the layer
// has one, else in the workspace. Then products read them there.

// joined is one of the two.
type joined struct {
	matrix     // of the present
	of         *matrix
	past, size int
	to         emit.Arg
}

// joins returns what is put together: nothing where there is neither a past nor an output of it.
func (p *problem) joins(t Tile) (list []*joined) {
	b, scratch := p.binding, 0
	if t.Split > 1 {
		sums, tops := p.partBytes(t)
		scratch = sums + tops
	}
	for i, m := range []*matrix{&p.k, &p.v} {
		out := len(b.Out) > outK+i
		if p.past == 0 && !out {
			continue
		}
		j := &joined{matrix: *m, of: m, past: graph.AttentionPastK + i, size: m.size, to: emit.ScratchArg(scratch)}
		if out {
			j.to = emit.OutArg(outK + i)
		} else {
			scratch += emit.RoundUp(p.joinedElements(m)*m.Type.Size(), 256)
		}
		list = append(list, j)
	}
	return list
}

func (p *problem) joinedElements(m *matrix) int { return p.batch * p.kvHeads * p.keys * m.size }

// workspace returns the bytes of parts and of what is joined there.
func (p *problem) workspace(t Tile) int {
	n := 0
	if t.Split > 1 {
		sums, tops := p.partBytes(t)
		n = sums + tops
	}
	for _, j := range p.joins(t) {
		if j.to.Kind == emit.WorkspaceArg {
			n = j.to.Offset + p.joinedElements(j.of)*j.Type.Size()
		}
	}
	return n
}

// vector returns how many elements are copied together.
func (j *joined) vector() int { return j.unit() / j.Type.Size() }

// join emits the kernel that puts them together, and lets the products read them there.
func (p *problem) join(w *emit.Work, t Tile) {
	list := p.joins(t)
	if len(list) == 0 {
		return
	}
	total := 0
	for _, j := range list {
		total += p.joinedElements(j.of) / j.vector()
	}
	k, l := w.Threads("join", total)
	var past, to []ptx.GlobalPtr
	for _, j := range list {
		j.parameter(k, w, l)
		if p.past > 0 {
			past = append(past, l.Operand(k, w, p.binding, j.past))
		} else {
			past = append(past, ptx.GlobalPtr{})
		}
		to = append(to, k.Pointer("to"+j.name))
		l.Args = append(l.Args, j.to)
	}
	index, first := emit.ThreadIndex(k, total), 0
	for i, j := range list {
		n := p.joinedElements(j.of) / j.vector()
		one := func() { p.joinOne(k, j, past[i], to[i], k.Sub(index, ptx.U(first))) }
		if len(list) == 1 {
			one()
		} else {
			k.If(k.Both(k.Ge(index, ptx.U(first)), k.Lt(index, ptx.U(first+n))), one)
		}
		first += n
	}
	w.End(k, l)
	for _, j := range list {
		j.of.source, j.of.fixed = j.to, nil
		j.of.row, j.of.head, j.of.batch = j.size, p.keys*j.size, p.kvHeads*p.keys*j.size
	}
}

// joinOne copies a vector.
func (p *problem) joinOne(k *ptx.K, j *joined, past, to ptx.GlobalPtr, index ptx.Uint) {
	n, size := j.vector(), j.Type.Size()
	rows, piece := k.DivRem(index, j.size/n)
	at, key := k.DivRem(rows, p.keys)
	batch, head := k.DivRem(at, p.kvHeads)
	column := k.Mul(piece, ptx.U(n))
	copyFrom := func(p ptx.GlobalPtr, element ptx.Uint) {
		emit.CopyElement(k, k.Offset(to, index, n*size), k.Offset(p, element, size), n*size, nil, nil)
	}
	present := func(key ptx.Uint) {
		from := k.Mad(batch, ptx.U(j.batch), k.Mad(head, ptx.U(j.head), k.Mad(key, ptx.U(j.row), column)))
		copyFrom(j.Base, from)
	}
	if p.past == 0 {
		present(key)
		return
	}
	k.IfElse(k.Lt(key, ptx.U(p.past)), func() {
		copyFrom(past, k.Mad(k.Mad(at, ptx.U(p.past), key), ptx.U(j.size), column))
	}, func() { present(k.Sub(key, ptx.U(p.past))) })
}

// joinable returns an error where what is joined is not of one type.
func (p *problem) joinable() error {
	b := p.binding
	for i, m := range []*matrix{&p.k, &p.v} {
		if p.past > 0 && b.In[graph.AttentionPastK+i].Type != m.Type {
			return fmt.Errorf("the past of %s is %s, not %s", m.name, b.In[graph.AttentionPastK+i].Type, m.Type)
		}
		if len(b.Out) > outK+i && b.Out[outK+i].Type != m.Type {
			return fmt.Errorf("%s of %s is written as %s", m.name, m.Type, b.Out[outK+i].Type)
		}
	}
	if n := max(p.joinedElements(&p.k), p.joinedElements(&p.v)); n > emit.MaxElements {
		return fmt.Errorf("keys and values of more than %d elements", emit.MaxElements)
	}
	return nil
}
