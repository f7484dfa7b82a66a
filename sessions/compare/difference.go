package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/report"
)

func ErrorsOf(e quant.Errors) report.Errors {
	return report.Errors{
		MaxAbs: e.MaxAbs, MeanAbs: e.MeanAbs, MedianAbs: e.MedianAbs, Bias: e.Bias, MaxRel: e.MaxRel, MeanRel: e.MeanRel,
		L2: e.L2, Cosine: e.Cosine, SQNR: e.SQNRdB, PSNR: e.PSNRdB, NotFinite: e.NotFinite,
	}
}

// worstElements is how many elements of a tensor are named.
const worstElements = 5

// Absolute differences are counted by decade, from below 10^leastDecade to at least 10^mostDecade.
const (
	leastDecade = -10
	mostDecade  = 4
)

// difference gathers how one tensor differs between two runs, item by item.
type difference struct {
	tolerance     report.Tolerance
	statistic     string                 // that is to be within the tolerance; "": every element is
	quantile      float64                // of which a quantile is
	relative      quant.ErrorAccumulator // of a statistic: |a - b| / |b|, against 0
	metrics       []limited              // by which it is judged as a whole
	alone         bool                   // and by them alone
	scaled        bool                   // the tolerance's Abs is a share of b's RMS, which is known when all was added
	rounding      *rounding              // finds the tolerance then; nil: it is given
	slack         quant.ErrorAccumulator // of either: what |a - b| has beyond Rel |b|, against 0
	squares       float64                // sum of b^2
	errors        quant.ErrorAccumulator
	steps         steps // of a tensor that was quantised
	count         int
	differ        int
	over          int
	largest       float64
	largestAt     report.Position
	toPass        float64 // the largest relative difference where b is not 0
	zeros         bool    // elements differ where b is 0
	equal         int
	notFinite     int
	bothNotFinite int // and equal: NaN or the same infinity
	decades       [mostDecade - leastDecade + 2]int
	worst         []report.DifferingElement
	worstRanks    []severity // of worst
	shape         []int
	types         [2]string
	unlike        *report.UnlikeShapes
}

// between says which tensors are compared: as which types the two runs store them, by a check of their own, nil for none, and by
// what FP32 explains how they differ, nil where it does not.
func (d *difference) between(how Options, stored [2]numeric.DataType, float bool, own *Check, explained *report.RoundingFactors) {
	d.types, d.tolerance = [2]string{stored[0].String(), stored[1].String()}, how.tolerance(stored[:]...)
	switch {
	case own != nil:
		d.tolerance = own.Tolerance
		if d.statistic, d.quantile = own.Statistic, own.Quantile; d.statistic == Elementwise {
			d.statistic = ""
		}
	case explained != nil:
		d.tolerance = report.Tolerance{}
		if d.rounding == nil {
			d.rounding = &rounding{factors: *explained}
		}
	case how.Scaled && !float: // indices and booleans are right or wrong
		d.tolerance = report.Tolerance{}
	default:
		d.scaled = how.Scaled
	}
}

// quantised says that the tensor is whole steps of a scale, 0 where it is not. Where a tolerance is given, that alone counts.
func (d *difference) quantised(how Options, scale float64) {
	if how.Scaled {
		d.steps.scale = scale
	}
}

// judge says by which metrics it is judged.
func (d *difference) judge(by Measures) {
	d.alone = by.Alone
	for _, m := range Metrics() {
		if limit, ok := by.Limits[m.Name]; ok {
			d.metrics = append(d.metrics, limited{Metric: m, limit: limit})
		}
	}
}

// found reports whether the tolerance is found when all was added.
func (d *difference) found() bool { return d.scaled || d.rounding != nil }

// add compares the tensors of items from number first on, which lie along an axis; ref is FP32's, where that explains them. Tensors of
// different shapes differ.
func (d *difference) add(first int, at Axis, a, b, ref numeric.Value) error {
	if d.shape == nil {
		d.shape = a.Dims
	}
	if !slices.Equal(a.Dims, b.Dims) {
		if d.unlike == nil {
			d.unlike = &report.UnlikeShapes{First: a.Dims, Second: b.Dims}
		}
		d.unlike.Inferences++
		return nil
	}
	if d.rounding != nil {
		if err := d.rounding.add(ref, a, b); err != nil {
			return err
		}
	}
	x, y := float64s(a), float64s(b)
	if err := d.errors.AddWide(y, x); err != nil {
		return err
	}
	if d.found() {
		if err := d.addSlack(x, y); err != nil {
			return err
		}
	}
	if d.statistic != "" {
		if err := d.addRelative(x, y); err != nil {
			return err
		}
	}
	for i := range d.metrics {
		d.metrics[i].add(x, y, a.Dims)
	}
	for i := range x {
		d.pair(x[i], y[i], func() report.Position { return at.position(first, i, a.Dims) })
	}
	return nil
}

