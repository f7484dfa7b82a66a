package describe

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// Unlowered lists the layers that were left in another precision than the one asked for, in the order of the network, and those that were
// to be and run on bytes all the same.
func Unlowered(asked numeric.DataType, o *build.Optimized, l *build.Lowered) []report.UnloweredLayer {
	from := map[string][]string{}
	for _, l := range o.Network.Layers {
		from[l.Name] = l.From
	}
	var list []report.UnloweredLayer
	for _, d := range l.Decisions {
		if d.Precision == asked {
			continue
		}
		u := report.UnloweredLayer{Layer: d.Layer, From: from[d.Layer], Precision: quant.PrecisionName(d.Precision), Reason: d.Reason, Formless: d.Formless}
		if built := l.Network.Layer(d.Layer); asked == numeric.I8 && built != nil && movesBytes(built) {
			u.Precision, u.Reason = quant.PrecisionName(numeric.I8), d.Reason+", but between layers in int8 it moves their bytes as they are, which loses nothing"
		}
		list = append(list, u)
	}
	return list
}

// movesBytes reports whether a layer gives the bytes that it reads, with the range that they have.
func movesBytes(l *graph.Layer) bool {
	in, out := l.OpInputs(), l.Outputs
	return len(in) > 0 && len(out) > 0 && in[0] != nil && in[0].Quantized() && out[0].Quantized() && in[0].Range.Equal(out[0].Range) && in[0].Type == out[0].Type
}

// Unchanged says why a precision changes no layer of a network; it is empty where it changes one, where nothing was asked
// to be changed, and where layers were given precisions of their own.
func Unchanged(m *model.Model, cfg config.Config, o *build.Optimized, l *build.Lowered) string {
	asked, _ := cfg.Precision.DataType()
	if cfg.Constraints != config.Ignore && len(cfg.LayerPrecisions) > 0 || m.Planned(cfg) != nil {
		return ""
	}
	if asked == numeric.F32 || m.Quantized || cfg.Until != 0 || countPrecision(l.Network, asked) > countPrecision(o.Network, asked) {
		return ""
	}
	return fmt.Sprintf("%s changes nothing here: %s", cfg.Precision, mainReason(asked, o, l.Decisions))
}

// OneRange says which products are quantised by one range where ranges by token were asked for, and why the first is; it is empty where none is.
func OneRange(cfg config.Config, decisions []quant.Decision) string {
	rules, _ := cfg.Rules()
	if config.ChoosesRows(cfg.Quantization) && !slices.ContainsFunc(rules, func(r quant.Rule) bool { return r.ByToken }) {
		return ""
	}
	n, first := 0, quant.Decision{}
	for _, d := range decisions {
		if d.OneRange != "" {
			if n++; n == 1 {
				first = d
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s by one range, not by token: %s: %s", config.CountOf(n, "product is quantised", "products are quantised"), first.Layer, first.OneRange)
}

// countPrecision returns how many layers compute in a precision.
func countPrecision(n *graph.Network, p numeric.DataType) (count int) {
	for _, l := range n.Layers {
		if t := PrecisionOf(l); t == p.String() || p == numeric.I8 && t == numeric.U8.String() {
			count++
		}
	}
	return count
}

// mainReason is the reason that most layers have for their precision: of those with the most arithmetic, as long as there
// are any, since it is for their sake that a person lowers it.
func mainReason(asked numeric.DataType, o *build.Optimized, decisions []quant.Decision) string {
	heavy := map[string]bool{}
	for _, l := range o.Network.Layers {
		heavy[l.Name] = l.Op.IsProduct()
	}
	const weight = 1 << 20 // of one such layer against all others
	votes, best := map[string]int{}, ""
	for _, d := range decisions {
		reason := d.Reason
		if d.Precision == asked {
			reason = "the backend has no tactic for its layers in that precision"
			if asked == numeric.F16 {
				reason = "its layers are stored as f16 already"
			}
		}
		votes[reason]++
		if heavy[d.Layer] {
			votes[reason] += weight
		}
		if best == "" || votes[reason] > votes[best] {
			best = reason
		}
	}
	if best == "" {
		return "no layer is left"
	}
	return best
}
