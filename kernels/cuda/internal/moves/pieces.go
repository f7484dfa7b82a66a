package moves

import (
	"fmt"
	"math/bits"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// pieceTactics are the concatenation of tensors along an axis and its inverse.
func pieceTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.Concat, graph.Split} {
		for _, f := range []kernels.Format{kernels.Linear, kernels.NHWC} {
			list = append(list, emit.Tactic{
				Name: "pieces_" + f.String(), Op: op, In: f, Out: f, Empty: true,
				Match: func(b kernels.Binding) error {
					_, err := piecesOf(b)
					return err
				},
				Emit: func(b kernels.Binding) (*emit.Work, error) {
					p, err := piecesOf(b)
					if err != nil {
						return nil, err
					}
					return p.emit()
				},
			})
		}
	}
	return list
}

// maxPieces bounds the tensors of one kernel: their addresses are parameters.
const maxPieces = 64

// pieces is one tensor whose rows are the rows of several, one behind the other.
type pieces struct {
	size   int // bytes of an element
	rows   int
	pitch  int // of the whole
	list   []piece
	concat bool
}

// piece is one of the several that has elements.
type piece struct {
	tensor int    // its index among the layer's inputs, or outputs
	fixed  []byte // the piece itself in the whole's format, where it is a constant
	length int    // elements of a row, at most pitch
	pitch  int
}

// piecesOf returns what a Concat or Split copies. In Linear a row is all from the axis on; so it is in NHWC, where channels
// are the innermost axis.
func piecesOf(b kernels.Binding) (*pieces, error) {
	p := &pieces{size: b.Out[0].Type.Size(), concat: b.Layer.Op == graph.Concat}
	whole, parts, tensors, axis := b.In[0], b.Out, b.Layer.Outputs, 0
	if p.concat {
		whole, parts, tensors, axis = b.Out[0], b.In, b.Layer.Inputs, b.Layer.Attrs.(graph.ConcatAttrs).Axis
	} else {
		axis = b.Layer.Attrs.(graph.SplitAttrs).Axis
	}
	if axis < 0 {
		axis += len(whole.Dims)
	}
	if len(parts) > maxPieces || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("%d pieces; the kernel takes up to %d, and has no epilogue", len(parts), maxPieces)
	}
	if whole.Format == kernels.NHWC && axis != 1 {
		return nil, fmt.Errorf("axis %d is not the channels'", axis)
	}
	if numeric.Count(whole.Dims) == 0 {
		return nil, fmt.Errorf("the tensor is empty")
	}
	one := b.Layer.Inputs[0]
	if !p.concat {
		one = b.Layer.Outputs[0]
	}
	if !p.concat && b.Consts[0] != nil {
		return nil, fmt.Errorf("the input is a constant")
	}
	for i, d := range parts {
		if d.Type != whole.Type || !tensors[i].Range.Equal(one.Range) {
			return nil, fmt.Errorf("piece %s has another type or range", tensors[i].Name)
		}
		if numeric.Count(d.Dims) == 0 {
			continue
		}
		one := piece{tensor: i}
		if p.concat && b.Consts[i] != nil {
			d.Format = whole.Format
			one.fixed = make([]byte, d.Bytes())
			d.FromLinear(one.fixed, b.Consts[i])
		}
		_, one.length, one.pitch = rowsFrom(d, axis)
		p.list = append(p.list, one)
	}
	if y := b.Layer.Outputs[0]; p.concat && (y.Type != one.Type || !y.Range.Equal(one.Range)) {
		return nil, fmt.Errorf("output %s has another type or range than the pieces", y.Name)
	}
	p.rows, _, p.pitch = rowsFrom(whole, axis)
	return p, nil
}

// rowsFrom returns the rows of a tensor, each all from an axis on, with their elements and their distance.
func rowsFrom(d kernels.Desc, axis int) (rows, length, distance int) {
	if d.Format == kernels.NHWC {
		return numeric.Count(d.Dims) / max(1, d.Dims[1]), d.Dims[1], d.Width()
	}
	n := numeric.Count(d.Dims[axis:])
	return numeric.Count(d.Dims[:axis]), n, n
}