// addSlack notes by how much elements exceed the relative part of the tolerance.
func (d *difference) addSlack(a, b []float64) error {
	slack := make([]float64, len(a))
	for i, x := range a {
		if abs := math.Abs(b[i]); abs <= math.MaxFloat64 {
			d.squares += abs * abs
		}
		if x == b[i] || x != x && b[i] != b[i] {
			continue
		}
		slack[i] = max(0, math.Abs(x-b[i])-d.tolerance.Rel*math.Abs(b[i]))
		if math.IsInf(x, 0) || math.IsInf(b[i], 0) { // beyond any tolerance, whatever is relative to what
			slack[i] = math.Inf(1)
		}
	}
	return d.slack.AddWide(make([]float64, len(a)), slack)
}

// addRelative notes the relative differences. One to a b of 0 is as to the least number that added to 1 gives another one, as
// Polygraphy has it.
func (d *difference) addRelative(a, b []float64) error {
	const epsilon = 0x1p-52
	rel := make([]float64, len(a))
	for i, x := range a {
		if y := math.Abs(b[i]); x != b[i] {
			if y == 0 {
				y = epsilon
			}
			rel[i] = math.Abs(x-b[i]) / y
		}
	}
	return d.relative.AddWide(make([]float64, len(a)), rel)
}

// pair compares two elements.
func (d *difference) pair(a, b float64, at func() report.Position) {
	d.count++
	if a == b || a != a && b != b {
		d.equal++
		if !(math.Abs(a) <= math.MaxFloat64) {
			d.bothNotFinite++
		}
		return
	}
	d.differ++
	if d.steps.scale > 0 {
		d.steps.add(a, b)
	}
	abs := math.Abs(a - b)
	excess := abs / (d.tolerance.Abs + d.tolerance.Rel*math.Abs(b))
	if d.found() {
		excess = abs - d.tolerance.Rel*math.Abs(b)
	}
	switch {
	case !(abs <= math.MaxFloat64): // one of them is not a number
		d.notFinite++
		abs, excess = math.Inf(1), math.Inf(1)
	default:
		decade := int(math.Floor(math.Log10(abs)))
		d.decades[min(max(decade-leastDecade+1, 0), len(d.decades)-1)]++
		if b == 0 {
			d.zeros = true
		} else {
			d.toPass = max(d.toPass, abs/math.Abs(b))
		}
	}
	if !(excess <= 1) {
		d.over++
	}
	if abs > d.largest {
		d.largest, d.largestAt = abs, at()
	}
	n, r := len(d.worst), severity{excess, abs}
	if !d.found() && excess <= 1 || excess <= 0 {
		r.excess = 0
	}
	if n == worstElements && r.compare(d.worstRanks[n-1]) <= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(d.worstRanks, r, func(of, r severity) int {
		if of.compare(r) >= 0 {
			return -1
		}
		return 1
	})
	d.worstRanks = slices.Insert(d.worstRanks, i, r)
	d.worst = slices.Insert(d.worst, i, report.DifferingElement{Position: at(), First: a, Second: b, Abs: abs, Rel: abs / math.Abs(b)})
	d.worstRanks, d.worst = d.worstRanks[:min(n+1, worstElements)], d.worst[:min(n+1, worstElements)]
}

// severity orders the elements that differ: by how far they are beyond the tolerance, and those that are not by how much they
// differ.
type severity struct {
	excess float64 // 0: not beyond it, as far as it is known
	abs    float64
}

func (r severity) compare(o severity) int {
	return cmp.Or(cmp.Compare(r.excess, o.excess), cmp.Compare(r.abs, o.abs))
}

// report sums the comparison up.
func (d *difference) report(name string) report.TensorDifference {
	r := report.TensorDifference{
		Name: name, Type: d.types[0], SecondType: d.types[1], Shape: d.shape, Count: d.count, Differ: d.differ, Over: d.over, BothNotFinite: d.bothNotFinite,
		Passed: d.over == 0, Errors: ErrorsOf(d.errors.Errors()), Tolerance: d.tolerance, MaxAt: d.largestAt, Worst: d.worst,
	}
	if !d.zeros && d.notFinite == 0 {
		r.RelToPass = d.toPass
	}
	switch {
	case d.found():
		d.find(&r)
	case d.statistic != "":
		r.Statistic = d.checked(r.Errors)
		r.Passed = d.notFinite == 0 && (r.Statistic.Abs <= d.tolerance.Abs || r.Statistic.Rel <= d.tolerance.Rel)
	}
	if r.Steps = d.steps.report(d.count); r.Steps != nil && r.Steps.Elements <= r.Steps.Most && d.statistic == "" {
		r.Passed = true
	}
	r.Alone = d.alone
	r.Passed = r.Passed || d.alone
	for i := range d.metrics {
		v := d.metrics[i].report()
		r.Metrics, r.Passed = append(r.Metrics, v), r.Passed && v.Passed
	}
	if r.Unlike = d.unlike; r.Unlike != nil {
		r.Passed = false
	}
	bin := func(from, to float64, n int) {
		if n > 0 {
			r.Histogram = append(r.Histogram, report.DifferenceBin{From: from, To: to, Count: n})
		}
	}
	bin(0, 0, d.equal)
	for i, n := range d.decades {
		from, to := math.Pow10(leastDecade+i-1), math.Pow10(leastDecade+i)
		switch i {
		case 0:
			from = 0
		case len(d.decades) - 1:
			to = math.MaxFloat64
		}
		bin(from, to, n)
	}
	bin(math.MaxFloat64, math.MaxFloat64, d.notFinite)
	return r
}

