package attention

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// define computes an attention by its definition, in float64.
func define(s *Shape, c *Call) []float64 {
	y := make([]float64, len(c.Y))
	for batch := range s.Batch {
		for head := range s.Heads {
			for i := range s.Queries {
				defineQuery(s, c, y[batch*s.Y.Batch+head*s.Y.Head+i*s.Y.Row:][:s.ValueSize], batch, head, i)
			}
		}
	}
	return y
}

// definedScores returns the scores of the keys that a query sees, by key, and the highest.
func definedScores(s *Shape, c *Call, batch, head, i int) (map[int]float64, float64) {
	keys, place := s.bounds(c, batch)
	k, _ := s.sources(c, batch, head/s.group())
	q := s.Q.of(c.Q, batch, head)[i*s.Q.Row:]
	p, high := map[int]float64{}, math.Inf(-1)
	for j := range keys {
		if at := place + i; s.Reach > 0 && j-at >= s.Reach || s.Back > 0 && at-j >= s.Back {
			continue
		}
		row, _, _ := k.at(j, 1)
		x := 0.0
		for l := range s.Size {
			x += float64(q[l]) * float64(row[l])
		}
		x *= float64(s.Scale)
		if s.Softcap != 0 {
			x = float64(s.Softcap) * math.Tanh(x/float64(s.Softcap))
		}
		if s.Masked {
			at := batch*s.Mask.Batch + head*s.Mask.Head + i*s.Mask.Row + j*s.Mask.Column
			if !s.Mask.Bool {
				x += float64(c.Mask[at])
			} else if c.Bools[at] == 0 {
				x = math.Inf(-1)
			}
		}
		p[j], high = x, max(high, x)
	}
	return p, high
}

func defineQuery(s *Shape, c *Call, out []float64, batch, head, i int) {
	p, high := definedScores(s, c, batch, head, i)
	_, v := s.sources(c, batch, head/s.group())
	if math.IsInf(high, -1) {
		return // zeros, where there is no key
	}
	sum := 0.0
	for j := range s.Keys {
		x, seen := p[j]
		if !seen {
			continue
		}
		e := math.Exp(x - high)
		sum += e
		row, _, _ := v.at(j, 1)
		for l := range out {
			out[l] += e * float64(row[l])
		}
	}
	for l := range out {
		out[l] /= sum
	}
}

