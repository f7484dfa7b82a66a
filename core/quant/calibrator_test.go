package quant

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

const sampleCount = 20000

// samples makes the samples of testdata/reference.py.
func samples(name string) []float32 {
	x := make([]float32, sampleCount)
	for i := range x {
		u := (float64(i) + 0.5) / sampleCount
		g := math.Sqrt2 * math.Erfinv(2*u-1)
		switch name {
		case "gaussian", "outlier":
			x[i] = float32(g)
		case "laplace":
			x[i] = float32(-math.Copysign(1, u-0.5) * math.Log(1-2*math.Abs(u-0.5)))
		case "student2":
			x[i] = float32((2*u - 1) / math.Sqrt(2*u*(1-u)))
		case "relu":
			x[i] = float32(max(g, 0))
		case "silu":
			x[i] = float32(3 * g / (1 + math.Exp(-3*g)))
		case "uniform":
			x[i] = float32(2*u - 1)
		case "spikes":
			if x[i] = float32(g); i%3 == 0 {
				x[i] = 0.3
			}
		case "far":
			x[i] = float32(5 + u)
		}
	}
	if name == "outlier" {
		x[len(x)-1] = 100
	}
	return x
}

type reference struct {
	AMax        float64            `json:"amax"`
	Power       float64            `json:"power"`
	Percentile  map[string]float64 `json:"percentile"`
	KL          [][2]float64       `json:"kl"`
	MSEAMax     float64            `json:"mse_amax"`
	MSE         float64            `json:"mse"`
	MinMaxMSE   float64            `json:"minmax_mse"`
	HalfMSE     float64            `json:"half_mse"`
	HalfClipped float64            `json:"half_clipped"`
}

func references(t *testing.T) map[string]reference {
	b, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	refs := map[string]reference{}
	if err := json.Unmarshal(b, &refs); err != nil {
		t.Fatal(err)
	}
	return refs
}

func histogram(x []float32) *Histogram {
	var h Histogram
	h.Add(x)
	return &h
}

// sampleMSE quantises the samples themselves.
func sampleMSE(x []float32, r numeric.Range, t numeric.DataType) float64 {
	v := numeric.NewValue(t, len(x))
	r.Quantize(v, x)
	var sum float64
	for i, y := range r.Dequantize(v) {
		sum += (float64(x[i]) - float64(y)) * (float64(x[i]) - float64(y))
	}
	return sum / float64(len(x))
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s %.8g, want %.8g within %.3g %%", what, got, want, 100*tolerance)
	}
}

// TestReference compares with numbers computed by brute force over the samples, see testdata/reference.py.
func TestReference(t *testing.T) {
	for name, ref := range references(t) {
		t.Run(name, func(t *testing.T) {
			x := samples(name)
			h := histogram(x)
			within := 0.02
			if name == "spikes" {
				within = 0.15 // one value makes a third of the data: its place in its bin matters
			}
			near(t, "amax", float64(h.AMax()), ref.AMax, 1e-6)
			near(t, "power", h.Power(), ref.Power, 1e-6)
			for p, want := range ref.Percentile {
				percent, _ := strconv.ParseFloat(p, 64)
				got := AMax(Percentile{Percent: percent}.Range(h))
				// In a sparse tail the distance of two samples matters.
				near(t, "percentile "+p, got, want, 0.06)
			}
			d := newDivergence(h, 128, 0)
			for _, kl := range ref.KL {
				if got := d.at(int(kl[0])); math.Abs(got-kl[1]) > 2e-3*kl[1]+1e-4 {
					t.Errorf("divergence at %g bins %.6g, want %.6g", kl[0], got, kl[1])
				}
			}
			near(t, "min-max error", Assess(h, MinMax{}.Range(h), numeric.I8).MSE, ref.MinMaxMSE, within)
			half := Assess(h, Scheme{}.Range(-ref.AMax/2, ref.AMax/2), numeric.I8)
			near(t, "error at half", half.MSE, ref.HalfMSE, within)
			if math.Abs(half.Clipped-ref.HalfClipped) > 2.0/sampleCount+0.01*ref.HalfClipped {
				t.Errorf("clipped at half %v, want %v", half.Clipped, ref.HalfClipped)
			}
			best := MSE{}.Range(h)
			if got := sampleMSE(x, best, numeric.I8); got > ref.MSE*(1+within) {
				t.Errorf("mse chose %v with error %v; the best is %v with %v", AMax(best), got, ref.MSEAMax, ref.MSE)
			}
			near(t, "assessed error", Assess(h, best, numeric.I8).MSE, sampleMSE(x, best, numeric.I8), within)
			near(t, "assessed power", Assess(h, best, numeric.I8).SQNRdB, 10*math.Log10(ref.Power/ref.MSE), within)
		})
	}
}

