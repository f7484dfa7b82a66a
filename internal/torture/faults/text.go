package faults

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/torture/networks"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/generate"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// prompt is what texts begin with, and newTokens how many follow: a model without state needs a few engines for them.
var prompt = []int{3, 1, 2}

const newTokens = 14

// text has a language model continue a text twice; where that fails, once more when nothing fails any more.
func (v *visit) text() error {
	v.model = networks.Language(v.rnd.Uint64(), v.rnd.IntN(2) == 0)
	m, w, err := v.workplace()
	if err != nil {
		return err
	}
	v.stage = "a text"
	cfg := v.config()
	cfg.Precision = floats[v.rnd.IntN(len(floats))]
	language, err := v.language(m, w, cfg)
	if err != nil {
		return err
	}
	defer language.Close()
	first, err := written(v.ctx, language)
	if err == nil {
		_, err = written(v.ctx, language)
	}
	if err == nil || v.device.loses() {
		return err
	}
	v.device.mend()
	again, failed := written(v.ctx, language)
	switch {
	case failed != nil:
		return fmt.Errorf("%w once nothing fails any more: %w", errWrong, failed)
	case len(again) != newTokens || !slices.Equal(again[:len(first)], first):
		return fmt.Errorf("%w once nothing fails any more: %v, and %v before", errWrong, again, first)
	}
	return err
}

// language opens the model as one of texts, whose engines have shapes of their own.
func (v *visit) language(m *model.Model, w stages.Workplace, cfg config.Config) (*generate.Model, error) {
	w.Data, w.CalData = nil, nil
	build := func(ctx context.Context, n *graph.Network, shapes map[string][]int) (*run.Engine, error) {
		made, shaped := *m, cfg.Clone()
		made.Network, shaped.Batch, shaped.Shapes = n, 1, shapes
		r := sessions.NewRunner(&made, w, nil)
		defer r.Close()
		return r.Engine(ctx, shaped, false)
	}
	return generate.New(m.Network, "", len(prompt), len(prompt)+newTokens, v.device, build)
}

// written returns the tokens that follow the prompt, with an error those before it.
func written(ctx context.Context, m *generate.Model) (list []int, err error) {
	_, err = m.Generate(ctx, generate.Request{Prompt: prompt, Most: newTokens}, func(token int) error {
		list = append(list, token)
		return nil
	})
	return list, err
}

// speaks lets a session on a language model write a text, too.
func (v *visit) speaks(m *model.Model, w *stages.Workplace) {
	silent := *w
	w.Language = func(ctx context.Context, cfg config.Config, _ build.Rounded, _ func(report.Progress), show func(*report.Generation)) error {
		if cfg.Precision == config.INT8 {
			cfg.Precision = config.FP16 // it has no ranges
		}
		language, err := v.language(m, silent, cfg)
		if err != nil {
			return err
		}
		defer language.Close()
		tokens, err := written(ctx, language)
		if err == nil {
			show(&report.Generation{Tokens: tokens})
		}
		return err
	}
}
