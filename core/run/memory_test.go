package run

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
)

func TestPackNeverOverlaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		spans := make([]span, 1+rnd.IntN(60))
		steps := 1 + rnd.IntN(40)
		for i := range spans {
			first := rnd.IntN(steps)
			spans[i] = span{size: Align * (1 + rnd.IntN(50)), first: first, last: first + rnd.IntN(min(8, steps-first))}
		}
		offsets, peak := pack(spans)
		bound, _ := lowerBound(spans)
		if peak < bound {
			t.Fatalf("peak %d is below the lower bound %d", peak, bound)
		}
		for i, a := range spans {
			if offsets[i]%Align != 0 || offsets[i]+a.size > peak {
				t.Fatalf("span %d at %d", i, offsets[i])
			}
			for j, b := range spans[:i] {
				together := a.first <= b.last && b.first <= a.last
				if together && offsets[i] < offsets[j]+b.size && offsets[j] < offsets[i]+a.size {
					t.Fatalf("spans %d and %d overlap", i, j)
				}
			}
		}
	}
}

func TestPackChain(t *testing.T) {
	// A chain of growing and shrinking tensors reaches the bound: at each step two are live.
	var spans []span
	for i := range 40 {
		spans = append(spans, span{size: Align * (1 + i*i%17), first: i, last: i + 1})
	}
	_, peak := pack(spans)
	if bound, _ := lowerBound(spans); peak != bound {
		t.Errorf("peak %d, lower bound %d", peak, bound)
	}
}

func TestPackIsDeterministic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	spans := make([]span, 80)
	for i := range spans {
		first := rnd.IntN(40)
		spans[i] = span{size: Align * (1 + rnd.IntN(90)), first: first, last: first + rnd.IntN(10)}
	}
	a, _ := pack(spans)
	b, _ := pack(spans)
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("two runs differ")
		}
	}
}

// fitAll is fit by its definition: every block is looked at for every span.
func fitAll(spans []span, order []int) (offsets []int, peak int) {
	offsets = make([]int, len(spans))
	var placed []block // by where they begin
	for _, i := range order {
		s := spans[i]
		at, tightest, floor := -1, -1, 0
		for _, b := range placed {
			if b.last < s.first || s.last < b.first {
				continue
			}
			if gap := b.begin - floor; gap >= s.size && (at < 0 || gap < tightest) {
				at, tightest = floor, gap
			}
			floor = max(floor, b.end)
		}
		if at < 0 {
			at = floor
		}
		offsets[i], peak = at, max(peak, at+s.size)
		j, _ := slices.BinarySearchFunc(placed, at, func(x block, begin int) int { return cmp.Compare(x.begin, begin) })
		placed = slices.Insert(placed, j, block{at, at + s.size, s})
	}
	return offsets, peak
}

// TestFit: stretches of steps change nothing, and a span is only compared with what lives beside it.
func TestFit(t *testing.T) {
	spansOf := func(n, life int) []span {
		rnd := rand.New(rand.NewPCG(uint64(n), uint64(life)))
		spans := make([]span, n)
		for i := range spans {
			spans[i] = span{size: Align * (1 + rnd.IntN(90)), first: i - 1, last: min(n, i+rnd.IntN(life))}
		}
		return spans
	}
	for _, n := range []int{1, 5, 60, 300, 3000} {
		for _, life := range []int{1, 3, 30, n} {
			spans := spansOf(n, life)
			order := sorted(spans, func(s span) int { return -s.size })
			got, peak := fit(spans, order)
			want, wantPeak := fitAll(spans, order)
			if peak != wantPeak || !slices.Equal(got, want) {
				t.Errorf("%d spans, life %d: another result, peak %d, want %d", n, life, peak, wantPeak)
			}
			live, worst := liveBytes(spans), 0
			for i, at := range []int{0, n / 3, n} {
				sum := 0
				for _, s := range spans {
					if s.first < at && at <= s.last+1 {
						sum += s.size
					}
				}
				if live[at] != sum {
					t.Errorf("%d spans, life %d: %d bytes live at step %d, want %d", n, life, live[at], at-1, sum)
				}
				if worst = max(worst, sum); i == 0 && maxima(live).of(0, 0) != sum {
					t.Errorf("%d spans, life %d: the largest of one", n, life)
				}
			}
			if largest := maxima(live).of(0, len(live)-1); largest != slices.Max(live) || largest < worst {
				t.Errorf("%d spans, life %d: at most %d bytes live, want %d", n, life, largest, slices.Max(live))
			}
		}
	}
	h, compared := newShelf(spansOf(50000, 4)), 0
	for _, s := range spansOf(50000, 4) {
		for k := (s.first - h.base) / h.steps; k <= (s.last-h.base)/h.steps; k++ {
			compared += len(h.blocks[k])
		}
		h.add(block{0, s.size, s})
	}
	if compared > 200*50000 {
		t.Errorf("%d spans are compared with %d others", 50000, compared)
	}
}

// TestPlanners: every way to share the arena out is one, the plan's own is the best, and none is below the bound.
func TestPlanners(t *testing.T) {
	p := &Plan{Steps: make([]Step, 30)}
	rnd := rand.New(rand.NewPCG(5, 5))
	for i := range 40 {
		first := rnd.IntN(30)
		p.Slots = append(p.Slots, Slot{Size: Align * (1 + rnd.IntN(20)), First: first, Last: min(29, first+rnd.IntN(9)), Of: -1})
		if i%5 == 4 { // it lies in the one before
			s, of := &p.Slots[i], p.Slots[i-1]
			s.Of, s.Size, s.Offset, s.First, s.Last = i-1, min(Align, of.Size), of.Size-Align, of.First, of.Last
		}
		p.Slots[i].Tensor = &graph.Tensor{}
	}
	p.Slots[0].Region = IO
	p.Network = &graph.Network{}
	p.assign()
	list := p.Planners()
	if len(list) != len(heuristics)+2 || !list[0].Chosen || list[0].Peak != p.Memory.Peak || list[len(list)-1].Peak != p.Memory.Naive {
		t.Fatalf("%d planners, the first with a peak of %d, the last of %d; the plan's %d, without reuse %d",
			len(list), list[0].Peak, list[len(list)-1].Peak, p.Memory.Peak, p.Memory.Naive)
	}
	for _, way := range list {
		if way.Peak < p.Memory.Peak || way.Peak < p.Memory.LowerBound {
			t.Errorf("%s: a peak of %d; the plan's is %d, the bound %d", way.Name, way.Peak, p.Memory.Peak, p.Memory.LowerBound)
		}
		for i, a := range p.Slots {
			at := way.Offsets[i]
			if r := p.root(i); at-way.Offsets[r] != a.Offset-p.Slots[r].Offset {
				t.Errorf("%s: slot %d is at %d of the memory that it shares", way.Name, i, at-way.Offsets[r])
			}
			if a.Of >= 0 || a.Region == IO {
				continue
			}
			if at < 0 || at+a.Size > way.Peak {
				t.Errorf("%s: slot %d ends at %d, beyond the peak %d", way.Name, i, at+a.Size, way.Peak)
			}
			for j, b := range p.Slots[:i] {
				together := a.First <= b.Last && b.First <= a.Last && b.Of < 0 && b.Region == Arena
				if together && at < way.Offsets[j]+b.Size && way.Offsets[j] < at+a.Size {
					t.Errorf("%s: slots %d and %d overlap", way.Name, i, j)
				}
			}
		}
	}
}
