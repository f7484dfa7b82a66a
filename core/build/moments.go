package build

import (
	"fmt"
	"maps"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/internal/host"
)

// Moments keep the second moments that rounding has found of what the products of a network read, for others that round the same
// network on the same data: with ranges of another calibrator, or with its channels equalised.
type Moments struct {
	lock sync.Mutex
	of   *graph.Network
	by   map[string]*quant.Moments // by layer
}

// Bounds of moments.
const (
	momentBytes = 256 << 20 // that are collected at once where memory is not short: more products take more runs over the data
	keptBytes   = 64 << 20  // that are kept, likewise
)

// begin makes the moments those of a network: what is known of another one is forgotten.
func (k *Moments) begin(n *graph.Network) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.of != n {
		k.of, k.by = n, map[string]*quant.Moments{}
	}
}

// at returns a copy of the moments of what a layer reads, its channels divided by what they are; nil where none are kept.
func (k *Moments) at(l *graph.Layer, divided Equalized) *quant.Moments {
	if k == nil {
		return nil
	}
	k.lock.Lock()
	m := k.by[l.Name]
	k.lock.Unlock()
	s, scaled := divided[l.Inputs[0].Name]
	if m == nil || scaled && s.Axis != quant.ChannelAxis(l) {
		return nil
	}
	m, err := m.Divided(s.Scales)
	if err != nil {
		return nil
	}
	return m
}

// has reports whether any are kept.
func (k *Moments) has() bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return len(k.by) > 0
}

// keep keeps the moments that were collected, all of them, if they are of the network as it is and small.
func (r *rounder) keep() {
	if r.kept == nil || r.more || len(r.equalized) > 0 {
		return
	}
	bytes := 0
	for name, m := range r.moments {
		if bytes += m.Bytes(); r.complete[name] || m.Finish() != nil {
			return
		}
	}
	if bytes > host.Share(keptBytes) {
		return
	}
	r.kept.lock.Lock()
	defer r.kept.lock.Unlock()
	maps.Copy(r.kept.by, r.moments)
}

// atOnce returns those of the tasks, in order, whose moments fit in memory together, and the others; it makes room for the moments
// of the former.
func (r *rounder) atOnce(tasks []roundTask) (now, later []roundTask, err error) {
	bytes, most := 0, host.Share(momentBytes)
	for i, t := range tasks {
		if t.before == nil || !r.By.NeedsMoments() || r.Replay == nil || r.Known != nil {
			continue
		}
		v, _ := t.before.Inputs[1].Const()
		m, err := quant.NewMoments(t.before, v.Dims)
		if err != nil {
			continue
		}
		if bytes += m.Bytes(); bytes > most && i > 0 {
			return tasks[:i], tasks[i:], nil
		}
		if kept := r.kept.at(t.before, r.equalized); kept != nil {
			m = kept
			r.complete[t.layer.Name] = !r.more
		} else if err := host.Room("rounding the weights of layer "+t.layer.Name+" by moments", int64(2*m.Bytes())); err != nil { // and their factors
			return nil, nil, err
		}
		m.Multiply = r.matrix.multiply
		r.moments[t.layer.Name] = m
	}
	return tasks, nil, nil
}

// collect runs the float network for the moments.
func (r *rounder) collect(tasks []roundTask) error {
	readers := map[string][]roundTask{}
	for _, t := range tasks {
		if r.moments[t.layer.Name] != nil && !r.complete[t.layer.Name] {
			x := t.before.Inputs[0].Name
			readers[x] = append(readers[x], t)
		}
	}
	if len(readers) == 0 {
		return nil
	}
	of := min(max(1, r.items, r.Replay.Items), mostHeld) // that give enough rows together
	items := min(max(1, r.Replay.Items), mostHeld)
	return observe(r.ctx, r.before, r.Replay.Backend, r.some(), r.State, func(t *graph.Tensor, _ int, read func() (numeric.Value, error)) error {
		list := readers[t.Name]
		if len(list) == 0 {
			return nil
		}
		x, err := read()
		if err != nil {
			return err
		}
		for _, task := range list {
			v, _ := task.before.Inputs[1].Const()
			if err := r.moments[task.layer.Name].Add(task.before, v.Dims, numeric.ToReal(x, t.Range), of); err != nil {
				return fmt.Errorf("layer %s: %w", task.layer.Name, err)
			}
		}
		return r.ctx.Err()
	}, func(done int) {
		r.Replay.tell("collecting what weights are multiplied by", "", done, items)
	})
}

// some returns so many of the batches as moments need, from all over the data; of a sequence, those at its beginning.
func (r *rounder) some() Batches {
	every := max(1, (r.Replay.Items+mostHeld-1)/mostHeld)
	if len(r.State) > 0 {
		every = 1
	}
	return func(yield func(map[string]numeric.Value, error) bool) {
		i, given := 0, 0
		for in, err := range r.Replay.Batches {
			if i++; err == nil && ((i-1)%every != 0 || given == mostHeld) {
				continue
			}
			given++
			if !yield(maps.Clone(in), err) {
				return
			}
		}
	}
}
