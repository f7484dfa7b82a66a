package run_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestLoadTelling: loading counts the plan's steps, each once, and ends between two of them.
func TestLoadTelling(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), residual(t), map[string]int{"batch": 1}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	l, err := run.LoadTelling(t.Context(), p, b, func(done, total int, layer string) {
		if seen[layer] = true; done != len(seen) || total != len(p.Steps) {
			t.Errorf("%d of %d at %s, want %d of %d", done, total, layer, len(seen), len(p.Steps))
		}
	})
	if err != nil || len(seen) != len(p.Steps) {
		t.Fatalf("%d of %d steps were told of: %v", len(seen), len(p.Steps), err)
	}
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := 0
	_, err = run.LoadTelling(ctx, p, b, func(done, _ int, _ string) {
		if last = done; done == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last != 2 {
		t.Errorf("%v after %d steps", err, last)
	}
}
