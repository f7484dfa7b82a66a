package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// busy invents recordings that are made on a machine of two cores which others use, too. A sample has a core for each worker or one for
// both, in which layers take up to twice as long, each in its own way. How often it is which differs from recording to recording, from
// round to round and a little from layer to layer. On an occasion each layer is off by 2 %, and by 50 ns.
type busy struct {
	*rand.Rand
	layers []time.Duration
	alone  []float64 // how many times as long a layer takes with one core
}

func newBusy(seed uint64, layers int) *busy {
	b := &busy{Rand: rand.New(rand.NewPCG(seed, 16))}
	for i := range layers {
		b.layers = append(b.layers, time.Duration(2000*math.Exp(4*float64(i)/float64(layers)))) // 2 to 100 µs
		b.alone = append(b.alone, 1+b.Float64())
	}
	return b
}

// recording measures all layers, of which one takes so many times as long.
func (b *busy) recording(slower int, times float64) *report.Snapshot {
	const rounds, samples = 15, 20
	state, all := b.Float64(), make([][]time.Duration, len(b.layers))
	off := make([]float64, len(b.layers))
	for i, d := range b.layers {
		off[i] = math.Exp(0.02*b.NormFloat64()) + 50/float64(d)*b.NormFloat64()
	}
	for range rounds {
		shared := min(max(state+0.2*b.NormFloat64(), 0), 1)
		for range samples {
			now := b.Float64() < shared
			for i, d := range b.layers {
				one := float64(d) * off[i] * math.Exp(0.04*b.NormFloat64())
				if now != (b.Float64() < 0.1) {
					one *= b.alone[i]
				}
				if b.Float64() < 0.03 {
					one *= 10 * b.Float64()
				}
				if i == slower {
					one *= times
				}
				all[i] = append(all[i], max(time.Duration(one), 1))
			}
		}
	}
	var layers []report.LayerTiming
	for i, list := range all {
		name := fmt.Sprint("layer", i)
		l := report.LayerTiming{Name: name, Op: "Conv", Precision: "f32", Tactic: "conv", From: []string{name}}
		for r := range rounds {
			round := slices.Sorted(slices.Values(list[r*samples : (r+1)*samples]))
			l.Rounds = append(l.Rounds, round[samples/2])
		}
		slices.Sort(list)
		l.P10, l.P25, l.Median, l.P75 = list[len(list)/10], list[len(list)/4], list[len(list)/2], list[len(list)*3/4]
		layers = append(layers, l)
	}
	return snapshot(config.FP32, time.Millisecond, layers...)
}

// TestBusy: of recordings of the same thing on a busy machine at most one pair in twenty has a layer that is said to differ, and what
// takes 1.7 times as long is found, among few layers and among many.
func TestBusy(t *testing.T) {
	for _, c := range []struct {
		layers       int
		times        float64
		least, wrong int // of 40 planted ones that are found, of 40 pairs of the same
	}{{13, 1.7, 28, 2}, {100, 1.7, 30, 2}, {13, 1.3, 8, 2}, {100, 1.3, 14, 2}} {
		b := newBusy(7, c.layers)
		const pairs = 40
		wrong, found, others, told := 0, 0, 0, 0
		for range pairs {
			base := b.recording(-1, 1)
			of := func(other *report.Snapshot) *report.Diff {
				d, err := Of(Side{Name: "a", Snapshot: base}, Side{Name: "b", Snapshot: other})
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			if slices.ContainsFunc(of(b.recording(-1, 1)).Groups, func(g report.LayerChange) bool { return g.Significant }) {
				wrong++
			}
			slower := c.layers/4 + b.IntN(c.layers*3/4) // 5 µs and more
			for _, g := range of(b.recording(slower, c.times)).Groups {
				switch right := g.Name == fmt.Sprint("layer", slower) && g.Delta > 0; {
				case g.Significant && right:
					found++
				case g.Significant:
					others++
				}
				if g.Told <= 1 {
					t.Errorf("%s is told from %g on", g.Name, g.Told)
				}
				if g.Told < c.times {
					told++
				}
			}
		}
		t.Logf("%d layers, one %.1f times as long: found %d times of %d, others %d times; %d pairs of the same have one; a layer is told from that on in %d %%", c.layers, c.times, found, pairs, others, wrong, told*100/(pairs*c.layers))
		if wrong > c.wrong || found < c.least || others > 2*c.wrong {
			t.Error("that is not what is promised")
		}
	}
}
