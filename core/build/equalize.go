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
	Dims   []int         `json:",omitempty"` // the extents of Scales where channels lie along several axes, in place of Axis
	Scales []float64     // by channel
	Range  numeric.Range // of what is scaled; unset where none was found
}

// Restore multiplies the channels of what a tensor of that name is by what they were divided by, and tells what it was before;
// other tensors stay as they are.
func (e Equalized) Restore(name string, v numeric.Value) (string, numeric.Value) {
	s, ok := e[name]
	if !ok {
		return name, v
	}
	at, ok := s.at(v.Dims)
	if !ok {
		return name, v
	}
	x := v.Floats()
	y := numeric.NewValue(numeric.F32, v.Dims...)
	for i := range x {
		y.F32()[i] = float32(float64(x[i]) * s.Scales[at(i)])
	}
	return s.Tensor, y
}

// at returns a function that tells which of the scales is that of element i of a tensor of such dims; ok is false where they do not
// fit.
func (s ChannelScales) at(dims []int) (at func(i int) int, ok bool) {
	if s.Dims == nil {
		if s.Axis < 0 || s.Axis >= len(dims) || dims[s.Axis] != len(s.Scales) {
			return nil, false
		}
		inner := numeric.Count(dims[s.Axis+1:])
		return func(i int) int { return i / inner % len(s.Scales) }, true
	}
	if len(s.Dims) != len(dims) || numeric.Count(s.Dims) != len(s.Scales) {
		return nil, false
	}
	for a, d := range s.Dims {
		if d != 1 && d != dims[a] {
			return nil, false
		}
	}
	return func(i int) int {
		from, stride := 0, 1
		for a := len(dims) - 1; a >= 0; a-- {
			if s.Dims[a] > 1 {
				from += i % dims[a] * stride
				stride *= s.Dims[a]
			}
			i /= dims[a]
		}
		return from
	}, true
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
		case e.isGiven(k) != "":
			e.given = append(e.given, e.isGiven(k))
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
		done, err := k.Scale(n, scales)
		if err != nil {
			return fmt.Errorf("layer %s: %w", l.Name, err)
		}
		for _, s := range done {
			e.done[s.Name] = ChannelScales{Tensor: s.Before, Layer: site.Layers()[0], Axis: s.Axis, Dims: s.Dims, Scales: s.Scales}
		}
		site.Note("%s%s", said(scales, gain), behind(e.Because))
		site.Fire(l)
	}
	return nil
}

// isGiven returns the first tensor of a link whose range was given; "" where none was.
func (e *equalizer) isGiven(k *quant.Link) string {
	for _, name := range k.Tensors() {
		if e.Given[name] {
			return name
		}
	}
	return ""
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
