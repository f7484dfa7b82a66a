package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/quant"
)

// Equalization says how channels of tensors between products are scaled; see [quant.Link].
type Equalization struct {
	By      quant.Equalizer
	Spreads map[string]quant.ChannelSpread // what channels reach in the float network, by tensor; by weights none are needed
	// Ranges returns the ranges of tensors of the network whose channels are scaled, which the float network does not have.
	Ranges func(ctx context.Context, n *graph.Network, names []string) (map[string]numeric.Range, error)
	// Known, if not nil, is what an earlier equalisation did, and is done again: Spreads are not read.
	Known Equalized
	Given map[string]bool // tensors that are not scaled, since their ranges were given, which hold for channels as they are
	// Because, if not empty, says why channels are scaled; with Declined, why they are not.
	Because  string
	Declined bool
}

// Equalized is what the channels of tensors were divided by, by tensor of the network in which they are.
type Equalized map[string]ChannelScales

// ChannelScales are what channels of a tensor were divided by.
type ChannelScales struct {
	Tensor string        // the name of what it was before
	Layer  string        // the source layer that gives it
	Axis   int           // of the channels
	Scales []float64     // by channel
	Range  numeric.Range // of what is scaled; unset where none was found
}

// Restore multiplies the channels of what a tensor of that name is by what they were divided by, and tells what it was before;
// other tensors stay as they are.
func (e Equalized) Restore(name string, v numeric.Value) (string, numeric.Value) {
	s, ok := e[name]
	if !ok || s.Axis >= len(v.Dims) || v.Dims[s.Axis] != len(s.Scales) {
		return name, v
	}
	inner := numeric.Count(v.Dims[s.Axis+1:])
	x := v.Floats()
	y := numeric.NewValue(numeric.F32, v.Dims...)
	for i := range x {
		y.F32()[i] = float32(float64(x[i]) * s.Scales[i/inner%len(s.Scales)])
	}
	return s.Tensor, y
}

// Divide is the inverse of Restore: it returns what a tensor of that name is where it was v before.
func (e Equalized) Divide(name string, v numeric.Value) numeric.Value {
	s := e[name]
	inverse := make([]float64, len(s.Scales))
	for c := range inverse {
		inverse[c] = 1 / s.Scales[c]
	}
	s.Scales = inverse
	_, v = Equalized{name: s}.Restore(name, v)
	return v
}

// means returns those of the channels of a tensor, given what they were before any were divided.
func (e Equalized) means(before map[string]quant.ChannelMeans, name string) (quant.ChannelMeans, bool) {
	s, divided := e[name]
	if !divided {
		m, known := before[name]
		return m, known
	}
	m, known := before[s.Tensor]
	if !known || m.Axis != s.Axis || len(m.Mean) != len(s.Scales) {
		return m, false
	}
	m.Mean = slices.Clone(m.Mean)
	for c := range m.Mean {
		m.Mean[c] /= s.Scales[c]
	}
	return m, true
}

// rangeGiven says why channels are not scaled whose range was given.
const rangeGiven = "the range was given, and holds for channels as they are"

// equalizer is one run of the pass.
type equalizer struct {
	*Equalization
	done  Equalized
	given []string // tensors that are not scaled, since their ranges were given
}

