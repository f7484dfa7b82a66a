package describe

import (
	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/report"
)

// PrecisionOf returns the type in which a layer computes: that of its first quantised or 16-bit input, else of its
// output.
func PrecisionOf(l *graph.Layer) string { return build.PrecisionOf(l).String() }

// layerInfos describes a network's layers at the given values of its symbols, each followed by those inside it.
func layerInfos(n *graph.Network, env map[string]int) []report.Layer {
	list := make([]report.Layer, 0, len(n.Layers))
	for _, l := range n.Layers {
		list = append(list, layerInfo(l, env))
		for _, b := range l.Bodies() {
			for _, inner := range layerInfos(b.Network, env) {
				if inner.Depth++; inner.Inside == "" {
					inner.Inside, inner.Body = l.Name, b.Name
				}
				list = append(list, inner)
			}
		}
	}
	return list
}

func layerInfo(l *graph.Layer, env map[string]int) report.Layer {
	info := report.Layer{
		Name: l.Name, Op: graph.OpName(l), Attrs: graph.FormatAttrs(l.Attrs), From: l.From,
		Precision: PrecisionOf(l), Text: l.String(),
	}
	if u := l.Unsupported(); u != nil {
		info.Op, info.Attrs, info.Precision = u.Op, u.Summary, ""
		info.Unsupported, info.Behind = u.Reason, u.Behind
	}
	if env != nil {
		info.FLOPs = graph.FLOPs(l, env)
		for _, d := range l.Details(env) {
			info.Details = append(info.Details, report.Detail{Name: d.Name, Text: d.Text, Size: d.Bytes})
		}
	}
	if w := l.Input(1); l.Op.Class == graph.ClassConvolution && w != nil && w.IsConst() && len(w.Dims) > 2 {
		info.Kernel = symbolic.Eval(w.Dims[2:], nil)
	}
	if l.Epilogue.Args > 0 {
		info.Epilogue = l.Epilogue.String()
	}
	for _, t := range l.Inputs {
		switch {
		case t == nil:
		case t.IsConst():
			info.Weights += len(t.Weights)
		default:
			info.Inputs = append(info.Inputs, t.Name)
		}
	}
	for _, t := range l.Outputs {
		info.Outputs = append(info.Outputs, tensorInfo(t, env))
	}
	return info
}

func tensorInfo(t *graph.Tensor, env map[string]int) report.Tensor {
	if !t.IsKnown() {
		return report.Tensor{Name: t.Name, Type: "?"}
	}
	info := report.Tensor{Name: t.Name, Type: t.Type.String(), Dims: symbolic.Format(t.Dims)}
	if env != nil {
		info.Shape = symbolic.Eval(t.Dims, env)
	}
	if t.Range.IsSet() {
		info.Range = t.Range.String()
	}
	return info
}
