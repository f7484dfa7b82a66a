package generate

import (
	"context"
	"fmt"
	"slices"
	"sort"
)

// plainDecoder runs a model without state on the whole text for each token. So that not every length needs an engine of its
// own, the text is filled up behind its end to one of few lengths: what stands there changes nothing in front of it if the model
// looks back only, which is tried.
type plainDecoder struct {
	model   *Model
	engines map[int]*engine
	tokens  []int
	most    int  // tokens that the model takes, or that were asked for
	exact   bool // the model looks ahead: it gets no token but those of the text
	tried   bool
}

func newPlainDecoder(m *Model, length int) (*plainDecoder, error) {
	d := &plainDecoder{model: m, engines: map[int]*engine{}, most: length}
	if n, ok := m.roles.tokens.Dims[1].IsConst(); ok {
		d.most = n
	}
	if n, ok := m.roles.tokens.Dims[0].IsConst(); ok && n != 1 {
		return nil, fmt.Errorf("input %s, %s: the model takes %d texts at once, want one; export it with that axis open", m.roles.tokens.Name, m.roles.tokens.TypeString(), n)
	}
	return d, nil
}

func (d *plainDecoder) reset()    { d.tokens = d.tokens[:0] }
func (d *plainDecoder) room() int { return d.most - len(d.tokens) }

func (d *plainDecoder) close() {
	for _, e := range d.engines {
		e.close()
	}
}

func (d *plainDecoder) next(ctx context.Context, tokens []int) ([]float32, error) {
	d.tokens = append(d.tokens, tokens...)
	return d.run(ctx, 0)
}

// ready makes the engine for the text with so many more tokens, and tries with the first whether the model looks ahead.
func (d *plainDecoder) ready(ctx context.Context, tokens int) error {
	if _, err := d.engine(ctx, len(d.tokens)+tokens); err != nil || d.tried {
		return err
	}
	if len(d.tokens)+tokens == d.lengthFor(len(d.tokens)+tokens) {
		return nil // nothing is filled up
	}
	kept := d.tokens
	defer func() { d.tokens = kept }()
	d.tokens = make([]int, len(kept)+tokens)
	one, err := d.run(ctx, 0)
	if err != nil {
		return err
	}
	one = slices.Clone(one) // the next run writes where it is
	other, err := d.run(ctx, 1)
	if err != nil {
		return err
	}
	ahead := !slices.Equal(one, other)
	if _, fixed := d.model.roles.tokens.Dims[1].IsConst(); fixed && ahead {
		return fmt.Errorf("what follows a token changes its scores, so this model cannot continue a text shorter than its %d tokens; export it with that axis open", d.most)
	}
	if d.tried, d.exact = true, ahead; !ahead {
		return nil
	}
	_, err = d.engine(ctx, len(d.tokens))
	return err
}

// run returns the scores behind the last token, with a token to fill up with.
func (d *plainDecoder) run(ctx context.Context, filler int) ([]float32, error) {
	length := len(d.tokens)
	e, err := d.engine(ctx, length)
	if err != nil {
		return nil, err
	}
	r := d.model.roles
	fill(e.inputs[r.tokens.Name], func(i int) int {
		if i < length {
			return d.tokens[i]
		}
		return filler
	})
	if r.mask != nil {
		fill(e.inputs[r.mask.Name], func(i int) int {
			if i < length {
				return 1
			}
			return 0
		})
	}
	if r.positions != nil {
		fill(e.inputs[r.positions.Name], func(i int) int { return min(i, length-1) })
	}
	if err := e.run(ctx); err != nil {
		if n, ok := positions(err); ok && n < length {
			err = &tooLong{length, err}
		}
		return nil, err
	}
	return e.scores(r.logits.Name, length-1)
}

// lengthFor returns what length a text of so many tokens is filled up to.
func (d *plainDecoder) lengthFor(length int) int {
	if n, fixed := d.model.roles.tokens.Dims[1].IsConst(); fixed {
		return n
	}
	if d.exact {
		return length
	}
	size := shortest
	for size < length {
		size *= 2
	}
	return max(length, min(size, d.most))
}

// engine returns one for a text of so many tokens. Where the model takes no text as long as one is filled up to, the longest that
// it takes is the most from then on; the error is a *tooLong where that is shorter than this text.
func (d *plainDecoder) engine(ctx context.Context, tokens int) (*engine, error) {
	for {
		length := d.lengthFor(tokens)
		if e, ok := d.engines[length]; ok {
			return e, nil
		}
		e, err := d.model.newEngine(ctx, d.model.network, length, 0)
		if err == nil {
			d.engines[length] = e
			return e, nil
		}
		most := d.longest(length, err)
		if most == length {
			return nil, err
		}
		if d.most = most; most < tokens || d.lengthFor(tokens) == length {
			return nil, &tooLong{tokens, err}
		}
	}
}

// longest returns how long a text may be at most where there is no engine for one of a length, and why: as long as that if its length
// is not the reason.
func (d *plainDecoder) longest(length int, why error) int {
	if n, ok := positions(why); ok {
		return min(length, n)
	}
	takes := func(n int) bool { return d.model.roles.takes(d.model.network, n, 0) }
	if takes(length) {
		return length
	}
	return sort.Search(length, func(n int) bool { return !takes(n + 1) })
}
