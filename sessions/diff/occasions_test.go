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

// TestStudent compares with integrals of the density.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		t    float64
		n    int
		want float64
	}{{0, 3, 1}, {1, 2, 0.4226497308103798}, {2, 5, 0.10193947882985788}, {-3, 10, 0.013343655022573064}, {6, 11, 8.926129204167577e-05}} {
		if got := student(c.t, c.n); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("t %g of %d: %.12g, want %.12g", c.t, c.n, got, c.want)
		}
	}
}

// occasion invents what one occasion measures of the same engine: of each layer 15 medians of rounds around what it takes on this
// occasion, which is off by what all layers are, by 1 % of its own, and by 30 ns.
func occasion(r *rand.Rand, times []time.Duration, slower int) *report.Snapshot {
	all := math.Exp(0.015 * r.NormFloat64())
	var layers []report.LayerTiming
	for i, d := range times {
		own := float64(d)*all*math.Exp(0.01*r.NormFloat64()) + 30*r.NormFloat64()
		if i == slower {
			own *= 1.1
		}
		name := fmt.Sprint("layer", i)
		l := layer(name, "f32", "conv", time.Duration(own), name)
		for k := range l.Rounds {
			l.Rounds[k] = time.Duration(own * math.Exp(0.004*r.NormFloat64()))
		}
		layers = append(layers, l)
	}
	return snapshot(config.FP32, time.Millisecond, layers...)
}

// TestOtherKernels: layers that take a sixth by another kernel differ, whatever becomes of a few small ones that have the same, and
// of as long ones that find less in the caches.
func TestOtherKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, same := range map[string]time.Duration{"small": 2 * time.Microsecond, "as long": 250 * time.Microsecond} {
		sides := make([]*report.Snapshot, 2)
		for side := range sides {
			var layers []report.LayerTiming
			for i := range 30 {
				l := layer(fmt.Sprint("layer", i), []string{"f32", "i8"}[side], "conv", 300*time.Microsecond, fmt.Sprint("layer", i))
				if side == 1 {
					l.Median /= 6
				}
				if i%4 == 0 {
					l = layer(l.Name, "f32", "softmax", time.Duration(float64(same)*math.Exp(float64(side)*1.5*r.NormFloat64())), l.Name)
				}
				for k := range l.Rounds {
					l.Rounds[k] = time.Duration(float64(l.Median) * math.Exp(0.05*r.NormFloat64()))
				}
				layers = append(layers, l)
			}
			sides[side] = snapshot(config.FP32, time.Millisecond, layers...)
		}
		d, err := Of(Side{Name: "a", Snapshot: sides[0]}, Side{Name: "b", Snapshot: sides[1]})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Groups {
			if c.Kind == report.KindTyped && !c.Significant {
				t.Errorf("%s: %s takes %v less, p %.3g, and that is no difference", name, c.Name, -c.Delta, *c.P)
			}
		}
	}
}

// TestOccasions: of 100 pairs of occasions of one engine no more than the stated rate have a layer that is said to differ, and a
// layer that takes 10 % longer is found.
func TestOccasions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	times := make([]time.Duration, 80)
	for i := range times {
		times[i] = time.Duration(4000 * math.Exp(6*float64(i)/float64(len(times)))) // 4 µs to 1.6 ms
	}
	wrong, found, others := 0, 0, 0
	for range 100 {
		a, b := occasion(r, times, -1), occasion(r, times, -1)
		d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b})
		if err != nil {
			t.Fatal(err)
		}
		any := false
		for _, c := range d.Groups {
			any = any || c.Significant
		}
		if any {
			wrong++
		}
		slower := 20 + r.IntN(len(times)-20)
		d, _ = Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: occasion(r, times, slower)})
		for _, c := range d.Groups {
			switch {
			case c.Significant && c.Name == fmt.Sprint("layer", slower) && c.Delta > 0:
				found++
			case c.Significant:
				others++
			}
		}
	}
	t.Logf("%d of 100 pairs of the same have a difference; 10 %% more found %d times, %d others", wrong, found, others)
	if wrong > 100*Discoveries || found < 95 || others > 10 {
		t.Errorf("%d of 100 pairs of the same have a difference; 10 %% more found %d times, %d others", wrong, found, others)
	}
}

// TestWithTheMachine: where everything takes twice as long, what takes a fifth longer is not what became slower, nor did it
// become faster.
func TestWithTheMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	times := make([]time.Duration, 30)
	for i := range times {
		times[i] = time.Duration(100+10*i) * time.Microsecond
	}
	a := occasion(r, times, -1)
	for i := range times {
		times[i] *= 2
	}
	times[7] = times[7] * 6 / 10
	d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: occasion(r, times, -1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Groups {
		if c.Significant {
			t.Errorf("%s, %.2f times as long where all are %.2f, is %s", c.Name, c.Ratio, d.Common.Ratio, c.Verdict())
		}
	}
}
