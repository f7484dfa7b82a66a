package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TransposeAttrs are the attributes of Transpose.
type TransposeAttrs struct {
	Perm []int // axis i of the output is axis Perm[i] of the input; nil reverses the axes
}

// Transpose permutes axes.
var Transpose = &Op{
	Name:  "Transpose",
	Attrs: TransposeAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Transpose"},
	Class: ClassMove, Inputs: []Role{Data}, Memory: Written,
	Moves: transposeMovement,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		perm, err := l.Attrs.(TransposeAttrs).Resolve(len(x.Dims))
		if err != nil {
			return err
		}
		dims := make([]symbolic.Dim, len(perm))
		for i, p := range perm {
			dims[i] = x.Dims[p]
		}
		if err := l.inferMoved(0, x, dims, slices.Index(perm, x.Range.Axis)); err != nil {
			return err
		}
		l.moveKnown(0)
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		perm, err := l.Attrs.(TransposeAttrs).Resolve(len(in[0].Dims))
		if err != nil {
			return err
		}
		permute(out[0], in[0], perm)
		return nil
	},
	Export: func(e *Exporter) error {
		return e.Node("Transpose", Attributes{"perm": e.Layer.Attrs.(TransposeAttrs).Perm})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		perm, err := TransposeAttrs{n.Ints("perm")}.Resolve(rank)
		return TransposeAttrs{perm}, n.Inputs, err
	},
}

// Resolve returns the permutation for an input of so many axes, each axis counted from 0.
func (a TransposeAttrs) Resolve(rank int) ([]int, error) {
	if a.Perm == nil {
		perm := make([]int, rank)
		for i := range perm {
			perm[i] = rank - 1 - i
		}
		return perm, nil
	}
	perm, err := axesIn(a.Perm, rank)
	if err != nil || len(perm) != rank {
		return nil, fmt.Errorf("perm %v is no permutation of %d axes", a.Perm, rank)
	}
	return perm, nil
}

// permute copies src's elements to dst, whose axis i is src's axis perm[i].
func permute(dst, src numeric.Value, perm []int) {
	s := strides(src.Dims)
	tables := make([][]int, len(perm))
	for i, p := range perm {
		tables[i] = table(src.Dims[p], s[p], func(i int) int { return i })
	}
	move(dst, src, tables)
}

func transposeMovement(l *Layer) Movement {
	perm, err := l.Attrs.(TransposeAttrs).Resolve(len(l.Inputs[0].Dims))
	return keptIf(err == nil && slices.IsSorted(perm), Moved)
}

// BlockAttrs are the attributes of DepthToSpace and SpaceToDepth.
type BlockAttrs struct {
	Size int
	CRD  bool // channels are ordered column-row-depth, not depth-column-row
}

// DepthToSpace moves channels of x [N, C*b*b, H, W] into blocks of b x b places: y [N, C, H*b, W*b]. The channel of
// place (i, j) in the block is (i*b+j)*C+c, or c*b*b+i*b+j with CRD.
var DepthToSpace = &Op{
	Name:  "DepthToSpace",
	Attrs: BlockAttrs{},
	Reals: AsStored,
	Onnx:  []string{"DepthToSpace"},
	Class: ClassMove, Inputs: []Role{Data}, Memory: Written,
	Moves: moved,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		return inferBlocks(l, func(x []symbolic.Dim, b int) []symbolic.Dim {
			return []symbolic.Dim{x[0], x[1].DivN(b * b), x[2].MulN(b), x[3].MulN(b)}
		}, 1)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a, x, y := l.Attrs.(BlockAttrs), in[0], out[0]
		b, c, h, w := a.Size, y.Dims[1], x.Dims[2], x.Dims[3]
		split := numeric.Value{Type: x.Type, Dims: []int{x.Dims[0], b, b, c, h, w}, Data: x.Data}
		perm := []int{0, 3, 4, 1, 5, 2}
		if a.CRD {
			split.Dims = []int{x.Dims[0], c, b, b, h, w}
			perm = []int{0, 1, 4, 2, 5, 3}
		}
		permute(y, split, perm)
		return nil
	},
	Export: func(e *Exporter) error {
		a, mode := e.Layer.Attrs.(BlockAttrs), "DCR"
		if a.CRD {
			mode = "CRD"
		}
		return e.Node("DepthToSpace", Attributes{"blocksize": a.Size, "mode": mode})
	},
	Import: importBlocks,
}

// SpaceToDepth is the inverse of DepthToSpace.
var SpaceToDepth = &Op{
	Name:  "SpaceToDepth",
	Attrs: BlockAttrs{},
	Reals: AsStored,
	Onnx:  []string{"SpaceToDepth"},
	Class: ClassMove, Inputs: []Role{Data}, Memory: Written,
	Moves: moved,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		return inferBlocks(l, func(x []symbolic.Dim, b int) []symbolic.Dim {
			return []symbolic.Dim{x[0], x[1].MulN(b * b), x[2].DivN(b), x[3].DivN(b)}
		}, 2, 3)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a, x, y := l.Attrs.(BlockAttrs), in[0], out[0]
		b, h, w := a.Size, y.Dims[2], y.Dims[3]
		perm := []int{0, 3, 5, 1, 2, 4}
		if a.CRD {
			perm = []int{0, 1, 3, 5, 2, 4}
		}
		permute(y, numeric.Value{Type: x.Type, Dims: []int{x.Dims[0], x.Dims[1], h, b, w, b}, Data: x.Data}, perm)
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(BlockAttrs)
		if a.CRD {
			return e.NodeSince(28, "SpaceToDepth", Attributes{"blocksize": a.Size, "mode": "CRD"})
		}
		return e.Node("SpaceToDepth", Attributes{"blocksize": a.Size})
	},
	Import: importBlocks,
}

func importBlocks(n *Node) (any, []*Tensor, error) {
	switch mode := n.String("mode", "DCR"); mode {
	case "DCR", "CRD":
		return BlockAttrs{n.Int("blocksize", 0), mode == "CRD"}, n.Inputs, nil
	default:
		return nil, nil, fmt.Errorf("mode %q is unknown", mode)
	}
}

// inferBlocks infers a shape of rank 4 where the block's size must divide the given axes (for axis 1 its square).
func inferBlocks(l *Layer, dims func(x []symbolic.Dim, b int) []symbolic.Dim, divided ...int) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	b := l.Attrs.(BlockAttrs).Size
	if len(x.Dims) != 4 || b < 1 || b > 1<<15 {
		return fmt.Errorf("input %s with blocks of %d: want 4 axes and a positive size", x, b)
	}
	for _, a := range divided {
		by := b
		if a == 1 {
			by = b * b
		}
		if n, ok := x.Dims[a].IsConst(); ok && n%by != 0 {
			return fmt.Errorf("axis %d of %s is not a multiple of %d", a, x, by)
		}
	}
	return l.inferMoved(0, x, dims(x.Dims, b), -1)
}
