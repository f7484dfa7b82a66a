package sessions

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
)

// worstElements is how many elements of a tensor are named.
const worstElements = 5

// Absolute differences are counted by decade, from below 10^leastDecade to at least 10^mostDecade.
const (
	leastDecade = -10
	mostDecade  = 4
)

// difference gathers how one tensor differs between two runs, item by item.
type difference struct {
	tolerance     Tolerance
	errors        quant.ErrorAccumulator
	count         int
	differ        int
	over          int
	largest       float64
	largestAt     Position
	reference     float64            // the largest |b|
	relative      map[uint64]float64 // the largest relative difference by |b|, as relativeBin sorts it
	toPass        float64            // the largest relative difference where b is not 0
	zeros         bool               // elements differ where b is 0
	equal         int
	notFinite     int
	bothNotFinite int // and equal: NaN or the same infinity
	decades       [mostDecade - leastDecade + 2]int
	worst         []DifferingElement
	worstExcess   []float64 // of worst: |a - b| over what the tolerance allows
	shape         []int
	types         [2]string
}

// add compares the tensors of one batch, whose first item is number item.
func (d *difference) add(item int, a, b graph.Value) error {
	if !slices.Equal(a.Dims, b.Dims) {
		return fmt.Errorf("shapes %v and %v differ", a.Dims, b.Dims)
	}
	if err := d.errors.Add(floats(b), floats(a)); err != nil {
		return err
	}
	x, y := float64s(a), float64s(b)
	for i := range x {
		d.pair(x[i], y[i], func() Position { return Position{item, index(i, a.Dims)} })
	}
	d.shape = a.Dims
	return nil
}

// pair compares two elements.
func (d *difference) pair(a, b float64, at func() Position) {
	d.count++
	if m := math.Abs(b); m <= math.MaxFloat64 {
		d.reference = max(d.reference, m)
	}
	if a == b || a != a && b != b {
		d.equal++
		if !(math.Abs(a) <= math.MaxFloat64) {
			d.bothNotFinite++
		}
		return
	}
	d.differ++
	abs := math.Abs(a - b)
	excess := abs / (d.tolerance.Abs + d.tolerance.Rel*math.Abs(b))
	switch {
	case !(abs <= math.MaxFloat64): // one of them is not a number
		d.notFinite++
		abs, excess = math.Inf(1), math.Inf(1)
	default:
		decade := int(math.Floor(math.Log10(abs)))
		d.decades[min(max(decade-leastDecade+1, 0), len(d.decades)-1)]++
		d.addRelative(abs, b)
	}
	if !(excess <= 1) {
		d.over++
	}
	if abs > d.largest {
		d.largest, d.largestAt = abs, at()
	}
	n := len(d.worst)
	if n == worstElements && excess <= d.worstExcess[n-1] {
		return
	}
	i, _ := slices.BinarySearchFunc(d.worstExcess, excess, func(e, x float64) int {
		if e >= x {
			return -1
		}
		return 1
	})
	d.worstExcess = slices.Insert(d.worstExcess, i, excess)
	d.worst = slices.Insert(d.worst, i, DifferingElement{at(), a, b, abs, relative(abs, b)})
	d.worstExcess, d.worst = d.worstExcess[:min(n+1, worstElements)], d.worst[:min(n+1, worstElements)]
}

// leastReference is the share of the largest |b| under which an element's relative difference does not count: there it is
// one to what rounding left of a zero.
const leastReference = 1e-6

// relativeBin returns the bin of a magnitude, 32 an octave; the next bin begins at relativeBinEnd.
func relativeBin(m float64) uint64 { return math.Float64bits(m) >> 47 }

func relativeBinEnd(bin uint64) float64 { return math.Float64frombits((bin + 1) << 47) }

// addRelative notes the relative difference of a pair. How large the largest b is stands fixed at the end only.
func (d *difference) addRelative(abs, b float64) {
	if d.relative == nil {
		d.relative = map[uint64]float64{}
	}
	rel, bin := relative(abs, b), relativeBin(math.Abs(b))
	d.relative[bin] = max(d.relative[bin], rel)
	if b == 0 {
		d.zeros = true
	} else {
		d.toPass = max(d.toPass, rel)
	}
}

