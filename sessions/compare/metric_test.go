package compare

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/report"
)

// judged compares two tensors by a metric and its limit alone.
func judged(t *testing.T, metric string, limit float64, a, b []float32, dims ...int) report.TensorDifference {
	t.Helper()
	d := difference{}
	d.judge(Measures{Limits: map[string]float64{metric: limit}, Alone: true})
	if err := d.add(0, Axis{axis: -1}, numeric.Values(numeric.F32, a, dims...), numeric.Values(numeric.F32, b, dims...), numeric.Value{}); err != nil {
		t.Fatal(err)
	}
	r := d.report(metric)
	if len(r.Metrics) != 1 || r.Metrics[0].Name != metric || r.Passed != r.Metrics[0].Passed {
		t.Fatalf("%+v", r)
	}
	return r
}

// TestMetrics: what Polygraphy 0.53.6 finds of the same tensors, and whether it passes them at its usual limits.
func TestMetrics(t *testing.T) {
	nan, most := float32(math.NaN()), math.MaxFloat64
	for _, c := range []struct {
		a, b   []float32
		values [4]float64 // l2, cosine_similarity, psnr, snr
		passed [4]bool
	}{
		{[]float32{1, 2, 3, 4}, []float32{1, 2, 3, 4.5}, [4]float64{0.5, 0.9982953841253281, 24.082399653118497, 20.791812460476248}, [4]bool{false, true, false, true}},
		{[]float32{-1, -2}, []float32{-1.5, -2}, [4]float64{0.5, 0.9838699100999074, 9.030899869919436, 13.010299956639813}, [4]bool{}},
		{[]float32{0, 0}, []float32{0, 0}, [4]float64{0, 1, report.MaxDB, report.MaxDB}, [4]bool{true, true, true, true}},
		{[]float32{0, 0}, []float32{0, 1}, [4]float64{1, 0, 3.010299956639812, -report.MaxDB}, [4]bool{}},
		{[]float32{3, 4}, []float32{0, 0}, [4]float64{5, 0, 1.0720996964786842, 0}, [4]bool{}},
		{[]float32{1e-3, 5, -7, 2, 2, 0}, []float32{0, 5.1, -7, 2, 1, 0}, [4]float64{1.0049880501412032, 0.9938407935014958, 21.71769463480157, 19.094920621044672}, [4]bool{}},
		{[]float32{nan, 1}, []float32{0, 1}, [4]float64{most, 0, 0, 0}, [4]bool{}},
	} {
		for i, m := range Metrics()[:4] {
			got := judged(t, m.Name, m.Usual, c.a, c.b, len(c.a)).Metrics[0]
			if math.Abs(got.Value-c.values[i]) > 1e-6*math.Abs(c.values[i]) || got.Passed != c.passed[i] {
				t.Errorf("%v, %v: %s %.15g, passed %v; want %.15g, %v", c.a, c.b, m.Name, got.Value, got.Passed, c.values[i], c.passed[i])
			}
		}
	}
	for _, c := range []struct {
		a, b   []float32
		dims   []int
		passed []bool // at tolerances of 0, 1 and 2 places
	}{
		{[]float32{0, 1, 2}, []float32{1, 0, 2}, []int{1, 3}, []bool{false, true, true}},
		{[]float32{0, 1, 2}, []float32{1, 2, 0}, []int{3}, []bool{false, false, true}},
		{[]float32{0, 1, 2, 5, 6, 7}, []float32{0, 1, 2, 5, 8, 7}, []int{2, 3}, []bool{false, false, true}},
		{[]float32{0, 1, 9}, []float32{0, 1, 2}, []int{1, 3}, []bool{false, true, true}},
	} {
		var got []bool
		for places := range 3 {
			got = append(got, judged(t, "indices", float64(places), c.a, c.b, c.dims...).Passed)
		}
		if !slices.Equal(got, c.passed) {
			t.Errorf("indices %v, %v: %v, want %v", c.a, c.b, got, c.passed)
		}
	}
}

// TestMetricOfBatches: of several batches the worst counts, whichever comes first, and what is no number is worst.
func TestMetricOfBatches(t *testing.T) {
	for _, c := range []struct {
		metric string
		batch  [3]float32 // |a - b| of each, a being 10
		want   float64
	}{{"l2", [3]float32{1, 3, 2}, 3}, {"snr", [3]float32{1, 10, 0}, 0}, {"l2", [3]float32{1, float32(math.NaN()), 9}, math.MaxFloat64}} {
		d := difference{}
		d.judge(Measures{Limits: map[string]float64{c.metric: 1}})
		for i, off := range c.batch {
			one := func(v float32) numeric.Value { return numeric.Values(numeric.F32, []float32{v}, 1) }
			if err := d.add(i, Axis{axis: -1}, one(10), one(10+off), numeric.Value{}); err != nil {
				t.Fatal(err)
			}
		}
		if r := d.report("x"); math.Abs(r.Metrics[0].Value-c.want) > 1e-6*c.want || r.Passed {
			t.Errorf("%s of %v: %+v, want %g", c.metric, c.batch, r.Metrics[0], c.want)
		}
	}
}

// TestTop finds the places of the highest elements along any axis; equal ones stand in their order, and what is no number first.
func TestTop(t *testing.T) {
	v := numeric.Values(numeric.F32, []float32{1, 5, 5, 0, 7, -1}, 2, 3)
	for _, c := range []struct {
		top  Top
		want []int64
		dims []int
	}{
		{Top{2, -1}, []int64{1, 2, 1, 0}, []int{2, 2}},
		{Top{9, 1}, []int64{1, 2, 0, 1, 0, 2}, []int{2, 3}},
		{Top{1, 0}, []int64{0, 1, 0}, []int{1, 3}},
	} {
		got, ok := c.top.of(v)
		if !ok || !slices.Equal(got.I64(), c.want) || !slices.Equal(got.Dims, c.dims) {
			t.Errorf("%+v: %v%v, want %v%v", c.top, got.I64(), got.Dims, c.want, c.dims)
		}
	}
	if _, ok := (Top{1, 2}).of(v); ok {
		t.Error("an axis that there is not")
	}
}
