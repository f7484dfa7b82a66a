package quant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestErrors compares with values of numpy:
//
//	ref = np.array([1, -2, 3, 0, 4], np.float32); got = np.array([1, -2.5, 2, 0.25, 4], np.float32)
func TestErrors(t *testing.T) {
	e, err := Compare([]float32{1, -2, 3, 0, 4}, []float32{1, -2.5, 2, 0.25, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
		tolerance float64
	}{
		{"MaxAbs", e.MaxAbs, 1, 0}, {"MeanAbs", e.MeanAbs, 0.35, 1e-12}, {"MedianAbs", e.MedianAbs, 0.25, 1.0 / 60},
		{"MaxRel", e.MaxRel, 1.0 / 3, 0}, {"MeanRel", e.MeanRel, (0.25 + 1.0/3) / 4, 1e-12},
		{"L1", e.L1, 1.75, 1e-12}, {"L2", e.L2, 1.1456439237389600, 1e-12}, {"RMSE", e.RMSE, 0.51234753829798, 1e-12},
		{"Cosine", e.Cosine, 0.9781752653451364, 1e-10}, {"SQNRdB", e.SQNRdB, 13.59021942641668, 1e-10},
		{"PSNRdB", e.PSNRdB, 21.371731930253116, 1e-10},
	} {
		near(t, c.name, c.got, c.want, c.tolerance+1e-15)
	}
	if e.Count != 5 || e.L0 != 3 || e.NotFinite != 0 {
		t.Errorf("%+v", e)
	}
}

func TestErrorsSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	if _, err := Compare([]float32{1}, []float32{1, 2}); err == nil {
		t.Error("different lengths were compared")
	}
	for _, c := range []struct {
		name     string
		ref, got []float32
		want     Errors
	}{
		{"nothing", nil, nil, Errors{}},
		{"equal", []float32{1, 2}, []float32{1, 2}, Errors{Count: 2, Cosine: 1, SQNRdB: MaxDB, PSNRdB: MaxDB}},
		{"zeros", []float32{0, 0}, []float32{0, 0}, Errors{Count: 2, Cosine: 1, SQNRdB: MaxDB, PSNRdB: MaxDB}},
		{"agreeing infinities", []float32{inf, -inf, 1}, []float32{inf, -inf, 1}, Errors{Count: 3, Cosine: 1, SQNRdB: MaxDB, PSNRdB: MaxDB}},
		{"infinite", []float32{inf, 1, nan}, []float32{-inf, nan, 1}, Errors{NotFinite: 3, L0: 3, SQNRdB: -MaxDB, PSNRdB: -MaxDB}},
		{"both NaN", []float32{nan, 1}, []float32{nan, 1}, Errors{Count: 1, NotFinite: 1, L0: 1, SQNRdB: -MaxDB, PSNRdB: -MaxDB}},
	} {
		got, err := Compare(c.ref, c.got)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	e, _ := Compare([]float32{math.MaxFloat32, 0}, []float32{-math.MaxFloat32, math.MaxFloat32})
	if math.IsInf(e.MeanRel, 0) || math.IsNaN(e.Cosine) || e.MedianAbs <= 0 {
		t.Errorf("extremes: %+v", e)
	}
}

// TestAbsQuantile: quantiles are those of the sorted differences.
func TestAbsQuantile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var a ErrorAccumulator
	var got, sorted []float32
	for i := range 1001 {
		v := float32(0)
		if i%5 > 0 {
			v = float32(math.Exp(8 * random.NormFloat64()))
		}
		got, sorted = append(got, v), append(sorted, v)
	}
	slices.Sort(sorted)
	if err := a.Add(make([]float32, len(got)), got); err != nil {
		t.Fatal(err)
	}
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
		want := float64(sorted[int(q*1000)])
		if got := a.AbsQuantile(q); math.Abs(got-want) > want/60 {
			t.Errorf("quantile %g: %g, want %g", q, got, want)
		}
	}
}

// TestRelativeErrors counts relative errors where the reference is not small beside the tensor's largest, whatever comes
// first.
func TestRelativeErrors(t *testing.T) {
	for _, c := range []struct {
		name      string
		ref, got  []float32
		max, mean float64
	}{
		{"a rounded zero", []float32{100, 1e-6, 0}, []float32{101, 0.5, 0.25}, 0.01, 0.01},
		{"the largest comes last", []float32{0.5, 1, 2000}, []float32{1, 2, 2000}, 0, 0},
		{"a thousandth counts", []float32{-4000, 8}, []float32{-4000, 6}, 0.25, 0.125},
		{"zeros alone", []float32{0, 0}, []float32{1, 0}, 0, 0},
		{"small numbers alone", []float32{1e-30, 2e-30}, []float32{1e-30, 1e-30}, 0.5, 0.25},
	} {
		e, err := Compare(c.ref, c.got)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name+": max", e.MaxRel, c.max, 1e-7)
		near(t, c.name+": mean", e.MeanRel, c.mean, 1e-7)
	}
}

func TestErrorsStream(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var a ErrorAccumulator
	var abs []float64
	for range 40 {
		ref, got := make([]float32, 1000), make([]float32, 1000)
		for i := range ref {
			ref[i] = float32(r.NormFloat64())
			got[i] = ref[i] + float32(math.Exp(r.NormFloat64()*3-5))
			abs = append(abs, math.Abs(float64(got[i])-float64(ref[i])))
		}
		if err := a.Add(ref, got); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(abs)
	e := a.Errors()
	near(t, "median", e.MedianAbs, abs[(len(abs)-1)/2], 0.016)
	near(t, "max", e.MaxAbs, abs[len(abs)-1], 0)
	if n := len(a.abs.counts); n > 1<<14 {
		t.Errorf("%d bins", n)
	}
}

func TestErrorsAbove(t *testing.T) {
	var a ErrorAccumulator
	inf := math.Inf(1)
	if err := a.AddWide([]float64{0, 0, 0, 0, 0, inf, inf}, []float64{0, 1e-9, 0.5, -2, 3, inf, 1}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit float64
		n     uint64
	}{{0, 5}, {1e-8, 4}, {0.5, 4}, {0.51, 3}, {2, 3}, {2.01, 2}, {3.1, 1}, {1e300, 1}} {
		raised, n := a.Above(c.limit)
		if n != c.n || raised < c.limit || raised > c.limit*33/32 && c.limit < 1e50 {
			t.Errorf("above %g, which becomes %g: %d, want %d", c.limit, raised, n, c.n)
		}
	}
}