// maxRelative returns the largest relative difference of elements whose |b| is at least leastReference of the largest
// one, within a bin.
func (d *difference) maxRelative() float64 {
	m := 0.0
	for bin, rel := range d.relative { // a maximum, in whatever order
		if relativeBinEnd(bin) > leastReference*d.reference {
			m = max(m, rel)
		}
	}
	return m
}

// relative returns a difference over the magnitude of b, where a b of zero counts as 2^-52.
func relative(abs, b float64) float64 {
	if b == 0 {
		return abs / 0x1p-52
	}
	return abs / math.Abs(b)
}

// report sums the comparison up.
func (d *difference) report(name string) TensorDifference {
	r := TensorDifference{
		Name: name, Type: d.types[0], SecondType: d.types[1], Shape: d.shape, Count: d.count, Differ: d.differ, Over: d.over, BothNotFinite: d.bothNotFinite,
		Passed: d.over == 0, Errors: errorsOf(d.errors.Errors()), Tolerance: d.tolerance, MaxAt: d.largestAt, Worst: d.worst,
	}
	r.MaxRel = d.maxRelative()
	if !d.zeros && d.notFinite == 0 {
		r.RelToPass = d.toPass
	}
	bin := func(from, to float64, n int) {
		if n > 0 {
			r.Histogram = append(r.Histogram, DifferenceBin{from, to, n})
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

// index returns the coordinates of element i.
func index(i int, dims []int) []int {
	at := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k], i = i%dims[k], i/dims[k]
	}
	return at
}

// float64s returns the elements of a value as numbers; those of F64 and integers are exact up to 2^53.
func float64s(v graph.Value) []float64 {
	if v.Type == graph.F64 {
		return graph.View[float64](v.Data)
	}
	out := make([]float64, v.Len())
	if v.Type.IsFloat() {
		for i, f := range v.Floats() {
			out[i] = float64(f)
		}
		return out
	}
	for i, n := range v.Ints() {
		out[i] = float64(n)
	}
	return out
}

// floats returns the elements of a value in F32.
func floats(v graph.Value) []float32 {
	if v.Type.IsFloat() {
		return v.Floats()
	}
	out := make([]float32, v.Len())
	for i, n := range v.Ints() {
		out[i] = float32(n)
	}
	return out
}

// outputStats gathers what OutputStats tells.
type outputStats struct {
	r            OutputStats
	sum, squares float64
}

// add counts the elements of one batch.
func (o *outputStats) add(item int, v graph.Value) {
	o.r.Type, o.r.Shape = v.Type.String(), v.Dims
	for i, x := range float64s(v) {
		o.r.Count++
		if math.IsNaN(x) || math.IsInf(x, 0) {
			o.r.NotFinite++
			continue
		}
		first := o.r.Count-o.r.NotFinite == 1
		if first || x < o.r.Min {
			o.r.Min, o.r.MinAt = x, Position{item, index(i, v.Dims)}
		}
		if first || x > o.r.Max {
			o.r.Max, o.r.MaxAt = x, Position{item, index(i, v.Dims)}
		}
		o.sum += x
		o.squares += x * x
	}
}

func (o *outputStats) report() OutputStats {
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
func looksLikeClasses(v graph.Value, items int) bool {
	if !v.Type.IsFloat() || len(v.Dims) == 0 || items < 1 || v.Len()%items != 0 {
		return false
	}
	n := v.Len() / items
	return n > 1 && n <= maxClasses && slices.Max(v.Dims[min(1, len(v.Dims)-1):]) == n
}

// top returns the highest scores, best first, the lower class first among equals.
func top(scores []float64) []ClassScore {
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
	var best []ClassScore
	for _, c := range order[:min(topClasses, len(order))] {
		best = append(best, ClassScore{c, scores[c]})
	}
	return best
}
