package build_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// scarce is a device on which a tactic that reads planes runs one time and has no memory the next.
type scarce struct {
	noisy
	bound map[string]int // by tactic and layer
}

func (d *scarce) Tactics(op *graph.Op) []kernels.Tactic {
	list := d.noisy.Tactics(op)
	for i, t := range list {
		if !strings.HasSuffix(t.Name, "_planar") {
			continue
		}
		list[i].Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			name := t.Name + b.Layer.Name
			if d.bound[name]++; d.bound[name]%2 == 0 {
				return nil, errors.New("no memory is left")
			}
			return t.Bind(b)
		}
	}
	return list
}

// A tactic that fails now and then is out the first time it does: tried again in each pass, it would never have been measured as
// often as a trial takes, and the build would not end.
func TestFailingNowAndThen(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	d := &scarce{noisy{Backend: host, truth: planarWins, rnd: rand.New(rand.NewPCG(5, 6))}, map[string]int{}}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	p, err := build.Plan(ctx, lowered(t, host, numeric.F32), map[string]int{"batch": 1}, d, build.PlanConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.bound) == 0 {
		t.Fatal("no tactic failed")
	}
	for _, s := range p.Steps {
		for _, c := range s.Candidates {
			if strings.HasSuffix(c.Tactic, "_planar") && c.Failed != strings.Contains(c.Reason, "no memory is left") {
				t.Errorf("%s, %s: failed %v, %q", s.Name, c.Tactic, c.Failed, c.Reason)
			}
		}
		if strings.HasSuffix(s.Tactic, "_planar") {
			t.Errorf("%s: %s", s.Name, s.Tactic)
		}
	}
	for name, times := range d.bound {
		if times > 2 {
			t.Errorf("%s was tried %d times", name, times)
		}
	}
}
