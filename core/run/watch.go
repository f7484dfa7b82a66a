package run

import (
	"context"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Progress says how far an inference is.
type Progress struct {
	Launch, Launches int     // the one that runs, from 1, of the steps that launch something
	Layer            string  // that it computes
	Blocks, Grid     int     // of the launch: how many have run, of how many; 0 and 0 before it says
	Share            float64 // of the inference's work that is done, by operations and bytes: 0 to 1
}

// watch follows the launches of a context.
type watch struct {
	tell  func(Progress)
	steps []Progress // by step, as it begins
	done  []float64  // by step, the share of the work when it has ended
	at    int        // the step that runs
	share float64    // of the work, as was told last: a step with several launches does not fall back
}

// Watch ends the context's inferences when ctx does and tells how far they are, one call at a time, where the device is slow
// enough for that to matter: a simulated one. It reports whether it is. Call it before the first inference. The steps are
// then launched one by one, since a graph would be a single launch without a name.
func (c *ExecutionContext) Watch(ctx context.Context, tell func(Progress)) bool {
	s, ok := c.stream.(kernels.Watchable)
	if !ok {
		return false
	}
	w := newWatch(c.loaded, tell)
	if !s.Watch(ctx, w.blocks) {
		return false
	}
	c.watch = w
	return true
}

// newWatch finds what share of the work each step is.
func newWatch(l *Loaded, tell func(Progress)) *watch {
	w := &watch{tell: tell, steps: make([]Progress, len(l.kernels)), done: make([]float64, len(l.kernels))}
	env, sum, launches := l.Plan.Env(), 0.0, 0
	for i, k := range l.kernels {
		w.steps[i].Share = sum
		if k != nil {
			launches++
			sum += work(l.Plan, i, env)
		}
		w.steps[i].Launch, w.steps[i].Layer, w.done[i] = launches, l.Plan.Steps[i].Name, sum
	}
	for i := range w.steps {
		w.steps[i].Launches = launches
		if sum > 0 {
			w.steps[i].Share /= sum
			w.done[i] /= sum
		}
	}
	return w
}

// work is about how much there is to do in a step: its operations, and the bytes that it writes.
func work(p *Plan, step int, env map[string]int) float64 {
	sum := float64(graph.Operations(p.Steps[step].Layer, env))
	for _, out := range p.Steps[step].Out {
		sum += float64(p.Slots[out].Desc.Bytes())
	}
	return sum
}

// follow goes on with a plan at other shapes.
func (w *watch) follow(l *Loaded) {
	at := newWatch(l, w.tell)
	w.steps, w.done, w.at, w.share = at.steps, at.done, 0, 0
}

// begin tells that a step is launched; a nil watch tells nobody.
func (w *watch) begin(step int) {
	if w != nil {
		w.at, w.share = step, w.steps[step].Share
		w.tell(w.steps[step])
	}
}

// blocks tells how far the launch is.
func (w *watch) blocks(done, total int) {
	p := w.steps[w.at]
	p.Blocks, p.Grid = done, total
	share := p.Share + (w.done[w.at]-p.Share)*float64(done)/float64(max(total, 1))
	w.share = min(max(w.share, share), w.done[w.at])
	p.Share = w.share
	w.tell(p)
}
