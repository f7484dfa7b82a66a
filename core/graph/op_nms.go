package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// NonMaxSuppressionAttrs are the attributes of NonMaxSuppression.
type NonMaxSuppressionAttrs struct {
	Count  string // the symbol of how many are selected, where that does not follow from constants; "" if it must
	Center bool   // boxes are x and y of the centre, width and height, not y1, x1, y2, x2 of opposite corners
}

// NonMaxSuppression selects, of the boxes [N,B,4] of each item and for each class by scores [N,C,B], those that overlap no better
// one that is selected: y I64 [count,3] of item, class and box, the best of a class first. Inputs 2 to 4, which may be left out, are
// the most boxes for a class, 0 if left out, the overlap (the intersection by the union) above which a box is none of them, and the
// score that a box must be above.
var NonMaxSuppression = &Op{
	Name:  "NonMaxSuppression",
	Attrs: NonMaxSuppressionAttrs{},
	Onnx:  []string{"NonMaxSuppression"},
	Class: ClassReduction, Inputs: []Role{Data, Data, Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(4),
	Infer: inferSuppression,
	Counted: func(l *Layer) []Counting {
		a, scores := l.Attrs.(NonMaxSuppressionAttrs), l.Inputs[1]
		if _, err := l.knownSelection(); err == nil || a.Count == "" {
			return nil
		}
		each := scores.Dims[2]
		if t := l.Input(2); t == nil {
			each = symbolic.Const(0)
		} else if v, err := t.determined(); err == nil && v.Len() == 1 && v.Type == numeric.I64 {
			each = each.Min(symbolic.Const(int(max(0, min(maxExtent, v.I64()[0])))))
		}
		return []Counting{{Symbol: a.Count, Most: scores.Dims[0].Mul(scores.Dims[1]).Mul(each)}}
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		var list []int64
		for _, s := range l.Attrs.(NonMaxSuppressionAttrs).selected(in) {
			list = append(list, s[:]...)
		}
		return writeCounted(l, out[0], list)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return NonMaxSuppressionAttrs{countSymbol(n.Name), n.Flag("center_point_box", false)}, n.Inputs, nil
	},
	Export: func(e *Exporter) error {
		return e.Node("NonMaxSuppression", Attributes{"center_point_box": e.Layer.Attrs.(NonMaxSuppressionAttrs).Center})
	},
}

func inferSuppression(l *Layer) error {
	boxes, err := l.needReal(0)
	if err != nil {
		return err
	}
	scores, err := l.needReal(1)
	if err != nil {
		return err
	}
	if len(boxes.Dims) != 3 || len(scores.Dims) != 3 || conflict(boxes.Dims[2], symbolic.Const(4)) || conflict(boxes.Dims[0], scores.Dims[0]) || conflict(boxes.Dims[1], scores.Dims[2]) {
		return fmt.Errorf("boxes %s and scores %s: want [N,B,4] and [N,C,B]", boxes.TypeString(), scores.TypeString())
	}
	for i, types := range [][]numeric.DataType{2: {numeric.I64}, 3: {numeric.F32}, 4: {numeric.F32}} {
		if t := l.Input(i); t != nil && types != nil {
			if n, ok := countDims(t.Dims); !slices.Contains(types, t.Type) || !ok || n > 1 {
				return fmt.Errorf("input %d is %s, want one %s", i, t.TypeString(), types[0])
			}
		}
	}
	l.Outputs[0].Type = numeric.I64
	if l.Counts() {
		l.Outputs[0].Dims = []symbolic.Dim{symbolic.Symbol(l.Attrs.(NonMaxSuppressionAttrs).Count), symbolic.Const(3)}
		return nil
	}
	in, err := l.knownSelection()
	if err != nil {
		return err
	}
	l.Outputs[0].Dims = symbolic.Shape(len(l.Attrs.(NonMaxSuppressionAttrs).selected(in)), 3)
	return nil
}

// knownSelection returns the inputs where all of them follow from constants.
func (l *Layer) knownSelection() ([]numeric.Value, error) {
	in := make([]numeric.Value, len(l.OpInputs()))
	for i, t := range l.OpInputs() {
		if t == nil {
			continue
		}
		v, err := t.determined()
		if err != nil {
			return nil, err
		}
		in[i] = numeric.ToReal(v, t.Range)
	}
	return in, nil
}

// selected returns item, class and box of what is selected.
func (a NonMaxSuppressionAttrs) selected(in []numeric.Value) (list [][3]int64) {
	number := func(i int) (float64, bool) {
		if i >= len(in) || in[i].Data == nil || in[i].Len() == 0 {
			return 0, false
		}
		return in[i].Float64s()[0], true
	}
	most, _ := number(2)
	overlap, _ := number(3)
	least, limited := number(4)
	boxes, scores, count := in[0].F32(), in[1].F32(), in[0].Dims[1]
	for i := range in[1].Dims[0] * in[1].Dims[1] {
		item := i / in[1].Dims[1]
		score := scores[i*count:][:count]
		var order []int
		for b, s := range score {
			if !limited || s > float32(least) {
				order = append(order, b)
			}
		}
		slices.SortStableFunc(order, func(p, q int) int { return cmp.Compare(score[q], score[p]) })
		var kept []box
		for _, b := range order {
			if float64(len(kept)) >= most {
				break
			}
			next := a.box(boxes[(item*count+b)*4:])
			if !slices.ContainsFunc(kept, func(k box) bool { return k.overlap(next) > float32(overlap) }) {
				kept = append(kept, next)
				list = append(list, [3]int64{int64(item), int64(i % in[1].Dims[1]), int64(b)})
			}
		}
	}
	return list
}

// box is a rectangle.
type box struct{ top, left, bottom, right float32 }

func (a NonMaxSuppressionAttrs) box(v []float32) box {
	if a.Center {
		return box{v[1] - v[3]/2, v[0] - v[2]/2, v[1] + v[3]/2, v[0] + v[2]/2}
	}
	return box{min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3])}
}

func (b box) area() float32 { return max(0, b.bottom-b.top) * max(0, b.right-b.left) }

// overlap returns the intersection by the union; 0 where one of them is empty.
func (b box) overlap(o box) float32 {
	both := box{max(b.top, o.top), max(b.left, o.left), min(b.bottom, o.bottom), min(b.right, o.right)}.area()
	one, other := b.area(), o.area()
	if all := one + other - both; both > 0 && one > 0 && other > 0 && all > 0 {
		return both / all
	}
	return 0
}
