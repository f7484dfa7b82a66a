package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// engine is a layer's time and its kernel.
type engine []struct {
	time   time.Duration
	kernel string
}

// inTurns invents what the same rounds measure of two engines: a layer is off by 1.5 % with where its tensors lie, all rounds long, and one
// with the same kernel behind another kernel, which leaves other things in the caches, by a quarter.
func inTurns(r *rand.Rand, a, b engine) (x, y *report.Snapshot) {
	sides := [2][]report.LayerTiming{}
	for i := range a {
		state := r.NormFloat64() // of the machine, the same to both
		for side, e := range []engine{a, b} {
			own := float64(e[i].time) * math.Exp(0.015*r.NormFloat64()+0.02*state)
			if i > 0 && side == 1 && a[i].kernel == b[i].kernel && a[i-1].kernel != b[i-1].kernel {
				own *= math.Exp(0.25 * r.NormFloat64())
			}
			name := fmt.Sprint("layer", i)
			l := layer(name, "f32", e[i].kernel, time.Duration(own), name)
			for k := range l.Rounds {
				l.Rounds[k] = time.Duration(own * math.Exp(0.01*r.NormFloat64()))
			}
			sides[side] = append(sides[side], l)
		}
	}
	return snapshot(config.FP32, time.Millisecond, sides[0]...), snapshot(config.FP16, time.Millisecond, sides[1]...)
}

// TestControls: layers with the same kernels are told apart from each other in one of twenty comparisons at most, of identical engines and
// of ones that differ in most of their kernels, few of which are controls; and a layer that takes a tenth longer is found.
func TestControls(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 3))
	const pairs = 200
	for _, c := range []struct {
		name           string
		layers, others int // of which the second engine has other kernels
		slower         bool
		found          int // of 200 planted ones, at least
	}{{"identical", 24, 0, true, 100}, {"identical, few layers", 5, 0, true, 140}, {"four controls of 24", 24, 20, false, 0}, {"twelve controls of 24", 24, 12, false, 0}} {
		wrong, found, others := 0, 0, 0
		for range pairs {
			a := make(engine, c.layers)
			for i := range a {
				a[i].time, a[i].kernel = time.Duration(20000*math.Exp(3*r.Float64())), "direct" // 20 to 400 µs
			}
			b := append(engine{}, a...)
			for n, i := range r.Perm(c.layers) {
				if n < c.others {
					b[i].time, b[i].kernel = time.Duration(float64(b[i].time)*(0.3+0.4*r.Float64())), "other"
				}
			}
			judged := func(b engine) *report.Diff {
				x, y := inTurns(r, a, b)
				y.Timings.Beside = &report.Beside{Config: x.Config, Speed: report.NewSpeed(1, 0.9, 1.1, true)}
				d, err := Of(Side{Name: "a", Snapshot: x}, Side{Name: "b", Snapshot: y, Rival: x})
				if err != nil || !d.InTurns() {
					t.Fatal(err)
				}
				return d
			}
			for _, g := range judged(b).Groups {
				if g.Kind == report.KindSame && g.Significant {
					wrong++
					break
				}
			}
			if !c.slower {
				continue
			}
			slower := r.IntN(c.layers)
			b[slower].time = b[slower].time * 11 / 10
			for _, g := range judged(b).Groups {
				switch right := g.Name == fmt.Sprint("layer", slower) && g.Delta > 0; {
				case g.Significant && right:
					found++
				case g.Significant:
					others++
				}
			}
		}
		t.Logf("%s: %d of %d comparisons tell controls apart; a tenth more is found %d times, and %d others", c.name, wrong, pairs, found, others)
		if wrong > Discoveries*pairs || found < c.found || others > pairs/10 {
			t.Errorf("%s: that is not what is promised", c.name)
		}
	}
}
