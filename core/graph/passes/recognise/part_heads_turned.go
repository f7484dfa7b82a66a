package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// readByAttention reports whether the parts are queries, keys and values of one attention, which reads them before heads are cut, and
// turned, from them. What reads turned parts otherwise is better served by one Transpose of all.
func (h *headParts) readByAttention(r *pass.Rewrite) bool {
	perm := match.Perm(h.transpose)
	rest := slices.DeleteFunc(slices.Clone(perm), func(axis int) bool { return axis == h.axis })
	n := len(rest)
	if len(h.cuts) != 3 || n != 4 || rest[0] != 0 || rest[1] != h.rank-2 || rest[3] != h.rank-1 {
		return false
	}
	var products []*graph.Layer
	for _, cut := range h.cuts {
		p := productBehind(cut.y)
		if p == nil {
			return false
		}
		products = append(products, p)
	}
	for i, weighs := range products {
		scores := slices.Delete(slices.Clone(products), i, i+1)
		if scores[0] == scores[1] && scores[0] != weighs && weighsBy(scores[0], weighs) {
			return true
		}
	}
	return false
}

// productBehind returns the one product that all follows from t in, which is moved, scaled and turned on the way at most; nil for none.
func productBehind(t *graph.Tensor) *graph.Layer {
	var product *graph.Layer
	all := readersBehind(t, func(t *graph.Tensor, u *graph.Layer) ([]*graph.Tensor, bool) {
		_, program := graph.ProgramOf(u)
		switch {
		case u.Op == graph.ShapeOf:
		case u.Op == graph.MatMul && (product == nil || u == product):
			product = u
		case u.Epilogue.Args == 0 && u.Inputs[0] == t && (u.Op == graph.Transpose || u.Op == graph.Slice || u.Op == graph.Split || u.Op.Memory == graph.Viewed),
			u.Epilogue.Args == 0 && (program || u.Op == graph.Concat):
			return u.Outputs, true
		default:
			return nil, false
		}
		return nil, true
	})
	if !all {
		return nil
	}
	return product
}

// weighsBy reports whether a product reads what a softmax makes of another's result.
func weighsBy(scores, weighs *graph.Layer) bool {
	soft, read := map[*graph.Tensor]bool{}, false
	readersBehind(scores.Outputs[0], func(t *graph.Tensor, u *graph.Layer) ([]*graph.Tensor, bool) {
		_, program := graph.ProgramOf(u)
		switch {
		case u == weighs:
			read = soft[t]
			return nil, false
		case u.Op == graph.Softmax, program, u.Op == graph.Cast, u.Op.Memory == graph.Viewed:
			y := u.Outputs[0]
			soft[y] = soft[y] || soft[t] || u.Op == graph.Softmax
			return u.Outputs[:1], true
		}
		return nil, true
	})
	return read
}

// readersBehind shows each layer that reads t, with what it reads, and those that read the tensors that visit goes on at. It reports
// whether it saw all of them: not where visit returns false, nor of very many.
func readersBehind(t *graph.Tensor, visit func(t *graph.Tensor, u *graph.Layer) (on []*graph.Tensor, more bool)) bool {
	open, seen := []*graph.Tensor{t}, map[*graph.Tensor]bool{}
	for len(open) > 0 && len(seen) < maxWalk {
		t := open[0]
		if open = open[1:]; seen[t] {
			continue
		}
		seen[t] = true
		for _, u := range t.Users {
			on, more := visit(t, u)
			if !more {
				return false
			}
			open = append(open, on...)
		}
	}
	return len(open) == 0
}