// operands draws the operands of a shape whose strides are set.
func operands(r *rand.Rand, s *Shape) *Call {
	size := func(t Strides, batches, heads, rows, n int) []float32 {
		x := make([]float32, (batches-1)*t.Batch+(heads-1)*t.Head+(rows-1)*t.Row+n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	now := s.Keys - s.Past
	c := &Call{
		Q: size(s.Q, s.Batch, s.Heads, s.Queries, s.Size), Y: size(s.Y, s.Batch, s.Heads, s.Queries, s.ValueSize),
		K: size(s.K, s.Batch, s.KVHeads, now, s.Size), V: size(s.V, s.Batch, s.KVHeads, now, s.ValueSize),
	}
	if s.Past > 0 {
		c.PastK, c.PastV = size(s.PastK, s.Batch, s.KVHeads, s.Past, s.Size), size(s.PastV, s.Batch, s.KVHeads, s.Past, s.ValueSize)
	}
	if s.WriteK {
		c.PresentK, c.PresentV = size(s.PresentK, s.Batch, s.KVHeads, s.Keys, s.Size), size(s.PresentV, s.Batch, s.KVHeads, s.Keys, s.ValueSize)
	}
	if s.Masked {
		m := size(s.Mask.Strides, s.Batch, s.Heads, s.Queries, (s.Mask.Keys-1)*s.Mask.Column+1)
		for i := range m {
			if r.IntN(5) == 0 && i != 0 {
				m[i] = negInf
			}
		}
		if c.Mask = m; s.Mask.Bool {
			c.Mask, c.Bools = nil, make([]byte, len(m))
			for i := range m {
				if m[i] != negInf {
					c.Bools[i] = byte(1 + r.IntN(255))
				}
			}
		}
	}
	for range s.Batch {
		c.Counts = append(c.Counts, int64(1+r.IntN(s.Keys)))
	}
	return c
}

// wide lays the heads of rows side by side, extra elements between rows.
func wide(heads, rows, size, extra int) Strides {
	return Strides{rows * (heads*size + extra), size, heads*size + extra}
}

// deep lays the rows of heads one behind the other.
func deep(heads, rows, size int) Strides { return Strides{heads * rows * size, rows * size, size} }

// dense sets the strides of rank 3, or of rank 4.
func (s Shape) dense(rank4 bool, extra int) Shape {
	now := s.Keys - s.Past
	if rank4 {
		s.Q, s.Y = deep(s.Heads, s.Queries, s.Size), deep(s.Heads, s.Queries, s.ValueSize)
		s.K, s.V = deep(s.KVHeads, now, s.Size), deep(s.KVHeads, now, s.ValueSize)
	} else {
		s.Q, s.Y = wide(s.Heads, s.Queries, s.Size, extra), wide(s.Heads, s.Queries, s.ValueSize, 0)
		s.K, s.V = wide(s.KVHeads, now, s.Size, extra), wide(s.KVHeads, now, s.ValueSize, extra)
	}
	s.PastK, s.PastV = deep(s.KVHeads, s.Past, s.Size), deep(s.KVHeads, s.Past, s.ValueSize)
	s.PresentK, s.PresentV = deep(s.KVHeads, s.Keys, s.Size), deep(s.KVHeads, s.Keys, s.ValueSize)
	if s.Scale == 0 {
		s.Scale = float32(1 / math.Sqrt(float64(s.Size)))
	}
	return s
}

// masked adds a mask that has the axes named, of b, h, q and k.
func (s Shape) masked(axes string, truths bool) Shape {
	s.Masked, s.Mask = true, Mask{Keys: s.Keys, Bool: truths}
	step := 1
	if slices.Contains([]byte(axes), 'k') {
		s.Mask.Column, step = 1, s.Keys
	}
	for _, a := range []struct {
		axis   byte
		stride *int
		n      int
	}{{'q', &s.Mask.Row, s.Queries}, {'h', &s.Mask.Head, s.Heads}, {'b', &s.Mask.Batch, s.Batch}} {
		if slices.Contains([]byte(axes), a.axis) {
			*a.stride = step
			step *= a.n
		}
	}
	return s
}

func shape(batch, heads, kvHeads, queries, keys, size, valueSize int) Shape {
	return Shape{Batch: batch, Heads: heads, KVHeads: kvHeads, Queries: queries, Keys: keys, Size: size, ValueSize: valueSize}
}

// shapes are those at which tiles, blocks, panels and chunks are cut.
func shapes() map[string]Shape {
	list := map[string]Shape{
		"bert":     shape(1, 2, 2, 128, 128, 64, 64).dense(false, 0),
		"one":      shape(1, 1, 1, 1, 1, 1, 1).dense(true, 0),
		"odd":      shape(2, 3, 3, 17, 19, 5, 7).dense(true, 0),
		"strided":  shape(2, 3, 3, 33, 21, 40, 40).dense(false, 13),
		"long":     shape(1, 1, 1, 70, 600, 24, 33).dense(false, 1),
		"large":    shape(1, 2, 1, 29, 300, 256, 200).dense(true, 0),
		"grouped":  shape(2, 6, 2, 31, 65, 16, 16).dense(false, 0),
		"decode":   shape(2, 4, 4, 1, 1000, 64, 64).dense(true, 0),
		"decode3":  shape(1, 6, 2, 3, 700, 48, 80).dense(false, 5),
		"decode8":  shape(1, 8, 1, 1, 513, 33, 31).dense(false, 0),
		"short":    shape(1, 2, 2, 4, 30, 8, 8).dense(false, 0),
		"softcap":  shape(1, 2, 2, 20, 40, 32, 32).dense(false, 0),
		"past":     shape(2, 4, 2, 30, 300, 20, 24).dense(true, 0),
		"pastfew":  shape(2, 2, 2, 2, 300, 20, 24).dense(false, 0),
		"pastodd":  shape(1, 2, 1, 40, 83, 16, 16).dense(false, 3),
		"unseen":   shape(1, 2, 2, 40, 15, 16, 16).dense(false, 0),
		"unseen1":  shape(1, 2, 2, 4, 2, 16, 16).dense(false, 0),
		"counted":  shape(4, 2, 2, 19, 290, 16, 16).dense(true, 0),
		"counted1": shape(4, 2, 2, 1, 600, 16, 16).dense(true, 0),
	}
	for name, change := range map[string]func(*Shape){
		"softcap":  func(s *Shape) { s.Softcap = 0.7 },
		"counted":  func(s *Shape) { s.Counted = true },
		"counted1": func(s *Shape) { s.Counted = true },
		"past":     func(s *Shape) { s.Past = 270 },
		"decode":   func(s *Shape) { s.Past = 999 },
		"decode3":  func(s *Shape) { s.Past = 697 },
		"decode8":  func(s *Shape) { s.Past = 512 },
		"long":     func(s *Shape) { s.Past = 530 },
		"pastfew":  func(s *Shape) { s.Past = 298 },
		"pastodd":  func(s *Shape) { s.Past = 43 },
	} {
		s := list[name]
		change(&s)
		if s.Past > 0 || name == "softcap" {
			s = s.dense(s.Q.Row == s.Size, 3)
		}
		list[name] = s
	}
	for name, s := range list {
		s.Reach = 1
		list[name+"/causal"] = s
		if s.Past > 0 {
			s.WriteK, s.WriteV = true, true
			list[name+"/present"] = s
		}
		s.Reach, s.Back = 3, 40
		list[name+"/window"] = s
		s.Reach = 0
		list[name+"/back"] = s
	}
	for i, axes := range []string{"", "k", "q", "bk", "qk", "hq", "bhqk", "hk"} {
		list["mask "+axes] = shape(2, 4, 2, 50, 270, 16, 16).dense(false, 0).masked(axes, i%2 == 0)
		few := shape(2, 4, 2, 2, 270, 16, 16).dense(false, 0).masked(axes, i%2 == 1)
		few.Reach = 3 * (i % 2)
		if few.Reach > 0 {
			few.Past = 267
			few = few.dense(false, 0)
		}
		list["mask few "+axes] = few
	}
	endless := list["past"]
	endless.Reach, endless.Back = math.MaxInt, math.MaxInt
	list["endless"] = endless
	short := shape(1, 2, 2, 20, 40, 16, 16).dense(true, 0).masked("qk", false)
	short.Mask.Keys, short.Mask.Row = 33, 33
	list["mask short"] = short
	return list
}

func TestAttention(t *testing.T) {
	for _, isa := range []asm.Features{asm.AVX512, asm.AVX2, 0} {
		t.Run(work.ISAName(isa), func(t *testing.T) {
			if !asm.HostFeatures().Has(isa) {
				t.Skip("not on this processor")
			}
			for name, s := range shapes() {
				if cputest.RaceEnabled && !slices.Contains([]string{"grouped", "short", "decode8", "pastodd/present", "pastfew/present"}, name) {
					continue // how the work is shared out is the same
				}
				t.Run(name, func(t *testing.T) { checkShape(t, s, isa) })
			}
		})
	}
}

// checkShape compares with the definition, by one worker and by three, whose bits must be the same.
func checkShape(t *testing.T, s Shape, isa asm.Features) {
	c := operands(rand.New(rand.NewPCG(1, 2)), &s)
	want := define(&s, c)
	var first []float32
	for _, workers := range []int{1, 3} {
		a, err := New(s, isa, workers)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Y {
			c.Y[i] = 77
		}
		c.Workspace = make([]float32, a.Workspace())
		for i := range c.Workspace {
			c.Workspace[i] = float32(math.NaN())
		}
		p := work.NewPool(workers)
		a.Run(p.Run, c)
		p.Close()
		checkOutput(t, &s, c, want)
		if first == nil {
			first = slices.Clone(c.Y)
		}
		for i, v := range c.Y {
			if math.Float32bits(v) != math.Float32bits(first[i]) {
				t.Fatalf("%d workers: element %d = %g, one worker makes %g", workers, i, v, first[i])
			}
		}
	}
	if s.WriteK {
		checkPresent(t, &s, c)
	}
}

func checkOutput(t *testing.T, s *Shape, c *Call, want []float64) {
	t.Helper()
	signal, noise, seen := 0.0, 0.0, make([]bool, len(c.Y))
	for batch := range s.Batch {
		for head := range s.Heads {
			for i := range s.Queries {
				for l := range s.ValueSize {
					at := batch*s.Y.Batch + head*s.Y.Head + i*s.Y.Row + l
					seen[at] = true
					got, want := float64(c.Y[at]), want[at]
					if math.IsNaN(want) != math.IsNaN(got) {
						t.Fatalf("batch %d, head %d, query %d, element %d = %g, want %g", batch, head, i, l, got, want)
					}
					if !math.IsNaN(want) {
						signal, noise = signal+want*want, noise+(got-want)*(got-want)
					}
				}
			}
		}
	}
	if sqnr := 10 * math.Log10(signal/noise); sqnr < 120 {
		t.Fatalf("SQNR %.1f dB", sqnr)
	}
	for i, ok := range seen {
		if !ok && c.Y[i] != 77 {
			t.Fatalf("element %d is not of the output and was written", i)
		}
	}
}

func checkPresent(t *testing.T, s *Shape, c *Call) {
	t.Helper()
	for batch := range s.Batch {
		for head := range s.KVHeads {
			k, v := s.sources(c, batch, head)
			presentK, presentV := s.written(c, batch, head)
			for j := range s.Keys {
				for name, x := range map[string]struct {
					from, to source
					size     int
				}{"key": {k, presentK, s.Size}, "value": {v, presentV, s.ValueSize}} {
					from, _, _ := x.from.at(j, 1)
					to, _, _ := x.to.at(j, 1)
					if !slices.Equal(from[:x.size], to[:x.size]) {
						t.Fatalf("%s %d of batch %d, head %d was not written", name, j, batch, head)
					}
				}
			}
		}
	}
}

// TestNothingIsAllocated once a launch has been made.
func TestNothingIsAllocated(t *testing.T) {
	if cputest.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, s := range []Shape{shapes()["bert"], shapes()["decode"], shapes()["mask bk"]} {
		a, err := New(s, asm.HostFeatures()&(asm.AVX512|asm.AVX2), 1)
		if err != nil {
			t.Fatal(err)
		}
		c := operands(rand.New(rand.NewPCG(1, 2)), &s)
		c.Workspace = make([]float32, a.Workspace())
		alone := func(n int, f func(int)) {
			for i := range n {
				f(i)
			}
		}
		if n := testing.AllocsPerRun(20, func() { a.Run(alone, c) }); n > 0 {
			t.Errorf("%v allocations in a run of %+v", n, s)
		}
	}
}

// TestUnseenValues: what a query does not see may be anything.
func TestUnseenValues(t *testing.T) {
	for _, name := range []string{"odd/causal", "long/causal", "large/window", "short/causal", "decode3/causal", "decode3/window", "pastfew/back", "counted1/causal"} {
		for _, odd := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
			s := shapes()[name]
			if s.Queries == 0 {
				t.Fatal(name)
			}
			c := operands(rand.New(rand.NewPCG(1, 2)), &s)
			for batch := range s.Batch {
				for head := range s.KVHeads {
					_, v := s.sources(c, batch, head)
					for _, j := range []int{s.Keys - 1, 0} {
						row, _, _ := v.at(j, 1)
						row[s.ValueSize-1] = odd
					}
				}
			}
			want := define(&s, c)
			for _, isa := range cputest.FeatureSets() {
				a, err := New(s, isa&(asm.AVX512|asm.AVX2), 1)
				if err != nil {
					t.Fatal(err)
				}
				c.Workspace = make([]float32, a.Workspace())
				a.Run(func(n int, f func(int)) {
					for i := range n {
						f(i)
					}
				}, c)
				for i, got := range c.Y {
					if w := want[i]; math.IsNaN(w) != (got != got) || math.IsInf(w, 0) != math.IsInf(float64(got), 0) {
						t.Fatalf("%s: element %d = %g, want %g", name, i, got, w)
					}
				}
			}
		}
	}
}