// emit emits one kernel whose threads each write a vector of the rows of the outputs.
func (p *pieces) emit() (*emit.Work, error) {
	w := emit.NewWork()
	all := uint(p.pitch)
	for _, x := range p.list {
		all |= uint(x.length | x.pitch)
	}
	n := min(16/p.size, 1<<bits.TrailingZeros(all))
	size := p.size * n
	perRow := p.pitch / n
	if !p.concat { // every output's row is written whole
		perRow = 0
		for _, x := range p.list {
			perRow += x.pitch / n
		}
	}
	total := p.rows * perRow
	k, l := w.Threads("pieces", total)
	whole, parts := p.parameters(k, l, w)
	index := emit.ThreadIndex(k, total)
	row, column := k.DivRem(index, perRow)
	if p.concat {
		p.gather(k, whole, parts, row, column, n, size)
	} else {
		p.scatter(k, whole, parts, row, column, n, size)
	}
	w.End(k, l)
	return w, nil
}

func (p *pieces) parameters(k *ptx.K, l *emit.Launch, w *emit.Work) (whole ptx.GlobalPtr, parts []ptx.GlobalPtr) {
	for i, x := range p.list {
		switch {
		case x.fixed != nil:
			l.Args = append(l.Args, emit.ConstArg(w.Append(x.fixed)))
		case p.concat:
			l.Args = append(l.Args, emit.InArg(x.tensor))
		default:
			l.Args = append(l.Args, emit.OutArg(x.tensor))
		}
		parts = append(parts, k.Pointer(fmt.Sprintf("p%d", i)))
	}
	if p.concat {
		return l.Output(k, 0), parts
	}
	return l.Input(k, 0), parts
}

// gather copies one vector of the whole from the piece that has it; behind the last piece are zeros.
func (p *pieces) gather(k *ptx.K, whole ptx.GlobalPtr, parts []ptx.GlobalPtr, row, column ptx.Uint, n, size int) {
	to := k.Offset(whole, k.Mad(row, ptx.U(p.pitch/n), column), size)
	begin := 0
	for i, x := range p.list {
		at := k.Sub(column, ptx.U(begin))
		k.If(k.Lt(at, ptx.U(x.length/n)), func() {
			emit.CopyElement(k, to, k.Offset(parts[i], k.Mad(row, ptx.U(x.pitch/n), at), size), size, nil, nil)
		})
		begin += x.length / n
	}
	if begin < p.pitch/n {
		k.If(k.Ge(column, ptx.U(begin)), func() { storeZero(k, to, size) })
	}
}

// scatter copies one vector of the whole to its piece; what pads a piece's row becomes zeros.
func (p *pieces) scatter(k *ptx.K, whole ptx.GlobalPtr, parts []ptx.GlobalPtr, row, column ptx.Uint, n, size int) {
	begin, source := 0, 0
	for i, x := range p.list {
		at := k.Sub(column, ptx.U(begin))
		to := k.Offset(parts[i], k.Mad(row, ptx.U(x.pitch/n), at), size)
		from := k.Offset(whole, k.Mad(row, ptx.U(p.pitch/n), k.Add(at, ptx.U(source))), size)
		k.If(k.Lt(at, ptx.U(x.length/n)), func() { emit.CopyElement(k, to, from, size, nil, nil) })
		if x.pitch > x.length {
			inside := k.Both(k.Ge(at, ptx.U(x.length/n)), k.Lt(at, ptx.U(x.pitch/n)))
			k.If(inside, func() { storeZero(k, to, size) })
		}
		begin, source = begin+x.pitch/n, source+x.length/n
	}
}

func storeZero(k *ptx.K, to ptx.GlobalPtr, size int) {
	if size < 4 {
		emit.StoreElement(k, to, size, k.Var(ptx.U(0)).Word())
		return
	}
	words := make([]ptx.Word, size/4)
	for i := range words {
		words[i] = k.Var(ptx.U(0)).Word()
	}
	k.Store(to, words...)
}