// TestEntropyIsTheLeast checks the choice against every threshold that the reference has and that may be chosen.
func TestEntropyIsTheLeast(t *testing.T) {
	for name, ref := range references(t) {
		h := histogram(samples(name))
		got := Assess(h, Entropy{}.Range(h), numeric.I8)
		d := newDivergence(h, 128, 0)
		for _, kl := range ref.KL {
			if d.above[int(kl[0])] <= maxClipped*d.above[0] && kl[1] < got.KL-1e-3 {
				t.Errorf("%s: entropy chose %v with divergence %v, but %v bins have %v", name, got.AMax, got.KL, kl[0], kl[1])
			}
		}
	}
}

func TestCalibratorsCompared(t *testing.T) {
	amax := func(c Calibrator, h *Histogram) float64 { return AMax(c.Range(h)) }
	for _, name := range []string{"gaussian", "laplace", "student2", "relu", "silu", "uniform", "outlier"} {
		h := histogram(samples(name))
		top := amax(MinMax{}, h)
		near(t, name+": minmax", top, float64(h.AMax()), 1e-6)
		near(t, name+": percentile 100", amax(Percentile{Percent: 100}, h), top, 1e-6)
		for _, c := range []Calibrator{Entropy{}, Percentile{Percent: 99.99}, MSE{}} {
			a := amax(c, h)
			if a <= 0 || a > top*(1+1e-6) {
				t.Errorf("%s: %s chose %v of %v", name, c, a, top)
			}
			if c != (Calibrator)(Entropy{}) && name == "uniform" {
				near(t, name+": "+c.String(), a, top, 0.02)
			}
		}
		mse, minmax := Assess(h, MSE{}.Range(h), numeric.I8), Assess(h, MinMax{}.Range(h), numeric.I8)
		if mse.MSE > minmax.MSE*(1+1e-9) {
			t.Errorf("%s: mse is worse than minmax: %v > %v", name, mse.MSE, minmax.MSE)
		}
		if minmax.Clipped != 0 {
			t.Errorf("%s: minmax clips %v", name, minmax.Clipped)
		}
	}
	for _, name := range []string{"spikes", "far"} {
		h := histogram(samples(name))
		if q := Assess(h, Entropy{}.Range(h), numeric.I8); q.Clipped > 0.02 || q.SQNRdB < 25 {
			t.Errorf("%s: entropy chose %+v", name, q)
		}
	}
	few := histogram(samples("gaussian")[9900:10100])
	for _, bins := range []int{128, 256, 1000, 2048} { // of 128 there is nothing to clip
		counts, _ := coarsen(make([]uint64, 1500), 1, 128, bins)
		if len(counts) > bins {
			t.Errorf("%d bins, want %d at most", len(counts), bins)
		}
	}
	near(t, "entropy of few values", amax(Entropy{}, few), amax(MinMax{}, few), 1e-6)
	h := histogram(samples("outlier"))
	for _, c := range []Calibrator{Entropy{}, Percentile{Percent: 99.99}} {
		if a := amax(c, h); a > 50 {
			t.Errorf("%s keeps the one outlier: %v", c, a)
		}
	}
}

// TestClippedBounds: what clipping costs is part of the cost of a range, so that no range that is passed over for it is the best.
func TestClippedBounds(t *testing.T) {
	for name := range references(t) {
		h := histogram(samples(name))
		for _, scheme := range []Scheme{{}, {Asymmetric: true}} {
			s := newRangeSearch(scheme, h.cells())
			best := squaredError(s.cells, MSE{scheme}.Range(h), scheme.DataType())
			for low := 1.0; low > 1e-3; low /= 1.3 {
				for high := 1.0; high > 1e-3; high /= 1.3 {
					lo, hi := low*float64(h.Min()), high*float64(h.Max())
					if !scheme.Asymmetric {
						lo, hi = -high*float64(h.AMax()), high*float64(h.AMax())
					}
					clipped, cost := s.clipped(lo, hi), s.cost(lo, hi)
					if clipped < -1e-9*h.Power() || clipped > cost*(1+1e-9) {
						t.Fatalf("%s, %v, %g to %g: clipping costs %g of %g", name, scheme, lo, hi, clipped, cost)
					}
					if !scheme.Asymmetric && cost < best {
						t.Fatalf("%s: %g to %g costs %g, what was found %g", name, lo, hi, cost, best)
					}
				}
			}
		}
	}
}

