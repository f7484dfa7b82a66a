package build

import (
	"crypto/sha256"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/internal/host"
)

// compensation makes weights take back what quantisation does to their input, while biases are corrected layer by layer.
type compensation struct {
	*corrector
	sites    map[string]*pass.Candidate   // by layer
	found    map[string]quant.Compensated // likewise
	multiply multiplier
	work     float64 // multiplications so far

	solved, held []int // items that weights are solved for by, and those that tell how good that is
}

// heldOut is which of the items that networks are compared on are held out of solving for weights: one of so many.
const heldOut = 4

// divide chooses the items that are solved by, and those that are held out. Of items that are alike there is one: it tells nothing of
// how weights that are solved for by it do on others.
func (m *compensation) divide(items []map[string]numeric.Value) {
	seen := map[[sha256.Size]byte]bool{}
	for i, in := range items {
		sum := checksum(in)
		if seen[sum] {
			continue
		}
		if seen[sum] = true; len(seen)%heldOut == 0 {
			m.held = append(m.held, i)
		} else {
			m.solved = append(m.solved, i)
		}
	}
}

// compensation returns what is to make up for what inputs lose; nil where that is not asked for. It records why no layer can.
func (c *corrector) compensation(w *pass.Rewrite, tasks []task) *compensation {
	if !c.compensates {
		return nil
	}
	m := &compensation{corrector: c, sites: map[string]*pass.Candidate{}, found: map[string]quant.Compensated{}}
	for _, t := range tasks {
		site := w.Candidate(quantise.Compensation, t.Layer())
		switch {
		case c.Replay == nil:
			site.Miss(pass.NoGain, "networks are not run layer by layer: biases are not corrected exactly")
		case len(t.Layer().Inputs[1].Users) > 1:
			site.Miss(pass.SecondConsumer, "%d layers have these weights", len(t.Layer().Inputs[1].Users))
		case site.Enabled():
			m.sites[t.key()] = site
		}
	}
	if len(m.sites) == 0 {
		return nil
	}
	m.multiply = multiplier{ctx: c.ctx, backend: c.Replay.Backend}
	return m
}

// solve gives the layers of n that are ready, of what both networks read, integers that make up for the difference.
func (m *compensation) solve(n *graph.Network, ready []task, real, quantised *staged) error {
	for i, t := range ready {
		site := m.sites[t.key()]
		if site == nil {
			continue
		}
		found, err := m.layer(t, real, quantised)
		if m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		if err != nil {
			site.Miss(pass.NoGain, "%v", err)
			delete(m.sites, t.key())
			continue
		}
		m.found[t.key()] = found
		ready[i].Product = putStored(n, t.Product, found.Stored)
	}
	return nil
}

// layer returns the integers of one layer.
func (m *compensation) layer(t task, real, quantised *staged) (none quant.Compensated, err error) {
	if len(m.held) == 0 {
		return none, fmt.Errorf("of fewer than %d items that differ none can be held out", heldOut)
	}
	before, l := m.before.Layer(t.Layer().Name), t.Layer()
	c, err := quant.NewCompensation(before, m.multiply.multiply)
	if err != nil {
		return none, err
	}
	if bytes := c.Bytes(); bytes > host.Share(momentBytes) {
		return none, fmt.Errorf("solving for its weights takes %d MiB", bytes>>20)
	}
	work := m.work + c.Work()
	if work > mostWork {
		return none, fmt.Errorf("with the layers before it, solving for its weights takes %.0f billion multiplications", work/1e9)
	}
	m.work = work
	x, y := before.Inputs[0], l.Inputs[0]
	for kind, items := range [][]int{m.solved, m.held} {
		for _, i := range items {
			a, b := numeric.ToReal(real.held[i][x.Name], x.Range), numeric.ToReal(quantised.held[i][y.Name], y.Range)
			if err := c.Add(a, b, len(m.solved), kind == 1); err != nil {
				return none, err
			}
		}
	}
	d := l.Inputs[1].Producer
	stored, _ := d.Inputs[0].Const()
	return c.Round(stored, d.Attrs.(graph.QuantAttrs).Range)
}

// putStored makes a product read other integers.
func putStored(n *graph.Network, p *quant.Product, q numeric.Value) *quant.Product {
	d := p.Layer().Inputs[1].Producer
	c := n.AddConst(d.Inputs[0].Name+"_compensated", q)
	c.Range = d.Inputs[0].Range
	d.SetInput(0, c)
	return p.Stored(q)
}

// keep gives the layers of n the integers that were found, and notes so.
func (m *compensation) keep(n *graph.Network, tasks []task) {
	for _, t := range tasks {
		site, found := m.sites[t.key()], m.found[t.key()]
		if site == nil {
			continue
		}
		d := t.Layer().Inputs[1].Producer
		nearest, _ := d.Inputs[0].Const()
		if known, ok := m.rounded[t.key()]; ok {
			nearest = known.nearest(nearest)
		}
		m.rounded[t.key()] = newRoundedWeights(nearest, found.Stored)
		putStored(n, t.Product, found.Stored)
		site.Note("%.1f dB of what its sums lost by its input expected back, by a share of %g", found.Gain, found.Share)
		site.Fire(t.Layer())
	}
}

// decline records that nothing is made up for.
func (m *compensation) decline(with, without float64) {
	for _, site := range m.sites {
		site.Miss(pass.NoGain, "the outputs on the calibration data are nearer to FP32 without, at %.1f dB; with it %.1f dB", decibels(without), decibels(with))
	}
}
