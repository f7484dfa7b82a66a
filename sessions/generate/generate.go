// Package generate continues texts with a language model: token by token, each chosen from the scores that the model gives for
// all after those before. Models that take past keys and values are run on the new tokens alone, with the state of the earlier
// ones kept in place between runs; others are run on the whole text again. Start with [New] and [Model.Generate].
package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
)

// Builder makes an engine of a network for the given shapes of its inputs.
type Builder func(ctx context.Context, n *graph.Network, shapes map[string][]int) (*run.Engine, error)

// Model is a language model on a device.
type Model struct {
	network *graph.Network
	roles   *roles
	build   Builder
	backend run.Backend
	decoder decoder
	places  int         // positions that it has; 0: not known
	engine  run.Engine  // of a profile for each length that was needed
	first   *run.Loaded // of the first of them
}

// decoder computes scores. It keeps what it was given before.
type decoder interface {
	// ready makes the engines that next needs for so many tokens, whose making is none of next's time.
	ready(ctx context.Context, tokens int) error
	// next returns the scores of the token that follows what it was given so far and these tokens.
	next(ctx context.Context, tokens []int) ([]float32, error)
	// room returns how many tokens it can still be given.
	room() int
	// reset forgets all tokens.
	reset()
	close()
	// phases returns the engines by what they are for.
	phases() []Phase
}

// MaxLength is the longest text that there may be, of prompt and new tokens.
const MaxLength = 1 << 24

// tooLong is the error of a text that is longer than the model takes, and how the model says so.
type tooLong struct {
	tokens int
	err    error
}

func (e *tooLong) Error() string {
	return fmt.Sprintf("the model takes no text of %d tokens: %v", e.tokens, e.err)
}

// positions returns how many positions of tokens the model has, where an error says that there is none behind the last.
func positions(err error) (n int, ok bool) {
	var index *graph.IndexError
	ok = errors.As(err, &index) && index.Index == int64(index.Extent)
	if ok {
		n = index.Extent
	}
	return n, ok
}

// New prepares a model for texts of up to so many tokens, of which up to prompt are given. Engines are made as they are needed. logits
// names the output of scores; empty: it is found.
func New(n *graph.Network, logits string, prompt, length int, backend run.Backend, build Builder) (*Model, error) {
	if length < 1 || length > MaxLength {
		return nil, fmt.Errorf("a text of %d tokens: want 1 to %d", length, MaxLength)
	}
	r, err := findRoles(n, logits)
	if err != nil {
		return nil, err
	}
	m := &Model{network: n, roles: r, build: build, backend: backend, places: r.places(n)}
	if m.places > 0 {
		length = min(length, m.places)
	}
	if len(r.cache) > 0 {
		m.decoder, err = newCachedDecoder(m, prompt, length)
	} else {
		m.decoder, err = newPlainDecoder(m, length)
	}
	return m, err
}

// Cached reports whether the model keeps state, so that a token costs the same however long the text is.
func (m *Model) Cached() bool { return len(m.roles.cache) > 0 }

// Logits returns the output that scores the next token, and of how many others of three axes it was told.
func (m *Model) Logits() (name string, others int) { return m.roles.logits.Name, m.roles.others }

// Engine returns what was built so far: an engine with a profile for each length of sequence that was needed, whose plans share
// their constants.
func (m *Model) Engine() *run.Engine { return &m.engine }

// Close gives the model's memory back; not the backend's.
func (m *Model) Close() { m.decoder.close() }

// Why a text ends.
const (
	EndOfText = "end of text" // the model said so
	Length    = "length"      // as many tokens as were asked for
	Full      = "the model takes no more tokens"
)

// Times are how long a generation took. Each token's time is that of the run which gave its scores, and of the choice; what it
// took to make engines is not in it.
type Times struct {
	Prompt int           // tokens of the prompt
	First  time.Duration // from the prompt to the first token
	Tokens []time.Duration
	Ended  string
}

// Request is what is to be generated.
type Request struct {
	Prompt []int        // at least one token
	Most   int          // new tokens
	Ends   []int        // tokens after which the text ends; they are part of it
	Each   func(*Times) // if set, is told of the times so far when a token was emitted
	Sampling
}

var errNoPrompt = errors.New("the prompt has no tokens; give some text, or a tokenizer whose template begins a text with a token")

// Generate gives each new token to emit, whose error ends it. It begins a new text.
func (m *Model) Generate(ctx context.Context, q Request, emit func(token int) error) (*Times, error) {
	if len(q.Prompt) == 0 {
		return nil, errNoPrompt
	}
	if err := m.roles.check(q.Prompt); err != nil {
		return nil, err
	}
	m.decoder.reset()
	ended := func(t *Times, err error) (*Times, error) {
		switch {
		case !errors.As(err, new(*tooLong)):
			return nil, err
		case len(t.Tokens) == 0:
			return nil, fmt.Errorf("the prompt has %d tokens: %w", t.Prompt, err)
		}
		t.Ended = Full
		return t, nil
	}
	t, s, tokens := &Times{Prompt: len(q.Prompt)}, newSampler(q.Sampling), q.Prompt
	for len(t.Tokens) < q.Most {
		if len(tokens) > m.decoder.room() {
			switch room := m.decoder.room(); {
			case len(t.Tokens) == 0 && room == m.places:
				return ended(t, &tooLong{len(tokens), fmt.Errorf("it has %d positions", room)})
			case len(t.Tokens) == 0:
				return nil, fmt.Errorf("the prompt has %d tokens, there is room for %d", len(tokens), room)
			}
			t.Ended = Full
			return t, nil
		}
		if err := m.decoder.ready(ctx, len(tokens)); err != nil {
			return ended(t, err)
		}
		start := time.Now()
		scores, err := m.decoder.next(ctx, tokens)
		if err != nil {
			return ended(t, err)
		}
		token := s.next(scores)
		took := time.Since(start)
		if len(t.Tokens) == 0 {
			t.First = took
		}
		t.Tokens = append(t.Tokens, took)
		if err := emit(token); err != nil {
			return nil, err
		}
		if q.Each != nil {
			q.Each(t)
		}
		if slices.Contains(q.Ends, token) {
			t.Ended = EndOfText
			return t, nil
		}
		tokens = []int{token}
	}
	t.Ended = Length
	return t, nil
}

// check refuses tokens that the model does not have.
func (r *roles) check(tokens []int) error {
	vocabulary, known := r.logits.Dims[2].IsConst()
	for _, id := range tokens {
		if id < 0 || known && id >= vocabulary {
			return fmt.Errorf("token %d: the model has %d; is this its tokenizer?", id, vocabulary)
		}
	}
	return nil
}
