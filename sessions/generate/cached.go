package generate

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
)

// cachedDecoder runs a model on new tokens alone. Keys and values of earlier ones lie in buffers of one fixed length, which
// the model's inputs of the past are: those of new tokens are copied behind the others after each run, and the mask hides what
// is not filled yet. So shapes do not change from token to token, nothing is moved, and two profiles of one engine are enough: one
// for pieces of prompts, and one for a single token.
type cachedDecoder struct {
	model   *Model
	network *graph.Network // with the new keys and values as outputs
	state   []*state
	prompt  *engine
	single  *engine
	used    int // tokens whose keys and values are there
	length  int // of the buffers
	piece   int // tokens of a prompt at once
}

// state is a buffer of keys or values, [1, heads, length, size].
type state struct {
	input, output string
	whole         bool // the output has the past in front of what is new
	buffer        numeric.Value
}

// longestPiece bounds the tokens of a prompt that are computed at once.
const longestPiece = 128

func newCachedDecoder(m *Model, prompt, length int) (*cachedDecoder, error) {
	r := m.roles
	if err := r.keepable(); err != nil {
		return nil, err
	}
	d := &cachedDecoder{model: m, network: m.network.Clone(), length: length, piece: shortest}
	for d.piece < min(prompt, longestPiece) {
		d.piece *= 2
	}
	var need int64
	for _, c := range r.cache {
		s := &state{input: c.past.Name}
		s.output, s.whole = newRows(d.network, c)
		dims, err := fixed(c.past, []int{1, -1, length, -1})
		if err != nil {
			return nil, err
		}
		s.buffer = numeric.Value{Type: c.past.Type, Dims: dims}
		need += int64(numeric.Count(dims) * c.past.Type.Size())
		d.state = append(d.state, s)
	}
	if err := host.Room(fmt.Sprintf("the state of a text of %d tokens", length), need); err != nil {
		return nil, err
	}
	for _, s := range d.state {
		s.buffer = aligned(s.buffer.Type, s.buffer.Dims)
	}
	return d, d.network.Verify()
}

// newRows has the network return what a run adds to the past instead of both, where they are joined by a concatenation. It
// returns the output's name, and whether it still has the past in it.
func newRows(n *graph.Network, c cached) (output string, whole bool) {
	for i, t := range n.Outputs {
		if t.Name != c.present.Name {
			continue
		}
		l := t.Producer
		if l == nil || l.Op != graph.Concat || len(l.Inputs) != 2 || l.Inputs[0].Name != c.past.Name || n.IsOutput(l.Inputs[1]) || n.IsInput(l.Inputs[1]) {
			break
		}
		n.Outputs[i] = l.Inputs[1]
		return l.Inputs[1].Name, false
	}
	return c.present.Name, true
}

func (d *cachedDecoder) reset()    { d.used = 0 }
func (d *cachedDecoder) room() int { return d.length - d.used }

func (d *cachedDecoder) close() {
	for _, e := range []*engine{d.prompt, d.single} {
		if e != nil {
			e.close()
		}
	}
}

// ready makes both engines, so that the second token takes no longer than those behind it.
func (d *cachedDecoder) ready(ctx context.Context, tokens int) error {
	if d.single == nil {
		if err := d.make(ctx, &d.single, 1); err != nil {
			return err
		}
	}
	if tokens > 1 && d.prompt == nil {
		return d.make(ctx, &d.prompt, d.piece)
	}
	return nil
}

func (d *cachedDecoder) next(ctx context.Context, tokens []int) ([]float32, error) {
	for len(tokens) > 1 {
		some := tokens[:min(len(tokens), d.piece)]
		if err := d.run(ctx, d.prompt, some); err != nil {
			return nil, err
		}
		if tokens = tokens[len(some):]; len(tokens) == 0 {
			return d.prompt.scores(d.model.roles.logits.Name, len(some)-1)
		}
	}
	if err := d.run(ctx, d.single, tokens); err != nil {
		return nil, err
	}
	return d.single.scores(d.model.roles.logits.Name, 0)
}

// make makes an engine for so many tokens at once, which reads the buffers in place where the device can.
func (d *cachedDecoder) make(ctx context.Context, e **engine, length int) error {
	made, err := d.model.newEngine(ctx, d.network, length, d.length)
	if err != nil {
		return err
	}
	for _, s := range d.state {
		if made.context.Bind(s.input, s.buffer.Data) {
			delete(made.inputs, s.input)
		} else {
			made.inputs[s.input] = s.buffer
		}
	}
	*e = made
	return nil
}

// run computes tokens, of which there are no more than the engine takes, and keeps their keys and values.
func (d *cachedDecoder) run(ctx context.Context, e *engine, tokens []int) error {
	r := d.model.roles
	fill(e.inputs[r.tokens.Name], func(i int) int {
		if i < len(tokens) {
			return tokens[i]
		}
		return 0
	})
	fill(e.inputs[r.positions.Name], func(i int) int { return d.used + min(i, len(tokens)-1) })
	fill(e.inputs[r.mask.Name], func(i int) int {
		if i < d.used || i >= d.length && i < d.length+len(tokens) {
			return 1
		}
		return 0
	})
	if err := e.run(ctx); err != nil {
		if n, ok := positions(err); ok && n < d.used+len(tokens) {
			err = &tooLong{d.used + len(tokens), err}
		}
		return err
	}
	for _, s := range d.state {
		v, err := e.context.Output(s.output)
		if err != nil {
			return err
		}
		s.keep(v, d.used, len(tokens))
	}
	d.used += len(tokens)
	return nil
}

// keep copies the first new rows of each head of v behind those that are there.
func (s *state) keep(v numeric.Value, used, rows int) {
	heads, length := s.buffer.Dims[1], s.buffer.Dims[2]
	row := s.buffer.Dims[3] * s.buffer.Type.Size()
	from, has := 0, v.Dims[2]
	if s.whole {
		from = length
	}
	for h := range heads {
		copy(s.buffer.Data[(h*length+used)*row:][:rows*row], v.Data[(h*has+from)*row:][:rows*row])
	}
}
