package networks

import (
	"context"
	"slices"
	"time"

	"github.com/trtui/trtui/internal/reduce"
)

// Shrink returns the smallest model found on which the same thing is wrong, and the plainest setup.
func (b *Bench) Shrink(ctx context.Context, m *Model, s Setup, f *Failure, within time.Duration) (*Model, Setup, *Failure) {
	h := &shrinker{bench: b, ctx: ctx, setup: s, failure: f}
	figures := b.Figures
	defer func() { b.Figures = figures }()
	h.search = &reduce.Search{Fails: func(ctx context.Context, m *Model) bool { return h.fails(ctx, m, h.setup) }, Also: []func() bool{h.plain}}
	return h.search.Run(ctx, m, within), h.setup, h.failure
}

// shrinker is the search for a smaller model, and for a plainer setup.
type shrinker struct {
	bench   *Bench
	search  *reduce.Search
	ctx     context.Context
	setup   Setup
	failure *Failure
}

// fails reports whether a model fails alike with a setup, and keeps how.
func (h *shrinker) fails(ctx context.Context, m *Model, s Setup) bool {
	f := h.bench.Check(ctx, m, s)
	if f == nil || f.Kind != h.failure.Kind || ctx.Err() != nil {
		return false
	}
	h.failure = f
	return true
}

// plain makes the setup plainer.
func (h *shrinker) plain() bool {
	var list []Setup
	add := func(change func(*Setup)) {
		s := h.setup
		s.Disable = slices.Clone(s.Disable)
		change(&s)
		list = append(list, s)
	}
	if h.setup.File {
		add(func(s *Setup) { s.File = false })
	}
	if h.setup.Tactics != 0 {
		add(func(s *Setup) { s.Tactics = 0 })
	}
	if h.setup.Features != "" {
		add(func(s *Setup) { s.Features = "" })
	}
	if h.setup.Threads > 1 {
		add(func(s *Setup) { s.Threads = 1 })
	}
	if h.setup.Precision == "int8" || h.setup.Precision == "fp16" {
		add(func(s *Setup) { s.Precision, s.Calibrator, s.Tokens = "fp32", "", "" })
	}
	if h.setup.Calibrator != "" && h.setup.Calibrator != "minmax" {
		add(func(s *Setup) { s.Calibrator = "minmax" })
	}
	if h.setup.Tokens != "" {
		add(func(s *Setup) { s.Tokens = "" })
	}
	if len(h.setup.Disable) > 0 {
		add(func(s *Setup) { s.Disable = nil })
		for i := range h.setup.Disable {
			add(func(s *Setup) { s.Disable = slices.Delete(s.Disable, i, i+1) })
		}
	}
	return slices.ContainsFunc(list, func(s Setup) bool {
		if h.search.Over() || !h.fails(h.ctx, h.search.Best(), s) {
			return false
		}
		h.setup = s
		h.search.Forget()
		return true
	})
}
