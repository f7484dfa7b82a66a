package stages

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/report"
)

// score counts how often the first classes are right, and how often they are FP32's. The output that counts is the
// one that data of a text names, or the first of floating type. Of a text each token has a row of it, and what is told of the rows is how likely the engine and
// FP32 hold what follows.
type score struct {
	task              Task
	boxes             *detecting // of the task that looks for boxes; else nil
	data              dataset.Data
	batch             int
	output            string
	items             int
	rows, labelled    int // those whose class is known
	text              bool
	together          bool    // the rows of an item are items of the data
	loss, refLoss     float64 // sums of -log of the likelihood of the rows' classes
	top1, top5        int
	ref1, ref5, agree int
	answers           report.Answers
	texts             []textLoss
	below, above      int // items whose label is the class before or after FP32's
	unclassed         string
	unlike            string // why rows of some items cannot be compared with FP32's
}

// textLoss is the sum of a text's losses, and of how many tokens.
type textLoss struct {
	loss float64
	n    int
}

func newScore(n *graph.Network, d dataset.Data, batch int, task Task) *score {
	sc := &score{task: task.of(d), data: d, batch: max(1, batch), together: dataset.Together(d)}
	if sc.task.Kind == report.TaskDetection {
		sc.boxes = &detecting{task: sc.task, network: n, data: d}
	}
	scores := dataset.Scores(d)
	for _, t := range n.Outputs {
		if t.RealType().IsFloat() && (scores == "" || t.Name == scores) {
			sc.output = t.Name
			break
		}
	}
	return sc
}

// checkLabels returns an error for a label that is none of the classes of an output of the batches; one value for each item is no class.
// Items behind the last of the batches are as those in it.
func (sc *score) checkLabels(batches []map[string]numeric.Value) error {
	if sc.task.Kind == report.TaskDetection || sc.task.Kind == report.TaskOutputs {
		return nil
	}
	if _, ok := batches[0][sc.output]; ok && sc.whyUnclassed(0, batches[0]) != "" {
		return nil
	}
	for i := range sc.data.Len() {
		each := 0
		if v, ok := batches[min(i/sc.batch, len(batches)-1)][sc.output]; ok {
			each = v.Len() / sc.batch
		}
		labels := sc.data.Labels(i)
		if len(labels) > 1 && each%len(labels) != 0 {
			return fmt.Errorf("%s: item %d has %d labels, but output %s has %d values for it, no row for each",
				sc.data.Name(), i, len(labels), sc.output, each)
		}
		classes := each / max(len(labels), 1)
		if classes < 2 {
			continue
		}
		for _, label := range labels {
			if label >= classes || label < -1 || label < 0 && len(labels) == 1 {
				return &LabelError{sc.data.Name(), i, label, sc.output, classes}
			}
		}
	}
	return nil
}

func (sc *score) add(b int, ref, got map[string]numeric.Value) error {
	switch sc.task.Kind {
	case report.TaskDetection, report.TaskOutputs:
		return sc.addWhole(b, ref, got)
	}
	if sc.output == "" {
		return nil
	}
	if sc.unclassed == "" {
		sc.unclassed = sc.whyUnclassed(b*sc.batch, got)
	}
	r, g := ref[sc.output].Floats(), got[sc.output].Floats()
	alike := slices.Equal(ref[sc.output].Dims, got[sc.output].Dims)
	if !alike && sc.unlike == "" {
		sc.unlike = fmt.Sprintf("output %s, whose shape depends on the data, is %v where FP32's is %v", sc.output, got[sc.output].Dims, ref[sc.output].Dims)
	}
	each := len(g) / sc.batch
	for k := range sc.batch {
		item := b*sc.batch + k
		if item >= sc.data.Len() || each == 0 && alike {
			break
		}
		sc.items++
		if !alike { // no row is FP32's
			continue
		}
		labels := sc.data.Labels(item)
		rows := max(len(labels), 1)
		before, known := sc.loss, sc.labelled
		for row := range rows {
			from, to := k*each+row*(each/rows), k*each+(row+1)*(each/rows)
			class := -1
			if row < len(labels) && sc.unclassed == "" {
				class = labels[row]
			}
			if sc.together && class < 0 { // what fills the last one up
				continue
			}
			sc.addRow(r[from:to], g[from:to], class, rows > 1 && !sc.together)
		}
		if rows > 1 && !sc.together {
			sc.texts = append(sc.texts, textLoss{sc.loss - before, sc.labelled - known})
		}
	}
	return nil
}

// whyUnclassed says why the outputs of an item have no row of scores of classes, whatever labels the data have; "" where they may have
// one, as where each of several labels is of a row, or a person says that the task is classes and there is a label.
func (sc *score) whyUnclassed(item int, outputs map[string]numeric.Value) string {
	labels := len(sc.data.Labels(item))
	if labels > 1 || labels > 0 && sc.task.Kind == report.TaskClasses {
		return ""
	}
	why := unclassed(sc.output, outputs[sc.output].Dims, sc.batch)
	if why == "" && sc.task.Kind == "" {
		why = places(sc.output, outputs, sc.batch)
	}
	if why != "" && labels > 0 {
		why += "; the labels of the data are not counted"
	}
	return why
}

