package sessions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/report"
)

// score counts how often the first classes are right, and how often they are FP32's. The output that counts is the
// first one of floating type.
type score struct {
	data              Data
	batch             int
	output            string
	items, labelled   int
	top1, top5        int
	ref1, ref5, agree int
	below, above      int // items whose label is the class before or after FP32's
}

func newScore(n *graph.Network, d Data, batch int) *score {
	sc := &score{data: d, batch: max(1, batch)}
	for _, t := range n.Outputs {
		if t.RealType().IsFloat() {
			sc.output = t.Name
			break
		}
	}
	return sc
}

// checkLabels returns an error for a label that is none of the classes of an output; one value for each item is no class.
func (sc *score) checkLabels(out map[string]graph.Value) error {
	classes := 0
	if v, ok := out[sc.output]; ok {
		classes = v.Len() / sc.batch
	}
	if classes < 2 {
		return nil
	}
	for i := range sc.data.Len() {
		if label, ok := sc.data.Label(i); ok && (label < 0 || label >= classes) {
			return &LabelError{sc.data.Name(), i, label, sc.output, classes}
		}
	}
	return nil
}

func (sc *score) add(b int, ref, got map[string]graph.Value) {
	if sc.output == "" {
		return
	}
	r, g := ref[sc.output].Floats(), got[sc.output].Floats()
	each := len(g) / sc.batch
	for k := range sc.batch {
		item := b*sc.batch + k
		if item >= sc.data.Len() || each == 0 {
			break
		}
		x, y := r[k*each:(k+1)*each], g[k*each:(k+1)*each]
		first := argmax(x)
		sc.items++
		if rank(x, first) == 0 && rank(y, first) == 0 {
			sc.agree++
		}
		class, ok := sc.data.Label(item)
		if !ok || class < 0 || class >= each { // only where there are no classes: checkLabels
			continue
		}
		sc.labelled++
		switch first - class {
		case 1:
			sc.below++
		case -1:
			sc.above++
		}
		count(&sc.ref1, &sc.ref5, rank(x, class))
		count(&sc.top1, &sc.top5, rank(y, class))
	}
}

func count(first, five *int, rank int) {
	if rank == 0 {
		*first++
	}
	if rank < 5 {
		*five++
	}
}

func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// rank returns how many classes come before the given one: those of a higher value, and those of the same value and a
// lower number. Where a value is NaN there is no order, and all of them do.
func rank(x []float32, class int) int {
	n := 0
	for i, v := range x {
		if v != v {
			return len(x)
		}
		if v > x[class] || v == x[class] && i < class {
			n++
		}
	}
	return n
}

func (sc *score) result() (report.LabelAccuracy, int) {
	share := func(n, of int) float64 {
		if of == 0 {
			return -1
		}
		return float64(n) / float64(of)
	}
	return report.LabelAccuracy{
		Top1: share(sc.top1, sc.labelled), Top5: share(sc.top5, sc.labelled),
		FP32Top1: share(sc.ref1, sc.labelled), FP32Top5: share(sc.ref5, sc.labelled),
		Agreement: share(sc.agree, sc.items), Offset: sc.offset(),
	}, sc.items
}

// offset returns by how much the labels seem to be off: with that, FP32 is right on a fifth of the items at least, and
// five times as often as without.
func (sc *score) offset() int {
	for _, c := range []struct{ right, offset int }{{sc.below, 1}, {sc.above, -1}} {
		if 5*c.right >= sc.labelled && c.right >= 5*max(sc.ref1, 1) {
			return c.offset
		}
	}
	return 0
}

// LabelError is the error that an item's label is none of an output's classes.
type LabelError struct {
	Data        string
	Item, Label int
	Output      string
	Classes     int
}

func (e *LabelError) Error() string {
	return fmt.Sprintf("%s: item %d has label %d, but output %s has %d classes, from 0; correct the labels, or shift them all",
		e.Data, e.Item, e.Label, e.Output, e.Classes)
}
