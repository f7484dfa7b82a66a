package trtui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
)

// SessionOptions say how a session runs.
type SessionOptions struct {
	// Threads is how many threads the session has of its own, the goroutine that runs it among them. Sessions with threads of
	// their own do not wait for each other: two of one thread on two processors do twice the work of one. 0 shares the
	// device's threads, so that a single session is fastest; while one has them, others run on their own goroutine alone. A
	// device that does not compute with threads of the host, such as a GPU, takes no notice of it.
	Threads int
}

// Session is one user of an engine, with memory of its own. It runs one inference at a time; make one for each goroutine.
type Session struct {
	engine   *Engine
	version  *version // of the engine, that the contexts are of; nil: there are none
	threads  int
	contexts []*run.ExecutionContext // by profile; nil until it is used
	context  *run.ExecutionContext   // the one that it is in
	input    map[string]bool
	given    map[string][]int // the shapes of the inputs of a run

	mu      sync.Mutex
	inputs  []Port // as they are where the session is
	outputs []Port
	busy    bool
	started *started // what Start began; nil where nothing was
}

// started is an inference that is waited for.
type started struct {
	done chan struct{}
	err  error
}

// NewSession allocates what a session needs; where the device has not the memory, the error is a [*NoRoom].
func (e *Engine) NewSession(o SessionOptions) (*Session, error) {
	if o.Threads < 0 {
		return nil, fmt.Errorf("%d threads; give a number from 1 on, or 0 for those of the device", o.Threads)
	}
	s := &Session{engine: e, threads: o.Threads, inputs: e.Inputs(), outputs: e.Outputs(), input: map[string]bool{}, given: map[string][]int{}}
	if err := s.renew(); err != nil {
		return nil, err
	}
	for _, p := range s.inputs {
		s.input[p.Name] = true
	}
	return s, nil
}

// ErrBusy is the error of a session that is asked to run while it runs.
var ErrBusy = errors.New("the session is running already; give each goroutine a session of its own, or call Wait first")

// Run computes the outputs for the given inputs, one for each of [Engine.Inputs], of its type, and of its shape or of shapes
// that one of [Engine.Profiles] takes. The outputs are new; an extent that depends on the data, such as the number of boxes that
// are selected, is what it is for these. It ends with ctx, with its error: on the CPU after the layer that is running, on a GPU
// before it begins.
func (s *Session) Run(ctx context.Context, in Inputs) (Outputs, error) {
	if !s.take() {
		return nil, ErrBusy
	}
	defer s.release()
	if err := s.follow(in); err != nil {
		return nil, err
	}
	if s.context.Counts() {
		if err := s.run(ctx, in, Outputs{}); err != nil {
			return nil, err
		}
		return s.context.Outputs()
	}
	out := s.NewOutputs()
	if err := s.run(ctx, in, out); err != nil {
		return nil, err
	}
	return out, nil
}

// NewOutputs returns memory for all outputs, of the shapes that they have where the session is, that [Session.RunInto] and
// [Session.Start] write without a copy.
func (s *Session) NewOutputs() Outputs {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Outputs{}
	for _, p := range s.outputs {
		out[p.Name] = NewValue(p.Type, slices.Clone(p.Dims)...)
	}
	return out
}

// RunInto is [Session.Run] that writes the outputs named in out into the caller's memory there; it need not name all of
// them. On the CPU, memory that begins at a multiple of 64 bytes, as [NewValue] returns it, is read and written in place:
// nothing is copied. Other memory is copied. The caller must not touch it until RunInto returns. An output with an extent that
// depends on the data fits only where that is as large as it can be, which is what [Engine.Outputs] says; Run gives it as it is.
func (s *Session) RunInto(ctx context.Context, in Inputs, out Outputs) error {
	if !s.take() {
		return ErrBusy
	}
	defer s.release()
	return s.run(ctx, in, out)
}

// Start begins what RunInto does and returns; [Session.Wait] gives its error. The caller must not touch the memory of in and
// out until then.
func (s *Session) Start(ctx context.Context, in Inputs, out Outputs) error {
	return s.StartThen(ctx, in, out, nil)
}