// addWhole counts the items of a batch whose outputs are no rows of classes.
func (sc *score) addWhole(b int, ref, got map[string]numeric.Value) error {
	for k := range sc.batch {
		item := b*sc.batch + k
		if item >= sc.data.Len() {
			break
		}
		sc.items++
		if sc.boxes == nil {
			continue
		}
		if err := sc.boxes.add(item, k, ref, got); err != nil {
			return err
		}
	}
	return nil
}

// addRow counts a row of scores; class is -1 where it is not known.
func (sc *score) addRow(ref, got []float32, class int, text bool) {
	first := argmax(ref)
	sc.rows++
	if rank(ref, first) == 0 && rank(got, first) == 0 {
		sc.agree++
	}
	if class < 0 || class >= len(got) { // only where there are no classes: checkLabels
		return
	}
	sc.labelled++
	if text {
		sc.text = true
		sc.loss += surprise(got, class)
		sc.refLoss += surprise(ref, class)
	}
	switch first - class {
	case 1:
		sc.below++
	case -1:
		sc.above++
	}
	inRef, inGot := rank(ref, class), rank(got, class)
	count(&sc.ref1, &sc.ref5, inRef)
	count(&sc.top1, &sc.top5, inGot)
	if !text {
		sc.answers.Add(inGot == 0, inRef == 0)
	}
}

// unclassed says why an output has no row of classes for each item; "" where it has one: a single extent other than 1 beside the batch.
func unclassed(name string, dims []int, batch int) string {
	switch len(wide(dims, batch)) {
	case 0:
		return fmt.Sprintf("no scores of classes (%s is one value for each item)", name)
	case 1:
		return ""
	}
	return fmt.Sprintf("no row of scores for each item (%s is %v)", name, dims)
}

// wide returns the extents of an output beside the batch that are not 1.
func wide(dims []int, batch int) (list []int) {
	if len(dims) > 1 && dims[0] == batch {
		dims = dims[1:]
	}
	for _, n := range dims {
		if n > 1 {
			list = append(list, n)
		}
	}
	return list
}

// places says why the row of an output is no scores of classes; "" where it may be. An extent that another output has beside others
// numbers places, as the cells of a detector of which each has a box, or features, as those of each token of a text.
func places(name string, outputs map[string]numeric.Value, batch int) string {
	row := wide(outputs[name].Dims, batch)
	for _, other := range slices.Sorted(maps.Keys(outputs)) {
		if extents := wide(outputs[other].Dims, batch); len(extents) > 1 && slices.Contains(extents, row[0]) {
			return fmt.Sprintf("output %s is %v and output %s %v: %d numbers no classes", name, outputs[name].Dims, other, outputs[other].Dims, row[0])
		}
	}
	return ""
}

// surprise returns -log of the softmax of a class.
func surprise(x []float32, class int) float64 {
	most := x[argmax(x)]
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v - most))
	}
	return math.Log(sum) - float64(x[class]-most)
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

// result returns what the items came to, and their number. The task is known then, where nobody said it.
func (sc *score) result() (report.LabelAccuracy, int, error) {
	if sc.unclassed == "" && sc.rows == 0 {
		sc.unclassed = sc.unlike
	}
	share := func(n, of int) float64 {
		if of == 0 {
			return -1
		}
		return float64(n) / float64(of)
	}
	l := report.LabelAccuracy{
		Top1: share(sc.top1, sc.labelled), Top5: share(sc.top5, sc.labelled),
		FP32Top1: share(sc.ref1, sc.labelled), FP32Top5: share(sc.ref5, sc.labelled),
		Agreement: share(sc.agree, sc.rows),
	}
	switch {
	case sc.boxes != nil:
		l.Detection = sc.boxes.result()
	case sc.task.Kind == report.TaskClasses && sc.unclassed != "" && sc.labelled == 0:
		return l, sc.items, fmt.Errorf("task classes: %s", sc.unclassed)
	case sc.task.Kind != "":
	case sc.text:
		sc.task.Kind = report.TaskText
	case sc.unclassed != "" && sc.labelled == 0 || sc.output == "":
		sc.task.Kind = report.TaskOutputs
	default:
		sc.task.Kind = report.TaskClasses
	}
	if sc.unclassed != "" && sc.labelled == 0 {
		l.Agreement, l.Unclassed = -1, sc.unclassed
	}
	if sc.text {
		l.Tokens, l.Perplexity, l.FP32Perplexity = sc.labelled, perplexity(sc.loss, sc.labelled), perplexity(sc.refLoss, sc.labelled)
	} else {
		l.Offset = sc.offset()
		l.AgreementWithin = report.ShareInterval(l.Agreement, sc.rows)
	}
	if sc.answers.Count > 0 {
		l.Answers = &sc.answers
		l.BesideFP32 = l.Answers.BesideFP32()
	}
	if l.Perplexity != nil {
		l.PerplexityWithin = bootstrap(len(sc.texts), func(items []int) float64 {
			var loss float64
			var n int
			for _, i := range items {
				loss, n = loss+sc.texts[i].loss, n+sc.texts[i].n
			}
			return math.Exp(loss / float64(max(n, 1)))
		})
	}
	return l, sc.items, nil
}

// perplexity is the exponential of the mean of a sum; nil where that is no number.
func perplexity(sum float64, n int) *float64 {
	p := math.Exp(sum / float64(n))
	if math.IsNaN(p) || math.IsInf(p, 0) {
		return nil
	}
	return &p
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
