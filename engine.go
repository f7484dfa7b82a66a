package trtui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
)

// Engine is a network built for one device, one precision, and one set of input shapes or the ranges of its profiles, with its
// weights packed. It is immutable but for [Engine.Refit], and any number of goroutines may use it, each by a [Session] of its own.
type Engine struct {
	open      bool // there are several shapes that it takes
	backend   Backend
	owned     bool // the backend is closed with the engine
	replanned string
	recipe    *recipe // nil for an engine that was opened

	refitting sync.Mutex // held by Refit
	lock      sync.Mutex // of what follows
	now       *version
}

// version is an engine with one set of weights.
type version struct {
	engine *run.Engine
	plans  []*run.Plan // by profile
	loaded []*run.Loaded
	passes []Step
	users  int // sessions that are at it
}

// current returns the version in use.
func (e *Engine) current() *version {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.now
}

// acquire returns the version in use, which stays until it is released.
func (e *Engine) acquire() *version {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.now.users++
	return e.now
}

// release gives a version back; one that is not in use any more ends with its last session.
func (e *Engine) release(v *version) {
	e.lock.Lock()
	defer e.lock.Unlock()
	v.users--
	if v != e.now && v.users == 0 {
		v.close()
	}
}

// replace makes another version the one in use.
func (e *Engine) replace(v *version) {
	e.lock.Lock()
	defer e.lock.Unlock()
	old := e.now
	if e.now = v; old.users == 0 {
		old.close()
	}
}

func (v *version) close() {
	for _, l := range v.loaded {
		l.Close()
	}
}

// load binds the engine's plans.
func load(ctx context.Context, e *run.Engine, b Backend, progress func(stage string, done, total int)) (*Engine, error) {
	plans := e.PlansFor(b.Info().Fingerprint)
	if len(plans) == 0 {
		plans = e.PlansFor(e.Any().Target) // this device may have their tactics all the same
	}
	loaded, err := run.LoadProfiles(ctx, plans, b, func(done, total int, _ string) { progress("packing weights", done, total) })
	if err != nil {
		return nil, err
	}
	open := len(plans) > 1 || plans[0].Ranged()
	return &Engine{now: &version{engine: e, plans: plans, loaded: loaded}, open: open, backend: b}, nil
}

// Inputs returns what the engine reads, in the network's order, at the best shapes of its first profile.
func (e *Engine) Inputs() []Port { return ports(e.Plan(), e.Plan().Network.Inputs) }

// Outputs returns what the engine gives, in the network's order, at the same shapes.
func (e *Engine) Outputs() []Port { return ports(e.Plan(), e.Plan().Network.Outputs) }

// Plan returns the steps that the engine runs, with the tactic and the time of each, and how its memory is laid out: those of
// its first profile. It must not be changed.
func (e *Engine) Plan() *run.Plan { return e.current().plans[0] }

// Plans returns the plans of all profiles, in their order.
func (e *Engine) Plans() []*run.Plan { return slices.Clone(e.current().plans) }

// Passes returns what each pass of the build did, what it did not and why, and the ledger that accounts for every layer of the
// source; nil for an engine that was opened.
func (e *Engine) Passes() []Step { return e.current().passes }

// Replanned says why an engine that was opened does not run the plan in its file but one that was made anew, by the device's
// guess of tactics: it was built for another device, or by another version. It is empty where it runs that plan. Such an
// engine computes the same, but is best built again.
func (e *Engine) Replanned() string { return e.replanned }

// WriteTo writes the engine file, which OpenEngine and every command of trtui read.
func (e *Engine) WriteTo(w io.Writer) (int64, error) {
	v := e.acquire()
	defer e.release(v)
	for i, p := range v.plans {
		p.Code = v.loaded[i].Code()
	}
	return v.engine.WriteTo(w)
}

// Close gives the engine's memory back, and closes the device if the engine opened it. Sessions must be closed before.
func (e *Engine) Close() error {
	e.current().close()
	if e.owned {
		return e.backend.Close()
	}
	return nil
}

// OpenOptions say how an engine file is opened. The zero value is for this machine's processors.
type OpenOptions struct {
	Backend Backend  // the device; nil is this machine's processors, which the engine opens and closes itself
	Threads int      // how many workers the processors have where Backend is nil; 0 is one for each
	Memory  int64    // how many bytes the engine may take; 0 is all that are free; see [Options]
	Ops     []*Op    // that the engine uses beside the built-in ones
	Kernels []Tactic // that it was built with; see [Options]
}

// OpenEngine opens an engine file. A file that is damaged or of another format version is an error. One whose plan is for
// another device than this one, of which tactics are missing, is planned anew; see [Engine.Replanned].
func OpenEngine(ctx context.Context, path string, o OpenOptions) (*Engine, error) {
	data, err := host.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e, err := o.open(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// ReadEngine is [OpenEngine] for the bytes that r gives.
func ReadEngine(ctx context.Context, r io.Reader, o OpenOptions) (*Engine, error) {
	var data bytes.Buffer
	if _, err := data.ReadFrom(r); err != nil {
		return nil, err
	}
	return o.open(ctx, data.Bytes())
}

func (o *OpenOptions) open(ctx context.Context, data []byte) (*Engine, error) {
	if !run.IsEngine(data) {
		return nil, errors.New("it is not an engine; models are opened with Open and built with Build")
	}
	ops, err := opSet(o.Ops)
	if err != nil {
		return nil, err
	}
	file, err := run.ReadEngine(ops, data)
	if err != nil {
		return nil, err
	}
	device := Options{Backend: o.Backend, Threads: o.Threads, Memory: o.Memory, Kernels: o.Kernels}
	b, owned, err := device.device()
	if err != nil {
		return nil, err
	}
	e, err := load(ctx, file, b, device.progress)
	if errors.Is(err, run.ErrStale) {
		e, err = replan(ctx, file, b, err)
	}
	if err != nil {
		if owned {
			b.Close()
		}
		return nil, err
	}
	e.owned = owned
	return e, nil
}

// replan plans an engine's lowered network anew for a device that its plan is not for.
func replan(ctx context.Context, file *run.Engine, b Backend, stale error) (*Engine, error) {
	var plans []*run.Plan
	for _, old := range file.PlansFor(file.Any().Target) {
		x := old.Extents()
		p, err := build.Plan(ctx, old.Network, x.Opt, b, build.PlanConfig{Min: x.Min, Max: x.Max, Untimed: true})
		if err != nil {
			return nil, fmt.Errorf("%w; planned anew: %w", stale, err)
		}
		p.Profile = old.Profile
		plans = append(plans, p)
	}
	file.Plans = plans
	e, err := load(ctx, file, b, func(string, int, int) {})
	if err == nil {
		e.replanned = stale.Error()
	}
	return e, err
}
