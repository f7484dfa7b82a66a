package cmd

import (
	"context"
	"io"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/generate"
	"github.com/trtui/trtui/sessions/report"
)

// What a session asks a language model for.
const (
	livePrompt = "Once upon a time"
	liveTokens = 64
)

// liveInterval is how often a text that grows is shown at most.
const liveInterval = 100 * time.Millisecond

// speak lets a session on a language model, whose tokenizer is there, show how it writes.
func (f *modelFlags) speak(p *place) {
	m := p.model
	p.work.Language = nil // of the file as it was
	if m.Engine != nil || m.Refused != nil || m.Network == nil {
		return
	}
	tok, err := openTokenizer(f.data.tokenizer, m.Path)
	if err != nil {
		return
	}
	ids, err := tok.Encode(livePrompt)
	if err != nil {
		return
	}
	open := func(cfg config.Config, rounded build.Rounded, tell func(report.Progress)) (*generate.Model, error) {
		return generate.New(m.Network, f.data.logits, len(ids), len(ids)+liveTokens, p.work.Backend, languageBuilder(p, cfg, learned{rounded: rounded}, tell))
	}
	if probe, err := open(config.Config{}, nil, nil); err != nil {
		return // it is no language model
	} else {
		probe.Close()
	}
	p.work.Language = func(ctx context.Context, cfg config.Config, rounded build.Rounded, tell func(report.Progress), show func(*report.Generation)) error {
		if cfg.Precision == config.INT8 && !m.Quantized {
			return errNoRanges
		}
		language, err := open(cfg, rounded, tell)
		if err != nil {
			return err
		}
		defer language.Close()
		w := newTextWriter(io.Discard, tok, ids, true)
		var shown time.Time
		q := generate.Request{Prompt: ids, Most: liveTokens, Ends: tok.Ends(), Each: func(t *generate.Times) {
			if time.Since(shown) >= liveInterval {
				g := generationOf(livePrompt, w, t, language)
				shown = time.Now()
				show(&g)
			}
		}}
		times, err := language.Generate(ctx, q, w.add)
		if err != nil {
			return err
		}
		g := generationOf(livePrompt, w, times, language)
		if g.Memory, err = memoryOf(ctx, language, &p.work, &g, tell); err != nil {
			return err
		}
		tell(report.Progress{Phase: "timing layers of prompts and tokens"})
		if g.Phases, err = phasesOf(ctx, language, p.work.Backend.Info().Estimated); err != nil {
			return err
		}
		show(&g)
		return nil
	}
}
