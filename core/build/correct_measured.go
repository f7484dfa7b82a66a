package build

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// measured returns what biases lack by what products read when both networks run, n with its biases corrected so far. Where that
// brings the outputs no nearer to those of the float network, on the same items, it returns what rounding of weights alone takes,
// and where not even that does, none, and why: means that are moved back may move more that counts, as where most of an image is
// one background whose error stands for all. With m, weights that make up for what inputs lose are compared as well, and n has them
// where they are better than all of that.
func (c *corrector) measured(n *graph.Network, tasks []task, m *compensation) (shifts map[string][]float64, worse string, err error) {
	c.items = min(heldItems(c.before, c.Replay.Env), heldItems(n, c.Replay.Env))
	if c.Replay.most > 0 {
		c.items = min(c.items, c.Replay.most)
	}
	real, err := c.Replay.stage(c.ctx, c.before, c.items)
	if err != nil {
		return nil, "", err
	}
	want, got := compared(c.before, n, c.env, len(real.held))
	real.last, c.last = namesOf(want), namesOf(got)
	var kinds []correction
	float := real
	if m != nil {
		m.divide(real.held)
		defer m.multiply.close()
		k, err := c.layerByLayer(n, tasks, real, m)
		if err != nil {
			return nil, "", err
		}
		kinds, float = append(kinds, k), nil
	}
	k, err := c.layerByLayer(n, tasks, float, nil)
	if err != nil {
		return nil, "", err
	}
	kinds = append(kinds, k, correction{shifts: c.shiftsBy(tasks, nil)}, correction{shifts: map[string][]float64{}})
	if err := real.finish(c.before, want); err != nil {
		return nil, "", err
	}
	least, errs := 0, make([]float64, len(kinds))
	for i, k := range kinds {
		c.progress("comparing corrected biases", i, len(kinds))
		if k.network != nil { // its run is nearly done
			errs[i], err = c.errorOf(k.network, k.staged, real)
		} else {
			errs[i], err = c.errorWith(n, tasks, k.shifts, real)
		}
		if err != nil {
			return nil, "", err
		}
		if errs[i] < errs[least] {
			least = i
		}
	}
	switch {
	case m == nil:
	case least == 0:
		m.keep(n, tasks)
	default:
		m.decline(errs[0], errs[least])
	}
	if last := len(kinds) - 1; least == last {
		return kinds[last].shifts, fmt.Sprintf("the outputs on the calibration data are nearer to FP32 without, at %.1f dB; with it %.1f dB", decibels(errs[last]), decibels(errs[last-2])), nil
	}
	return kinds[least].shifts, "", nil
}

func (c *corrector) progress(phase string, done, of int) {
	c.Replay.tell(phase, "", done, of)
}

// logits returns the tensors by which networks are compared: the outputs, or what Softmax makes them of, since probabilities near 0
// and 1 tell little.
func logits(n *graph.Network) []*graph.Tensor {
	list := slices.Clone(n.Outputs)
	for i, t := range list {
		if l := t.Producer; l != nil && l.Op == graph.Softmax && l.Epilogue.IsIdentity() && l.Inputs[0].Producer != nil {
			list[i] = l.Inputs[0]
		}
	}
	return list
}

// compared returns the logits by which a network of real numbers and n, what the quantiser made of it, are compared on so many items.
// Fewer numbers than fewestCompared tell chance, as two classes of a dozen items do: what the last product reads stands for them.
func compared(real, n *graph.Network, env map[string]int, items int) (want, got []*graph.Tensor) {
	want, got = logits(real), logits(n)
	for i, t := range want {
		if items*numeric.Count(symbolic.Eval(t.Dims, env)) >= fewestCompared {
			continue
		}
		last := lastProduct(t)
		if last == nil || last.Inputs[0].Producer == nil {
			continue
		}
		if l := n.Layer(last.Name); l != nil && l.Op == last.Op && l.Inputs[0].Producer != nil {
			want[i], got[i] = last.Inputs[0], l.Inputs[0]
		}
	}
	return want, got
}

// namesOf returns the names of tensors.
func namesOf(list []*graph.Tensor) (names []string) {
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names
}

// fewestCompared is how many numbers of all items make a comparison.
const fewestCompared = 512

// lastProduct returns the last product that a tensor is computed by, as far as one layer follows another by its first input; nil where
// there is none.
func lastProduct(t *graph.Tensor) *graph.Layer {
	l := t.Producer
	for l != nil && !l.Op.IsProduct() {
		if len(l.Inputs) == 0 || l.Inputs[0] == nil {
			return nil
		}
		l = l.Inputs[0].Producer
	}
	return l
}

// decibels returns the ratio of signal to noise of a noise by signal.
func decibels(noise float64) float64 { return -10 * math.Log10(max(noise, 1e-20)) }

// correction is what biases may be corrected by.
type correction struct {
	shifts  map[string][]float64
	network *graph.Network // with it, and the run of it as far as it was run for that; nil where it was not
	staged  *staged
}