// TestScaleInvariance: twice the data, twice the range; and zeros do not matter but for the percentile.
func TestScaleInvariance(t *testing.T) {
	x := samples("laplace")
	y := make([]float32, 0, 2*len(x))
	for _, v := range x {
		y = append(y, 2*v, 0)
	}
	a, b := histogram(x), histogram(y)
	for _, c := range []Calibrator{MinMax{}, Entropy{}, MSE{}, Entropy{Scheme: Scheme{Asymmetric: true}}} {
		near(t, c.String(), AMax(c.Range(b)), 2*AMax(c.Range(a)), 1e-5)
	}
}

func TestDegenerate(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name string
		x    []float32
		set  bool
	}{
		{"nothing", nil, false}, {"not finite", []float32{nan, inf}, false}, {"zero", []float32{0, 0}, true},
		{"constant", []float32{5, 5, 5, 5}, true}, {"negative constant", []float32{-5, -5}, true},
		{"tiny", []float32{math.SmallestNonzeroFloat32, 0}, true}, {"huge", []float32{math.MaxFloat32, -math.MaxFloat32, 1}, true},
		{"sparse", append(make([]float32, 100000), 3), true}, {"two", []float32{0.25, 1000}, true},
	} {
		for _, s := range []Scheme{{}, {Type: numeric.U8}, {Asymmetric: true}, {Asymmetric: true, Type: numeric.U8}} {
			for _, m := range Calibrators() {
				t.Run(c.name+"/"+m.Name+"/"+s.String(), func(t *testing.T) {
					h := histogram(c.x)
					r := m.New(m.Value, s).Range(h)
					if r.IsSet() != c.set {
						t.Fatalf("range %v", r)
					}
					if !c.set {
						return
					}
					if scale := float64(r.ScaleAt(0)); !(scale >= minScale) || math.IsInf(scale, 0) {
						t.Fatalf("scale %v", scale)
					}
					lo, hi := Limits(r, s.DataType())
					if lo > 0 || hi < 0 {
						t.Errorf("range %v to %v leaves out zero", lo, hi)
					}
					for _, v := range c.x {
						if m.Name == "minmax" && (float64(v) < lo-0.51*float64(r.ScaleAt(0)) || float64(v) > hi+0.51*float64(r.ScaleAt(0))) {
							t.Errorf("%v is outside of %v to %v", v, lo, hi)
						}
					}
					q := Assess(h, r, s.DataType())
					for _, f := range []float64{q.KL, q.MSE, q.SQNRdB, q.Clipped} {
						if math.IsNaN(f) || math.IsInf(f, 0) {
							t.Errorf("quality %+v", q)
						}
					}
					if q.Clipped < 0 || q.Clipped > 1 || q.KL < 0 {
						t.Errorf("quality %+v", q)
					}
				})
			}
		}
	}
}

func TestAsymmetric(t *testing.T) {
	for _, name := range []string{"relu", "silu", "gaussian", "laplace"} {
		x := samples(name)
		h := histogram(x)
		for _, m := range Calibrators() {
			sym := Assess(h, m.New(m.Value, Scheme{}).Range(h), numeric.I8)
			for _, typ := range []numeric.DataType{numeric.I8, numeric.U8} {
				r := m.New(m.Value, Scheme{Asymmetric: true, Type: typ}).Range(h)
				q := Assess(h, r, typ)
				near(t, name+" "+m.Name, q.MSE, sampleMSE(x, r, typ), 0.03)
				if m.Name == "minmax" || m.Name == "mse" {
					// One-sided values get twice the levels: about 6 dB.
					if gain := q.SQNRdB - sym.SQNRdB; gain < -0.1 || name == "relu" && m.Name == "minmax" && gain < 5.9 {
						t.Errorf("%s %s %s: gain %.2f dB", name, m.Name, typ, gain)
					}
				}
			}
		}
	}
}

