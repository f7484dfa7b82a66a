package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

func importRecurrent(n *Node, name string, defaults []string) (any, []*Tensor, error) {
	a := RecurrentAttrs{Hidden: n.Int("hidden_size", 0), Clip: n.Float("clip", 0), BatchFirst: n.Flag("layout", false)}
	if r := n.Input(RecurrentR); !n.Has("hidden_size") && r != nil && len(r.Dims) == 3 {
		a.Hidden, _ = r.Dims[2].IsConst()
	}
	switch name {
	case "LSTM":
		a.Coupled = n.Flag("input_forget", false)
	case "GRU":
		a.ResetAfter = n.Flag("linear_before_reset", false)
	}
	direction := n.String("direction", "forward")
	at := slices.Index(directions, direction)
	if at < 0 {
		return nil, nil, fmt.Errorf("direction %q is unknown; it is %s", direction, strings.Join(directions, ", "))
	}
	a.Direction = Direction(at)
	names := n.Strings("activations")
	alphas, betas := n.Floats("activation_alpha"), n.Floats("activation_beta")
	if names == nil {
		if len(alphas)+len(betas) > 0 {
			return nil, nil, fmt.Errorf("activation_alpha and activation_beta are of %s, which have no parameters", strings.Join(defaults, ", "))
		}
		return a, n.Inputs, nil
	}
	var err error
	a.Activations, err = recurrentActivations(names, alphas, betas)
	return a, n.Inputs, err
}

// recurrentActivations returns the activations of the given names; those that have parameters take the next ones.
func recurrentActivations(names []string, alphas, betas []float32) ([]RecurrentActivation, error) {
	list := make([]RecurrentActivation, len(names))
	for i, name := range names {
		k := slices.IndexFunc(recurrentFunctions, func(f activationFunction) bool { return strings.EqualFold(f.name, name) })
		if k < 0 {
			return nil, fmt.Errorf("activation %q is unknown", name)
		}
		f := &recurrentFunctions[k]
		list[i] = RecurrentActivation{Op: f.name, Alpha: f.alpha, Beta: f.beta}
		for _, p := range []struct {
			letter string
			from   *[]float32
			to     *float32
			what   string
		}{{"a", &alphas, &list[i].Alpha, "activation_alpha"}, {"b", &betas, &list[i].Beta, "activation_beta"}} {
			switch {
			case !strings.Contains(strings.ToLower(f.params), p.letter):
			case len(*p.from) > 0:
				*p.to, *p.from = (*p.from)[0], (*p.from)[1:]
			case !strings.Contains(f.params, p.letter):
				return nil, fmt.Errorf("activation %s needs a number of its own in %s", f.name, p.what)
			}
		}
	}
	return list, nil
}

func exportRecurrent(e *Exporter, name string) error {
	a := e.Layer.Attrs.(RecurrentAttrs)
	attrs := Attributes{"hidden_size": a.Hidden, "direction": a.Direction.String()}
	if a.Clip > 0 {
		attrs["clip"] = a.Clip
	}
	if a.BatchFirst {
		attrs["layout"] = true
	}
	switch name {
	case "LSTM":
		attrs["input_forget"] = a.Coupled
	case "GRU":
		attrs["linear_before_reset"] = a.ResetAfter
	}
	if a.Activations != nil {
		var names []string
		var alphas, betas []float32
		for _, f := range a.Activations {
			params := strings.ToLower(recurrentFunction(f.Op).params)
			if names = append(names, f.Op); strings.Contains(params, "a") {
				alphas = append(alphas, f.Alpha)
			}
			if strings.Contains(params, "b") {
				betas = append(betas, f.Beta)
			}
		}
		attrs["activations"], attrs["activation_alpha"], attrs["activation_beta"] = names, alphas, betas
	}
	inputs := e.Inputs()
	if t := e.Layer.Input(RecurrentLengths); t != nil && t.Type == numeric.I64 {
		inputs[RecurrentLengths] = e.Step("Cast", Attributes{"to": numeric.I32}, inputs[RecurrentLengths])
	}
	if !e.mixed() {
		return e.Node(name, attrs, inputs...)
	}
	for i, t := range e.Layer.OpInputs() {
		if t != nil && t.Type.IsFloat() && t.Type != numeric.F32 {
			inputs[i] = e.Step("Cast", Attributes{"to": numeric.F32}, inputs[i])
		}
	}
	var outputs []string
	for range e.outputs {
		outputs = append(outputs, e.unique(e.Layer.Name+"_"+name))
	}
	if err := e.add(OldestExport, name, attrs, inputs, outputs); err != nil {
		return err
	}
	for i, t := range e.Layer.Outputs {
		if err := e.add(OldestExport, "Cast", Attributes{"to": t.Type}, outputs[i:i+1], e.outputs[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// mixed reports whether the layer's real inputs are of several types, which ONNX's operators do not take.
func (e *Exporter) mixed() bool {
	first := numeric.Invalid
	for _, t := range e.Layer.OpInputs() {
		if t == nil || !t.Type.IsFloat() {
			continue
		}
		if first == numeric.Invalid {
			first = t.Type
		}
		if t.Type != first {
			return true
		}
	}
	return false
}
