package exchange

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// precisionOf returns the type in which a layer computes: that of its first quantised or 16-bit input, else of its output, or where that
// is what it quantises to of its input.
func precisionOf(l *EngineLayer) string {
	quantised := []string{"i8", "u8", "f8", "f4"}
	for _, t := range l.Inputs {
		if t.Type == "f16" || t.Type == "bf16" || slices.Contains(quantised, t.Type) {
			return t.Type
		}
	}
	if len(l.Outputs) > 0 && slices.Contains(quantised, l.Outputs[0].Type) && len(l.Inputs) > 0 && l.Inputs[0].Type != "?" {
		return l.Inputs[0].Type
	}
	if len(l.Outputs) > 0 {
		return l.Outputs[0].Type
	}
	return "?"
}

func tensorReport(t EngineTensor) report.Tensor {
	r := report.Tensor{Name: t.Name, Type: cmp.Or(t.Type, "?"), Shape: t.Dims, Dims: strings.ReplaceAll(fmt.Sprint(t.Dims), " ", ",")}
	for i, d := range r.Shape {
		if d < 0 {
			r.Shape = slices.Clone(r.Shape)
			r.Shape[i] = 0
		}
	}
	return r
}

// layerReport describes a layer in the words of its tool.
func layerReport(l *EngineLayer) report.Layer {
	r := report.Layer{Name: l.Name, Op: cmp.Or(l.ParameterType, l.LayerType, "?"), From: l.Sources(), Precision: precisionOf(l), FLOPs: l.flops()}
	if l.LayerType == "Reformat" {
		r.Op = "Reformat"
	}
	for _, t := range l.Inputs {
		r.Inputs = append(r.Inputs, t.Name)
	}
	for _, t := range l.Outputs {
		r.Outputs = append(r.Outputs, tensorReport(t))
	}
	var attrs []string
	for _, name := range slices.Sorted(maps.Keys(l.Attrs)) {
		if text := attrText(l.Attrs[name]); text != "" {
			attrs = append(attrs, name+"="+text)
		}
	}
	r.Attrs = strings.Join(attrs, ", ")
	r.Weights = int(l.weights())
	for _, d := range []report.Detail{{Name: "type", Text: l.LayerType}, {Name: "tactic", Text: l.tactic()}} {
		if d.Text != "" {
			r.Details = append(r.Details, d)
		}
	}
	for _, list := range [][]EngineTensor{l.Inputs, l.Outputs} {
		for _, t := range list {
			if t.Format != "" && t.Name != "" {
				r.Details = append(r.Details, report.Detail{Name: t.Name, Text: t.Format})
			}
		}
	}
	r.Text = fmt.Sprintf("%s = %s(%s)", joined(l.Outputs), r.Op, joined(l.Inputs))
	if r.Attrs != "" {
		r.Text += " " + r.Attrs
	}
	return r
}

func joined(list []EngineTensor) string {
	var names []string
	for _, t := range list {
		names = append(names, fmt.Sprintf("%s:%s%s", t.Name, t.Type, strings.ReplaceAll(fmt.Sprint(t.Dims), " ", ",")))
	}
	return strings.Join(names, ", ")
}

// attrText writes an attribute, long ones not at all.
func attrText(v any) string {
	b, err := json.Marshal(v)
	if text := string(b); err == nil && len(text) < 80 {
		return strings.Trim(text, `"`)
	}
	return ""
}

// tactic names what computes a layer.
func (l *EngineLayer) tactic() string { return cmp.Or(l.TacticName, l.TacticValue) }

// weights returns the bytes of weights and bias, as far as the layer tells.
func (l *EngineLayer) weights() (n int64) {
	for _, name := range []string{"Weights", "Bias"} {
		w, ok := l.Attrs[name].(map[string]any)
		if !ok {
			continue
		}
		typ, _ := w["Type"].(string)
		if count, _ := w["Count"].(float64); count > 0 && count < 1<<50 {
			n += bytesOf(typeOf(typ), int64(count))
		}
	}
	return n
}

// flops counts two for each multiply-add of a convolution; of other layers the file does not say enough.
func (l *EngineLayer) flops() int64 {
	kernel, err := extents(l.Attrs["Kernel"])
	if l.ParameterType != "Convolution" || err != nil || len(l.Inputs) == 0 || len(l.Outputs) == 0 {
		return 0
	}
	in, out := l.Inputs[0].Dims, l.Outputs[0]
	groups, _ := l.Attrs["Groups"].(float64)
	if len(in) < 3 || in[1] < 1 || out.Elements < 1 {
		return 0
	}
	window := elements(append([]int{in[1] / max(1, int(groups))}, kernel...))
	if window > 0 && out.Elements < (1<<60)/window {
		return 2 * window * out.Elements
	}
	return 0
}

// traffic returns the bytes that a layer reads and writes.
func (l *EngineLayer) traffic() int64 {
	n := l.weights()
	for _, list := range [][]EngineTensor{l.Inputs, l.Outputs} {
		for _, t := range list {
			n += bytesOf(t.Type, t.Elements)
		}
	}
	return n
}