// equalize scales channels of n, and returns with it the ranges for it.
func (l *Lowered) equalize(ctx context.Context, n *graph.Network, cfg *LowerConfig, ledger pass.Ledger) (*graph.Network, map[string]numeric.Range, error) {
	e := &equalizer{Equalization: cfg.Equalization, done: Equalized{}}
	pc := cfg.Pass
	pc.Until, pc.Extra, pc.Ledger = 0, nil, ledger
	n, steps, err := passes.Run(ctx, n, []pass.Pass{quantise.EqualizeChannels(func(w *pass.Rewrite) {
		if err := e.run(w); err != nil {
			w.Fail(err)
		}
	})}, pc)
	if err != nil {
		return nil, nil, err
	}
	l.Steps, l.Equalized, l.Unscaled = steps, e.done, e.given
	ranges := map[string]numeric.Range{}
	maps.Copy(ranges, cfg.Ranges)
	if len(e.done) == 0 {
		return n, ranges, nil
	}
	var names []string
	for _, layer := range n.Layers { // in order
		for _, t := range layer.Outputs {
			if _, ok := e.done[t.Name]; ok {
				if r := e.known(e.done[t.Name].Layer, e.done[t.Name].Tensor); r.Range.IsSet() {
					ranges[t.Name] = r.Range
				} else {
					names = append(names, t.Name)
				}
			}
		}
	}
	if len(names) > 0 {
		if e.Ranges == nil {
			return nil, nil, errors.New("equalising channels: there is no data to find the ranges of what is scaled on")
		}
		found, err := e.Ranges(ctx, n, names)
		if err != nil {
			return nil, nil, fmt.Errorf("equalising channels: %w", err)
		}
		maps.Copy(ranges, found)
	}
	for name, s := range e.done {
		s.Range = ranges[name]
		e.done[name] = s
	}
	return n, ranges, nil
}

func (e *equalizer) run(w *pass.Rewrite) error {
	n := w.Network()
	for _, l := range slices.Clone(n.Layers) {
		k, err := quant.NewLink(n, l)
		if k == nil && err == nil {
			continue
		}
		site := w.Candidate(quantise.Equalization, l)
		switch {
		case err != nil:
			site.Miss(pass.SecondConsumer, "%v", err)
			continue
		case !site.Enabled():
			continue
		case e.Given[k.Tensor.Name]:
			e.given = append(e.given, k.Tensor.Name)
			site.Miss(pass.WrongAttribute, "%s", rangeGiven)
			continue
		}
		if e.Declined {
			site.Miss(pass.NoGain, "%s", e.Because)
			continue
		}
		scales, gain, err := e.scales(k, site.Layers()[0])
		switch {
		case err != nil:
			site.Miss(pass.WrongShape, "%v", err)
			continue
		case scales == nil && gain > 0:
			site.Miss(pass.NoGain, "dividing its channels takes a pass of its own, for %.1f dB less of error", gain)
			continue
		case scales == nil:
			site.Miss(pass.NoGain, "its channels reach about as far as each other already")
			continue
		}
		before := k.Tensors()
		names, err := k.Scale(n, scales)
		if err != nil {
			return fmt.Errorf("layer %s: %w", l.Name, err)
		}
		for i, name := range names {
			e.done[name] = ChannelScales{Tensor: before[i], Layer: site.Layers()[0], Axis: k.Axis(), Scales: scales}
		}
		site.Note("%s%s", said(scales, gain), behind(e.Because))
		site.Fire(l)
	}
	return nil
}

// scales returns what the channels of one link are divided by.
func (e *equalizer) scales(k *quant.Link, layer string) ([]float64, float64, error) {
	if e.Known != nil {
		return e.known(layer, k.Tensor.Name).Scales, 0, nil
	}
	return k.Scales(e.By, e.Spreads[k.Tensor.Name])
}

// known returns what an earlier equalisation did to a tensor.
func (e *equalizer) known(layer, tensor string) ChannelScales {
	for _, s := range e.Known {
		if s.Layer == layer && s.Tensor == tensor {
			return s
		}
	}
	return ChannelScales{}
}

// said tells what was done to channels.
func said(scales []float64, gain float64) string {
	most := 0
	least := 0
	for c, s := range scales {
		if s > scales[most] {
			most = c
		}
		if s < scales[least] {
			least = c
		}
	}
	text := fmt.Sprintf("%d channels by %.3g (channel %d) to %.3g (channel %d)", len(scales), scales[least], least, scales[most], most)
	if gain > 0 {
		text += fmt.Sprintf(", %+.1f dB expected", gain)
	}
	return text
}