// TestRoundTripError: no value inside of a range is off by more than half a scale.
func TestRoundTripError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		x := make([]float32, 1+r.IntN(300))
		scale, shift := math.Exp(r.NormFloat64()*5), r.NormFloat64()*3
		for i := range x {
			x[i] = float32((r.NormFloat64() + shift) * scale)
		}
		h := histogram(x)
		for _, s := range []Scheme{{}, {Asymmetric: true}, {Asymmetric: true, Type: numeric.U8}, {Type: numeric.U8}} {
			rg := MinMax{s}.Range(h)
			v := numeric.NewValue(s.DataType(), len(x))
			rg.Quantize(v, x)
			for i, y := range rg.Dequantize(v) {
				// The zero point is an integer, so an end may be clipped by another half of a scale.
				bound := 0.5
				if s.Asymmetric {
					bound = 1
				}
				if e := math.Abs(float64(y) - float64(x[i])); e > bound*float64(rg.ScaleAt(0))*(1+1e-4) {
					t.Fatalf("%s: %v became %v, scale %v", s, x[i], y, rg.ScaleAt(0))
				}
			}
		}
	}
}

func TestParseCalibrator(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{"minmax", "minmax", ""}, {"entropy", "entropy", ""}, {"mse", "mse", ""},
		{"percentile", "percentile:99.99", ""}, {"percentile:99.9", "percentile:99.9", ""}, {"percentile:100", "percentile:100", ""},
		{"percentile:101", "", `calibrator percentile: percent must be a number from 50 to 100, got "101"`},
		{"percentile:NaN", "", `calibrator percentile: percent must be a number from 50 to 100, got "NaN"`},
		{"percentile:", "", `calibrator percentile: percent must be a number from 50 to 100, got ""`},
		{"percentile:percent=99.9", "percentile:99.9", ""}, {"entropy:bins=512", "entropy:bins=512", ""}, {"entropy:2048", "entropy", ""},
		{"entropy:bins=512.5", "", `calibrator entropy: bins must be an integer from 128 to 2048, got "bins=512.5"`},
		{"entropy:bins=64", "", `calibrator entropy: bins must be an integer from 128 to 2048, got "bins=64"`},
		{"mse:3", "", `calibrator mse takes no parameter, got "3"`},
		{"kl", "", `calibrator "kl" is unknown; there are minmax, entropy, percentile, mse`},
	} {
		got, err := ParseCalibrator(c.text, Scheme{})
		switch {
		case c.err != "":
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: error %v, want %s", c.text, err, c.err)
			}
		case err != nil || got.String() != c.want:
			t.Errorf("%s: %v, %v", c.text, got, err)
		}
	}
	if _, err := ParseCalibrator("mse", Scheme{Type: numeric.I32}); err == nil {
		t.Error("i32 was accepted")
	}
}

// TestMethodsPlus adds a method, and refuses those that could not be found by their names.
func TestMethodsPlus(t *testing.T) {
	make := func(_ float64, s Scheme) Calibrator { return Percentile{99, s} }
	percent := Method{Name: "percentile2", New: make}
	for _, m := range []Method{{New: make}, {Name: "a:b", New: make}, {Name: "a"}, {Name: "mse", New: make}, percent} {
		if _, err := Calibrators().Plus(m); err == nil {
			t.Errorf("%+v was taken", m)
		}
	}
	all, err := Calibrators().Plus(Method{Name: "widest", New: func(_ float64, s Scheme) Calibrator { return widest{MinMax{s}} }})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := all.Parse("widest", Scheme{}); err != nil || c.String() != "widest" {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := Calibrators().Parse("widest", Scheme{}); err == nil {
		t.Error("it is one of the others, too")
	}
}

type widest struct{ MinMax }

func (widest) String() string { return "widest" }

func TestBars(t *testing.T) {
	h := histogram(samples("gaussian"))
	for _, n := range []int{1, 7, 64, 5000} {
		var sum float64
		for _, b := range h.Bars(float64(h.Min()), float64(h.Max()), n) {
			sum += b
		}
		near(t, "sum of the bars", sum, float64(h.Count()-h.Zeros()), 1e-9)
	}
	b := h.Bars(-1, 1, 4)
	for i := range b {
		near(t, "mirrored bar", b[i], b[3-i], 1e-3)
	}
	if got := h.Bars(1, 1, 3); len(got) != 3 || got[0] != 0 {
		t.Errorf("no interval: %v", got)
	}
}

func BenchmarkCalibrators(b *testing.B) {
	h := histogram(samples("gaussian"))
	for _, m := range Calibrators() {
		c := m.New(m.Value, Scheme{})
		b.Run(m.Name, func(b *testing.B) {
			for b.Loop() {
				c.Range(h)
			}
		})
	}
	b.Run("assess", func(b *testing.B) {
		for b.Loop() {
			Assess(h, numeric.PerTensor(0.02, 0), numeric.I8)
		}
	})
}
