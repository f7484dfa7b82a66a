package build

import (
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// Unmet is a layer that a rule asks a precision for and that has another one.
type Unmet struct {
	Layer  string // of the lowered network
	Rule   quant.Rule
	Got    numeric.DataType
	Reason string
}

// PrecisionOf returns the number format that a layer of a lowered network computes on: that of its activations, or what it makes of them
// before it multiplies.
func PrecisionOf(l *graph.Layer) numeric.DataType {
	if l.Op == graph.DynamicQuantizeMatMul {
		return numeric.I8
	}
	for _, t := range l.OpInputs() {
		if t != nil && !t.IsConst() && (t.Quantized() || t.Type == numeric.F16) {
			return t.Type
		}
	}
	return l.Outputs[0].RealType()
}

// UnmetRules returns, in the order of the layers, those of an optimised network that the last of the rules matching them
// asks a precision for which lowering did not give them. A rule with * means the layers that compute with real numbers:
// of a Cast or a Shape it asks nothing. Layers that lowering removed have no precision that could be wrong.
func UnmetRules(o *Optimized, l *Lowered, rules []quant.Rule) []Unmet {
	if len(rules) == 0 {
		return nil
	}
	decisions := make(map[string]quant.Decision, len(l.Decisions))
	for _, d := range l.Decisions {
		decisions[d.Layer] = d
	}
	engine := newLayerIndex(l.Network)
	var list []Unmet
	for _, layer := range o.Network.Layers {
		rule, ok := lastRule(rules, layer)
		if !ok || strings.Contains(rule.Pattern, "*") && !computesReal(layer) {
			continue
		}
		built := engine.find(layer)
		if built == nil {
			continue
		}
		d, decided := decisions[layer.Name]
		got := PrecisionOf(built)
		switch {
		case rule.Precision == numeric.I8 && (got == numeric.I8 || got == numeric.U8):
		case rule.Precision != numeric.I8 && got == rule.Precision:
		case rule.Precision != numeric.I8 && decided && d.Precision == rule.Precision: // it may read what an 8-bit layer wrote
		default:
			u := Unmet{Layer: built.Name, Rule: rule, Got: got, Reason: d.Reason}
			eight := got == numeric.I8 || got == numeric.U8
			switch {
			case !decided || d.Precision == rule.Precision:
				u.Reason = o.unlowered(l, layer)
			case eight && d.Precision != numeric.I8:
				u.Reason = "it is part of a layer that the model quantises"
			case !eight && d.Precision == numeric.I8:
				u.Reason = d.Reason + ", but this target has no 8-bit form of it"
			}
			list = append(list, u)
		}
	}
	return list
}

func lastRule(rules []quant.Rule, l *graph.Layer) (quant.Rule, bool) {
	for _, r := range slices.Backward(rules) {
		if r.Matches(l) {
			return r, true
		}
	}
	return quant.Rule{}, false
}

// computesReal reports whether the precision of a layer is a matter of choice.
func computesReal(l *graph.Layer) bool {
	if l.Op.Class == graph.ClassConversion {
		return false
	}
	real := func(t *graph.Tensor) bool { return t != nil && (t.Type == numeric.F32 || t.Type == numeric.F16) }
	return slices.ContainsFunc(l.Inputs, real) && slices.ContainsFunc(l.Outputs, real)
}

// unlowered returns why a layer that was to be lowered was not: what the last rewrite of it that did not fit says.
func (o *Optimized) unlowered(l *Lowered, layer *graph.Layer) string {
	if o.Stopped {
		return "the passes were stopped before those that lower"
	}
	for _, step := range slices.Backward(l.Steps) {
		for _, m := range step.Missed {
			if !slices.ContainsFunc(m.Site.Layers, func(s string) bool { return slices.Contains(layer.From, s) }) {
				continue
			}
			if m.Detail != "" {
				return string(m.Reason) + ": " + m.Detail
			}
			return string(m.Reason)
		}
	}
	return "lowering found no such form of it for this target"
}

// layerIndex finds the layer of a lowered network that stands for one of the network before.
type layerIndex struct{ byName, bySource map[string]*graph.Layer }

func newLayerIndex(n *graph.Network) layerIndex {
	x := layerIndex{map[string]*graph.Layer{}, map[string]*graph.Layer{}}
	for _, l := range n.Layers {
		x.byName[l.Name] = l
		for _, s := range l.From {
			if x.bySource[s] == nil {
				x.bySource[s] = l
			}
		}
	}
	return x
}

// find returns that layer, or nil where it was removed.
func (x layerIndex) find(l *graph.Layer) *graph.Layer {
	if b := x.byName[l.Name]; b != nil {
		return b
	}
	for _, s := range l.From {
		if b := x.bySource[s]; b != nil {
			return b
		}
	}
	return nil
}
