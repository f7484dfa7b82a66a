package stages

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// link is what stands behind a tensor of the optimised network whose channels might be equalised.
type link struct {
	*quant.Link
	err error // why they cannot be
}

// links finds, by tensor, what stands behind it.
type links struct {
	model  *model.Model
	passes *passes
}

// of returns the links of the network that a lowering goes on from. A model that brings its own ranges has none, and neither has an
// engine whose source is not known.
func (k *links) of(ctx context.Context, in rewriting) (map[string]link, error) {
	if k.model.Quantized || k.model.NeedsSource("equalising channels") != nil {
		return nil, nil
	}
	in.Planned = false // an engine has what became of it; what it was made of is made anew
	o, err := k.passes.kept.Of(ctx, in)
	if err != nil {
		return nil, err
	}
	return linksOf(o.Network), nil
}

// linksOf returns the links of a network, by the tensors that they are of.
func linksOf(n *graph.Network) map[string]link {
	list := map[string]link{}
	for _, l := range n.Layers {
		switch one, err := quant.NewLink(n, l); {
		case err != nil:
			for _, name := range quant.LinkTensors(l) {
				if _, known := list[name]; !known {
					list[name] = link{nil, err}
				}
			}
		case one != nil:
			for _, name := range one.Tensors() {
				list[name] = link{one, nil}
			}
		}
	}
	return list
}

// readers finds the layers of a lowered network that read tensors in 8 bits, by the names that the source network has for these, each
// by the name by which its precision is set. What only moves elements passes a tensor on.
func readers(l *build.Lowered) map[string][]string {
	list := map[string][]string{}
	for _, layer := range l.Network.Layers {
		if len(layer.Outputs) > 0 && movedFrom(layer, layer.Outputs[0]) != nil {
			continue
		}
		own, _ := report.Principal(layer.Name)
		if len(layer.From) > 0 && !slices.Contains(layer.From, own) {
			own = layer.From[0]
		}
		for _, t := range layer.Inputs {
			for ; t != nil && t.Quantized() && !t.IsConst(); t = movedFrom(t.Producer, t) {
				name := quant.SourceTensor(t.Name)
				if divided := dividedAs(t, l.Equalized); divided != "" {
					name = l.Equalized[divided].Tensor
				}
				if !slices.Contains(list[name], own) {
					list[name] = append(list[name], own)
				}
			}
		}
	}
	return list
}

// cureOf says whether the channels of a tensor can be equalised, given what they reach, and where they cannot, what else helps.
func cureOf(list map[string]link, readers map[string][]string, tensor string, spread quant.ChannelSpread) *report.Cure {
	c := equalizedBy(list, tensor, spread)
	if c.Equalization == "" {
		c.Raise = readers[tensor]
	}
	return c
}

// equalizedBy says whether the channels of a tensor can be equalised, given what they reach.
func equalizedBy(list map[string]link, tensor string, spread quant.ChannelSpread) *report.Cure {
	k, ok := list[tensor]
	switch {
	case list == nil:
		return &report.Cure{Why: "the model brings its own ranges, or is not known any more"}
	case !ok:
		return &report.Cure{Why: "it is not given by a product or a normalisation, or no product reads it"}
	case k.err != nil:
		return &report.Cure{Why: k.err.Error()}
	}
	spread, known := k.Seen(tensor, spread)
	if !known {
		return &report.Cure{Why: fmt.Sprintf("what the channels of %s reach is known by head alone", tensor)}
	}
	c := &report.Cure{}
	for _, l := range k.Users() {
		c.With = append(c.With, l.Name)
	}
	for _, way := range []string{"weights", "activations"} {
		by, err := quant.ParseEqualizer(way)
		if err != nil {
			continue
		}
		scales, _, err := k.Scales(by, spread)
		switch {
		case err != nil:
			c.Why = err.Error()
		case scales == nil:
		case c.Equalization == "":
			c.Equalization, c.Gain = way, round(k.Gain(scales, spread))
		default: // what needs no data comes first, and is left where another way is worth more than a bit
			if gain := k.Gain(scales, spread); gain > c.Gain+worthData {
				c.Equalization, c.Gain = way, round(gain)
			}
		}
	}
	if c.Equalization != "" {
		c.Why = ""
	} else if c.Why == "" {
		c.Why = "the weights that read it have no room for the scales"
	}
	return c
}

// worthData is the gain in dB for which channels are equalised by activations, which takes data, rather than by weights.
const worthData = 6

// findCures says of each tensor with outliers how they are equalised.
func (c *causes) findCures(ctx context.Context, k *links, in lowering, l *build.Lowered) error {
	c.cures = map[string]*report.Cure{}
	read := readers(l)
	var list map[string]link
	for i := range c.steps {
		s := &c.steps[i]
		if s.tensor == nil || !s.tensor.Quantized() || !s.stored.Known() {
			continue
		}
		spread := s.stored.Spread()
		if len(spread.Outliers().Channels) == 0 {
			continue
		}
		if dividedAs(s.tensor, c.scaled) != "" {
			c.cures[s.source] = &report.Cure{Done: true}
			continue
		}
		if list == nil {
			var err error
			if list, err = k.of(ctx, in.Of); err != nil {
				return err
			}
		}
		c.cures[s.source] = cureOf(list, read, s.source, spread)
	}
	return nil
}
