package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// UnsupportedLayers lists the layers that keep a network from being run, and those that only depend on them.
func UnsupportedLayers(n *graph.Network) []report.UnsupportedLayer {
	var list []report.UnsupportedLayer
	for _, l := range n.Layers {
		if u := l.Unsupported(); u != nil {
			list = append(list, report.UnsupportedLayer{Layer: l.Name, Op: u.Op, Domain: u.Domain, Reason: u.Reason, Behind: u.Behind})
		}
	}
	return list
}

// NotRunnable says in a line why a model cannot be run: how many of its layers are not supported, by operator, the most
// frequent first; or where there are none, what else there is.
func NotRunnable(refused *onnx.ImportError, unsupported []report.UnsupportedLayer, layers int) string {
	if refused == nil {
		return ""
	}
	counts, order, n, known := map[string]int{}, []string(nil), 0, false
	for _, l := range unsupported {
		if l.Behind != "" {
			continue
		}
		n++
		known = known || l.Reason != onnx.NoOperator
		if counts[l.Op]++; counts[l.Op] == 1 {
			order = append(order, l.Op)
		}
	}
	if n == 0 {
		text := refused.Problems[0].Reason
		if more := len(refused.Problems) - 1; more > 0 {
			text += fmt.Sprintf("; and %d more", more)
		}
		return text
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	const most = 5
	var ops []string
	for i, op := range order {
		if i == most {
			ops = append(ops, fmt.Sprintf("%d more", len(order)-most))
			break
		}
		if counts[op] > 1 {
			op = fmt.Sprintf("%s x%d", op, counts[op])
		}
		ops = append(ops, op)
	}
	what := "have unsupported operators"
	switch {
	case known: // the operator is supported, and not as this node has it
		what = "cannot be imported"
	case n == 1:
		what = "has an unsupported operator"
	}
	return fmt.Sprintf("%d of %s %s (%s)", n, config.CountOf(layers, "layer", "layers"), what, strings.Join(ops, ", "))
}
