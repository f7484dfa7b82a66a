package quant

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"
)

// normalised brings a histogram to the form in which equal contents are equal values.
func normalised(h *Histogram) Histogram {
	n := *h
	n.lanes = nil
	for s := range h.lanes {
		n.lanes = append(n.lanes, [2]uint64{h.at(s)})
	}
	n.sum.carry()
	n.sumSquares.carry()
	return n
}

func batches(r *rand.Rand, count int) [][]float32 {
	list := make([][]float32, count)
	for i := range list {
		b := make([]float32, r.IntN(5000))
		scale := math.Ldexp(1, r.IntN(40)-20)
		for j := range b {
			b[j] = float32(r.NormFloat64() * scale)
			switch r.IntN(8) {
			case 0:
				b[j] = 0
			case 1:
				b[j] = float32(math.Copysign(0, -1))
			case 2:
				b[j] = float32(math.Ldexp(float64(r.IntN(9)-4), r.IntN(30)-15)) // on the bins' edges
			}
		}
		list[i] = b
	}
	return list
}

func TestHistogramOrderIndependent(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		list := batches(r, 1+r.IntN(12))
		var want Histogram
		for _, b := range list {
			want.Add(b)
		}
		for range 3 {
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			var got, other Histogram
			cut := r.IntN(len(list) + 1)
			for i, b := range list {
				if i < cut {
					got.Add(b)
				} else {
					other.Add(b)
				}
			}
			got.Merge(&other)
			if !reflect.DeepEqual(normalised(&got), normalised(&want)) {
				t.Fatalf("seed %d: another order of the batches gives another histogram", seed)
			}
		}
	}
}

// TestHistogramCounts compares with a count of each value's bin by its definition.
func TestHistogramCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var h Histogram
	var all []float32
	for _, b := range batches(r, 10) {
		h.Add(b)
		all = append(all, b...)
	}
	w := h.Width()
	want := make([]uint64, 2*binsPerSide)
	zeros, sum, power := uint64(0), 0.0, 0.0
	for _, v := range all {
		sum += float64(v)
		power += float64(v) * float64(v)
		switch {
		case v == 0:
			zeros++
		case v > 0:
			want[binsPerSide+int(math.Floor(float64(v)/w))]++
		default:
			want[binsPerSide-1-int(math.Floor(float64(-v)/w))]++
		}
	}
	for s := range want {
		if h.at(s) != want[s] {
			t.Errorf("slot %d: %d, want %d", s, h.at(s), want[s])
		}
	}
	if h.Zeros() != zeros || h.Count() != uint64(len(all)) {
		t.Errorf("%d zeros of %d, want %d of %d", h.Zeros(), h.Count(), zeros, len(all))
	}
	if a := float64(h.AMax()) / w; a < binsPerSide/2 || a >= binsPerSide {
		t.Errorf("the largest magnitude is in bin %v", a)
	}
	if got, want := h.Power(), power/float64(len(all)); math.Abs(got-want) > 1e-12*want {
		t.Errorf("power %v, want %v", got, want)
	}
	if got, want := h.Mean(), sum/float64(len(all)); math.Abs(got-want) > 1e-9*math.Sqrt(h.Power()) {
		t.Errorf("mean %v, want %v", got, want)
	}
}

func TestHistogramEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	negZero := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name                     string
		x                        []float32
		count, zeros, nans, infs uint64
		least, largest           float32
	}{
		{"empty", nil, 0, 0, 0, 0, 0, 0},
		{"zeros", []float32{0, negZero, 0}, 3, 3, 0, 0, 0, 0},
		{"not finite", []float32{nan, inf, -inf, nan}, 0, 0, 2, 2, 0, 0},
		{"one of each", []float32{nan, inf, -inf, 0, negZero, 5, -7}, 4, 2, 1, 2, -7, 5},
		{"positive", []float32{3, 5}, 2, 0, 0, 0, 3, 5},
		{"negative", []float32{-3, -5}, 2, 0, 0, 0, -5, -3},
		{"largest", []float32{math.MaxFloat32, -math.MaxFloat32}, 2, 0, 0, 0, -math.MaxFloat32, math.MaxFloat32},
		{"smallest", []float32{math.SmallestNonzeroFloat32, 0}, 2, 1, 0, 0, 0, math.SmallestNonzeroFloat32},
		{"both ends", []float32{math.SmallestNonzeroFloat32, -math.MaxFloat32}, 2, 0, 0, 0, -math.MaxFloat32, math.SmallestNonzeroFloat32},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h Histogram
			h.Add(c.x)
			if h.Count() != c.count || h.Zeros() != c.zeros || h.NaNs() != c.nans || h.Infs() != c.infs {
				t.Errorf("count %d zeros %d nans %d infs %d", h.Count(), h.Zeros(), h.NaNs(), h.Infs())
			}
			if h.Min() != c.least || h.Max() != c.largest || math.Signbit(float64(h.Max())) && h.Max() == 0 {
				t.Errorf("min %v max %v", h.Min(), h.Max())
			}
			checkBins(t, &h)
		})
	}
}

// checkBins checks that every finite value that is not zero is in a bin.
func checkBins(t *testing.T, h *Histogram) {
	t.Helper()
	n := h.Zeros()
	for s := range h.lanes {
		n += h.at(s)
	}
	if n != h.Count() {
		t.Errorf("%d values in bins and zeros, %d counted", n, h.Count())
	}
}

func TestHistogramBounded(t *testing.T) {
	var h Histogram
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		for _, b := range batches(r, 4) {
			h.Add(b)
		}
	}
	if size := unsafe.Sizeof(h) + uintptr(cap(h.lanes))*unsafe.Sizeof(h.lanes[0]); size > 100<<10 {
		t.Errorf("a histogram takes %d bytes", size)
	}
}

func TestExactSum(t *testing.T) {
	var s exactSum
	for _, v := range []float64{1e70, 1, -1e70, 1e-70, -0.5, math.Ldexp(1, -298)} {
		s.add(v)
	}
	if got, want := s.value(), 0.5; got != want {
		t.Errorf("sum %v, want %v", got, want)
	}
	s.add(-0.5)
	if got, want := s.value(), 1e-70+math.Ldexp(1, -298); got != want {
		t.Errorf("sum %v, want %v", got, want)
	}
	var n exactSum
	n.add(-3)
	n.add(-0.25)
	n.merge(&s)
	if got, want := n.value(), -3.25; got != want {
		t.Errorf("sum %v, want %v", got, want)
	}
}

func FuzzHistogramAdd(f *testing.F) {
	f.Add([]byte{0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x7f, 0, 0, 0x80, 0xff, 0, 0, 0, 0x80, 1, 0, 0, 0, 0xff, 0xff, 0x7f, 0x7f}, uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		x := make([]float32, len(b)/4)
		for i := range x {
			x[i] = math.Float32frombits(uint32(b[4*i]) | uint32(b[4*i+1])<<8 | uint32(b[4*i+2])<<16 | uint32(b[4*i+3])<<24)
		}
		c := min(int(cut), len(x))
		var a, o Histogram
		a.Add(x[:c])
		a.Add(x[c:])
		o.Add(x[c:])
		o.Add(x[:c])
		checkBins(t, &a)
		if a.Count()+a.NaNs()+a.Infs() != uint64(len(x)) {
			t.Errorf("%d of %d values counted", a.Count()+a.NaNs()+a.Infs(), len(x))
		}
		if !reflect.DeepEqual(normalised(&a), normalised(&o)) {
			t.Error("the order matters")
		}
	})
}

func BenchmarkHistogramAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, relu := range []bool{false, true} {
		x := make([]float32, 1<<18)
		for i := range x {
			x[i] = float32(r.NormFloat64())
			if relu {
				x[i] = max(0, x[i])
			}
		}
		b.Run(map[bool]string{false: "gaussian", true: "relu"}[relu], func(b *testing.B) {
			var h Histogram
			for b.Loop() {
				h.Add(x)
			}
			b.ReportMetric(float64(len(x))*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}