// layerByLayer returns the shifts of all tasks, those before a layer being added before it runs, and the network with all of them, which
// has run up to the last. It sets the tasks' means, by a run of the float network; nil: they are set. With m, weights make up for what
// is left.
func (c *corrector) layerByLayer(n *graph.Network, tasks []task, real *staged, m *compensation) (correction, error) {
	trial, open := c.trial(n, tasks, nil)
	quantised, err := c.Replay.stage(c.ctx, trial, c.items)
	if err != nil {
		return correction{}, err
	}
	quantised.last = c.last
	phase := "correcting biases"
	if m != nil {
		phase = "solving for weights"
	}
	shifts, means := map[string][]float64{}, map[string][]float64{}
	done := 0
	for _, ready := range waves(trial, open) {
		read, err := c.read(trial, ready, real, quantised, m)
		if err != nil {
			return correction{}, err
		}
		maps.Copy(shifts, c.shiftsBy(ready, read))
		for _, t := range ready {
			means[t.key()] = t.mean
			if shift := shifts[t.key()]; shift != nil {
				t.AddBias(trial, shift)
			}
		}
		done += len(ready)
		c.progress(phase, done, len(tasks))
	}
	for i, t := range tasks {
		tasks[i].mean = means[t.key()]
	}
	return correction{shifts, trial, quantised}, nil
}

// read returns the means of what layers of the quantised network read, and sets those of the float network; without that, they are
// known. With m, it gives the layers weights that make up for the difference.
func (c *corrector) read(n *graph.Network, ready []task, real, quantised *staged, m *compensation) (read [][]float64, err error) {
	var layers, before []*graph.Layer
	for _, t := range ready {
		layers, before = append(layers, t.Layer()), append(before, c.before.Layer(t.Layer().Name))
	}
	if real != nil {
		if err := real.reach(c.before, before); err != nil {
			return nil, err
		}
		for i, l := range before {
			m, _ := real.meansOf(l).Of()
			ready[i].mean = m.Mean
		}
		defer real.drop(c.before)
	}
	if err := quantised.reach(n, layers); err != nil {
		return nil, err
	}
	for _, l := range layers {
		m, _ := quantised.meansOf(l).Of()
		read = append(read, m.Mean)
	}
	defer quantised.drop(n)
	if m != nil {
		err = m.solve(n, ready, real, quantised)
	}
	return read, err
}

// trial returns a copy of n with shifts in its biases, and the tasks for it.
func (c *corrector) trial(n *graph.Network, tasks []task, shifts map[string][]float64) (*graph.Network, []task) {
	n = n.Clone()
	copies := slices.Clone(tasks)
	for i, t := range tasks {
		p := t.In(n)
		copies[i].Product = p
		if shift := shifts[t.key()]; len(shift) == p.Channels() {
			p.AddBias(n, shift)
		}
	}
	return n, copies
}

// errorWith returns the squared error of the outputs by their square, the sum over outputs, of n with shifts in its biases.
func (c *corrector) errorWith(n *graph.Network, tasks []task, shifts map[string][]float64, real *staged) (float64, error) {
	trial, _ := c.trial(n, tasks, shifts)
	s, err := c.Replay.stage(c.ctx, trial, c.items)
	if err != nil {
		return 0, err
	}
	s.last = c.last
	return c.errorOf(trial, s, real)
}

// errorOf finishes the run of a network, and returns the error of its outputs.
func (c *corrector) errorOf(n *graph.Network, s, real *staged) (float64, error) {
	var got []*graph.Tensor
	for _, name := range s.last {
		got = append(got, n.Tensor(name))
	}
	if err := s.finish(n, got); err != nil {
		return 0, err
	}
	return noise(len(got), len(s.held), func(o, i int) (numeric.Value, numeric.Value) {
		return real.held[i][real.last[o]], s.held[i][s.last[o]]
	}), nil
}

// noise returns the squared error by the square of what is wanted, the sum over outputs, each over all items. What is not finite
// is left out.
func noise(outputs, items int, at func(output, item int) (want, got numeric.Value)) (sum float64) {
	for o := range outputs {
		var signal, noise float64
		for i := range items {
			want, got := at(o, i)
			s, n := powers(want.Floats(), got.Floats())
			signal, noise = signal+s, noise+n
		}
		if signal > 0 {
			sum += noise / signal
		}
	}
	return sum
}

// powers returns the squares of what is wanted and of the errors of what there is. What is not finite is left out.
func powers(want, got []float32) (signal, noise float64) {
	for k := range min(len(want), len(got)) {
		w, d := float64(want[k]), float64(want[k])-float64(got[k])
		if square := w * w; square <= math.MaxFloat64 && d*d <= math.MaxFloat64 {
			signal, noise = signal+square, noise+d*d
		}
	}
	return signal, noise
}

// waves returns the tasks in groups of which each depends on no later one, and no task on another one of its group.
func waves(n *graph.Network, tasks []task) [][]task {
	open := map[*graph.Layer]bool{}
	for _, t := range tasks {
		open[t.Layer()] = true
	}
	behind := map[*graph.Tensor]int{} // how many tasks follow each other before a tensor
	level := map[*graph.Layer]int{}
	for _, l := range n.Layers {
		for _, t := range l.Inputs {
			level[l] = max(level[l], behind[t])
		}
		d := level[l]
		if open[l] {
			d++
		}
		for _, t := range l.Outputs {
			behind[t] = d
		}
	}
	var all [][]task
	for _, t := range tasks {
		for d := level[t.Layer()]; len(all) <= d; {
			all = append(all, nil)
		}
		all[level[t.Layer()]] = append(all[level[t.Layer()]], t)
	}
	return all
}