// StartThen is Start that calls then with the inference's error when it has ended and the session is free for the next, which
// then may start; [Session.Wait] does not wait for it to return. A nil then is not called. Many inferences at a time, by
// urgency, are for a [Pool].
func (s *Session) StartThen(ctx context.Context, in Inputs, out Outputs, then func(error)) error {
	if !s.take() {
		return ErrBusy
	}
	w := &started{done: make(chan struct{})}
	s.mu.Lock()
	s.started = w
	s.mu.Unlock()
	go func() {
		w.err = s.run(ctx, in, out)
		s.release()
		close(w.done)
		if then != nil {
			then(w.err)
		}
	}()
	return nil
}

// Wait waits for what Start began last, and returns its error; nil where nothing was begun. To wait twice gives the same
// error twice.
func (s *Session) Wait() error {
	s.mu.Lock()
	w := s.started
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	<-w.done
	return w.err
}

func (s *Session) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.busy
	s.busy = true
	return !was
}

func (s *Session) release() {
	s.mu.Lock()
	s.busy = false
	s.mu.Unlock()
}

// Close waits for what Start began, and gives the session's memory and threads back. Nothing may run, or be run later.
func (s *Session) Close() error {
	_ = s.Wait() // its error is that of the inference
	s.leave()
	return nil
}

// run is RunInto for one who has the session.
func (s *Session) run(ctx context.Context, in Inputs, out Outputs) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error, please report it: %v", v)
		}
	}()
	if err := s.follow(in); err != nil {
		return err
	}
	if err := s.check(in, out); err != nil {
		return err
	}
	defer s.unbind()
	for _, p := range s.inputs {
		v := in[p.Name]
		if aligned(v.Data) && s.context.Bind(p.Name, v.Data) {
			continue
		}
		if err := s.context.SetInput(p.Name, v); err != nil {
			return err
		}
	}
	copied := map[string]numeric.Value{}
	for name, v := range out {
		if s.input[name] || !aligned(v.Data) || s.shared(name, v, in, out) || !s.context.Bind(name, v.Data) {
			copied[name] = v
		}
	}
	if err := s.context.ExecuteUntil(ctx); err != nil {
		return err
	}
	for name, v := range copied {
		if v.Type == Str {
			if out[name], err = s.context.Output(name); err != nil {
				return err
			}
		} else if err := s.context.OutputTo(name, v.Data); err != nil {
			return err
		}
	}
	return nil
}

// shared reports whether the memory of an output is that of an input or of another output, too: it is then written when all
// is done.
func (s *Session) shared(name string, v Value, in Inputs, out Outputs) bool {
	for _, w := range in {
		if overlap(v.Data, w.Data) {
			return true
		}
	}
	for other, w := range out {
		if other != name && overlap(v.Data, w.Data) {
			return true
		}
	}
	return false
}

func (s *Session) unbind() {
	for _, p := range s.inputs {
		s.context.Unbind(p.Name)
	}
	for _, p := range s.outputs {
		s.context.Unbind(p.Name)
	}
}

// check returns an error for data that the engine is not built for.
func (s *Session) check(in Inputs, out Outputs) error {
	for _, p := range s.inputs {
		v, ok := in[p.Name]
		if !ok {
			return fmt.Errorf("input %s: there is no data for it", p)
		}
		if err := p.check("input", v); err != nil {
			return err
		}
	}
	if len(in) > len(s.inputs) {
		for name := range in {
			if !s.input[name] {
				return fmt.Errorf("input %s: the engine has no such input; it has %v", name, s.inputs)
			}
		}
	}
	found := 0
	for _, p := range s.outputs {
		if v, ok := out[p.Name]; ok {
			found++
			if err := p.check("output", v); err != nil {
				return err
			}
		}
	}
	if found < len(out) {
		return fmt.Errorf("outputs: %d are named, of which the engine has %d; it has %v", len(out), found, s.outputs)
	}
	return nil
}
