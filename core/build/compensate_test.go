package build_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestCompensate narrows ranges so that they clip: weights that are solved for take back a part of that on data that was not seen, and
// the network is lowered again to the bit without data. Weights of which the nearest integers lose nothing are solved for, too.
func TestCompensate(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	for _, exact := range []bool{false, true} {
		rnd := rand.New(rand.NewPCG(3, 4))
		n := chain(t, rnd, 1, exact)
		items, others := chainItems(rnd, 40), chainItems(rnd, 20)
		items = append(items, items[0], items[1])
		c := newChainChoice(t, n, b, items)
		for name, r := range c.how.Ranges {
			r = numeric.PerTensor(r.Scale[0]/3, r.ZeroAt(0))
			c.how.Ranges[name] = r
		}
		by, err := quant.ParseRounding("compensated")
		if err != nil {
			t.Fatal(err)
		}
		compensated := &build.Rounding{By: by, Replay: c.replay}
		gptq := c.lower(t, func(lc *build.LowerConfig) { lc.Rounding = c.rounding })
		l := c.lower(t, func(lc *build.LowerConfig) { lc.Rounding = compensated })
		was, now := sqnrOf(t, n, gptq, others), sqnrOf(t, n, l, others)
		t.Logf("exact %v: gptq %.2f dB, compensated %.2f", exact, was, now)
		if now < was+1 {
			t.Errorf("exact %v: %.2f dB, and without %.2f", exact, now, was)
		}
		if fired, _ := compensation(l); len(fired) == 0 || len(l.Rounded) < len(fired) {
			t.Errorf("exact %v: %d layers in the ledger, integers of %d", exact, len(fired), len(l.Rounded))
		}
		again := c.lower(t, func(lc *build.LowerConfig) {
			lc.Rounding, lc.Correction = &build.Rounding{By: by, Known: l.Rounded}, &build.Correction{Shifts: l.Shifts}
		})
		if !slices.EqualFunc(l.Network.Consts(), again.Network.Consts(), func(a, b *graph.Tensor) bool { return bytes.Equal(a.Weights, b.Weights) }) {
			t.Errorf("exact %v: lowered again it has other constants", exact)
		}
		if exact {
			continue
		}
		fired, _ := compensation(l)
		off := c.lower(t, func(lc *build.LowerConfig) {
			lc.Rounding = compensated
			for _, f := range fired {
				lc.Pass.DisableSites = append(lc.Pass.DisableSites, f.Site)
			}
		})
		if fired, _ := compensation(off); len(fired) != 0 || !sameShifts(off, gptq) {
			t.Errorf("switched off, it is done at %v", fired)
		}
		few := *c.replay
		few.Batches, few.Items = func(yield func(map[string]numeric.Value, error) bool) {
			for _, in := range append(items[:3:3], items[:3]...) {
				if !yield(in, nil) {
					return
				}
			}
		}, 6
		for _, d := range []struct {
			correction *build.Correction
			want       string
		}{
			{&build.Correction{Replay: &few}, "of fewer than 4 items that differ"},
			{&build.Correction{Means: map[string]quant.ChannelMeans{"x": {Axis: 1, Mean: make([]float64, 48)}}}, "not corrected exactly"},
		} {
			l := c.lower(t, func(lc *build.LowerConfig) { lc.Rounding, lc.Correction = compensated, d.correction })
			fired, missed := compensation(l)
			if len(fired) > 0 || !slices.ContainsFunc(missed, func(m pass.Missed) bool { return strings.Contains(m.Detail, d.want) }) {
				t.Errorf("want %q, done at %v, missed %v", d.want, fired, missed)
			}
		}
	}
}

// compensation returns what the ledger says of weights that compensate.
func compensation(l *build.Lowered) (fired []pass.Fired, missed []pass.Missed) {
	for _, s := range l.Steps {
		for _, f := range s.Fired {
			if f.Site.Rule == quantise.Compensation {
				fired = append(fired, f)
			}
		}
		for _, m := range s.Missed {
			if m.Site.Rule == quantise.Compensation {
				missed = append(missed, m)
			}
		}
	}
	return fired, missed
}

func sameShifts(a, b *build.Lowered) bool {
	for name, s := range a.Shifts {
		if !slices.Equal(s, b.Shifts[name]) {
			return false
		}
	}
	return len(a.Shifts) == len(b.Shifts)
}
