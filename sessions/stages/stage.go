package stages

import (
	"context"
	"encoding/json"
)

// stage is a step on the way from a model to what a person sees of it. In is all that its result depends on beside the model
// and the workplace, which stay as they are: make sees nothing else of a configuration, and In as text is the key under which
// the result is kept. What a stage forgets to ask for it does not see, so it cannot make a stale result.
type stage[In, Out any] struct {
	make func(ctx context.Context, in In) (Out, error)
	kept memo[Out]
}

func newStage[In, Out any](make func(context.Context, In) (Out, error)) *stage[In, Out] {
	return &stage[In, Out]{make: make}
}

// Of returns the result for in, kept or made.
func (s *stage[In, Out]) Of(ctx context.Context, in In) (Out, error) {
	return s.kept.get(key(in), func() (Out, error) { return s.make(ctx, in) })
}

// known returns the result for in if it is kept.
func (s *stage[In, Out]) known(in In) (Out, bool) {
	out, ok := s.kept.values[key(in)]
	return out, ok
}

// replace keeps out as the newest result, in the place of one that was made for in.
func (s *stage[In, Out]) replace(in In, out Out) {
	s.forget(in)
	s.kept.keep(key(in), out)
}

func (s *stage[In, Out]) forget(in In) { s.kept.forget(key(in)) }

// key makes a memo's key of anything that JSON can write; maps are written in order.
func key(parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		panic("sessions: key: " + err.Error())
	}
	return string(b)
}