// checked returns the statistic that is checked.
func (d *difference) checked(e report.Errors) *report.Statistic {
	rel := d.relative.Errors()
	switch d.statistic {
	case "max":
		return &report.Statistic{Name: d.statistic, Abs: e.MaxAbs, Rel: rel.MaxAbs}
	case "mean":
		return &report.Statistic{Name: d.statistic, Abs: e.MeanAbs, Rel: rel.MeanAbs}
	case quantile:
		return &report.Statistic{Name: fmt.Sprintf("%s %g", quantile, d.quantile), Abs: d.errors.AbsQuantile(d.quantile), Rel: d.relative.AbsQuantile(d.quantile)}
	}
	return &report.Statistic{Name: "median", Abs: e.MedianAbs, Rel: rel.MedianAbs}
}

// find puts in the tolerance, and what it says of the elements.
func (d *difference) find(r *report.TensorDifference) {
	r.Passed = true
	limit := d.tolerance.Abs * math.Sqrt(d.squares/max(1, float64(d.count)))
	if d.rounding != nil {
		r.Rounding = d.rounding.report()
		r.Rounding.RMSE = d.errors.Errors().RMSE
		limit, r.Passed = r.Rounding.MaxAbs, r.Rounding.RMSE <= r.Rounding.RMS
	}
	limit, over := d.slack.Above(limit)
	if d.rounding != nil {
		r.Rounding.MaxAbs = limit
	}
	r.Tolerance, r.Over = report.Tolerance{Abs: limit, Rel: d.tolerance.Rel}, int(over)
	r.Passed = r.Passed && over == 0
}

// outputStats gathers what OutputStats tells.
type outputStats struct {
	r            report.OutputStats
	sum, squares float64
}

// shownStrings is how many strings of an output are told.
const shownStrings = 8

// add counts the elements of items from number first on, which lie along an axis.
func (o *outputStats) add(first int, at Axis, v numeric.Value) {
	if o.r.Shape == nil {
		o.r.Type, o.r.Shape = v.Type.String(), v.Dims
	}
	if v.Type == numeric.Str {
		list := v.Strings()
		o.r.Count += len(list)
		o.r.First = append(o.r.First, list[:min(len(list), shownStrings-len(o.r.First))]...)
		return
	}
	for i, x := range float64s(v) {
		o.r.Count++
		if math.IsNaN(x) || math.IsInf(x, 0) {
			o.r.NotFinite++
			continue
		}
		only := o.r.Count-o.r.NotFinite == 1
		if only || x < o.r.Min {
			o.r.Min, o.r.MinAt = x, at.position(first, i, v.Dims)
		}
		if only || x > o.r.Max {
			o.r.Max, o.r.MaxAt = x, at.position(first, i, v.Dims)
		}
		o.sum += x
		o.squares += x * x
	}
}

func (o *outputStats) report() report.OutputStats {
	if n := float64(o.r.Count - o.r.NotFinite); n > 0 {
		o.r.Mean = o.sum / n
		o.r.Std = math.Sqrt(max(0, o.squares/n-o.r.Mean*o.r.Mean))
	}
	return o.r
}

// topClasses is how many classes of an item are named, and maxClassItems of how many items.
const (
	topClasses    = 5
	maxClassItems = 16
	maxClasses    = 100_000
)

// looksLikeClasses reports whether an output of so many items may be scores of classes: of each item one axis.
func looksLikeClasses(v numeric.Value, items int) bool {
	if !v.Type.IsFloat() || len(v.Dims) == 0 || items < 1 || v.Len()%items != 0 {
		return false
	}
	n := v.Len() / items
	return n > 1 && n <= maxClasses && slices.Max(v.Dims[min(1, len(v.Dims)-1):]) == n
}

// top returns the highest scores, best first, the lower class first among equals.
func top(scores []float64) []report.ClassScore {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	var best []report.ClassScore
	for _, c := range order[:min(topClasses, len(order))] {
		best = append(best, report.ClassScore{Class: c, Score: scores[c]})
	}
	return best
}
