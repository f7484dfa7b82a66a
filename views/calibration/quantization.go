package calibration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// quantizationKeys change how is quantised, on every pane of the calibration screen.
func quantizationKeys(d pane.Desk) []ui.Key {
	return []ui.Key{
		pane.When(d, pane.NeedsQuantization, ui.K("A", "", "next scheme of activations: symmetric or asymmetric, i8, u8, by token or as trials say").Called("scheme")),
		pane.When(d, pane.NeedsQuantization, ui.K("B", "", "next bias correction: off, fast, exact").Called("bias correction")),
		pane.When(d, pane.NeedsQuantization, ui.K("E", "", "next equalisation of channels: off, weights, activations").Called("equalisation")),
		pane.When(d, pane.NeedsQuantization, ui.K("Z", "", "next rounding of weights: nearest, gptq, compensated, auto").Called("rounding")),
		pane.When(d, pane.NeedsQuantization, ui.K("I", "", "weights of products in floating point: as they are, int8, int4").Called("weights in few bits")),
		pane.When(d, pane.NeedsQuantization, ui.K("Q", "quantisation", "all choices of how is quantised")),
		pane.When(d, pane.NeedsQuantization, ui.Key{Keys: []string{"<", ">"}, Long: "narrow / widen the range of the tensor under the cursor by a tenth", Name: "range"}),
		pane.When(d, pane.NeedsQuantization, ui.K("=", "", "leave the range of the tensor under the cursor to the calibrator again").Called("automatic range")),
	}
}

// pressQuantization handles quantizationKeys; ok is false for other keys.
func pressQuantization(v *tensorsView, msg tea.Msg) (cmd tea.Cmd, ok bool) {
	edit := func(f func(*config.Quantization)) tea.Cmd {
		return v.desk.Change(func(c *config.Config) { f(&c.Quantization); c.Quantization = c.Quantization.Effective() })
	}
	switch now := v.desk.Want().Quantization.Full(); {
	case pane.IsKey(msg, "A"):
		return edit(func(q *config.Quantization) { q.Activations = after(config.Schemes(), now.Activations) }), true
	case pane.IsKey(msg, "B"):
		next := now
		next.BiasCorrection = after(config.BiasCorrections(), now.BiasCorrection)
		if err := next.Check(); err != nil {
			return pane.Say(ui.Warn, err.Error()), true
		}
		return edit(func(q *config.Quantization) { q.BiasCorrection = next.BiasCorrection }), true
	case pane.IsKey(msg, "E"):
		return edit(func(q *config.Quantization) {
			kind, _, _ := strings.Cut(now.Equalization, ":")
			q.Equalization = after(config.Equalizations(), kind)
		}), true
	case pane.IsKey(msg, "Z"):
		return edit(func(q *config.Quantization) {
			kind, _, _ := strings.Cut(now.Rounding, ":")
			if q.Rounding = after(config.Roundings(), kind); q.Check() != nil { // weights that compensate, without exact bias correction
				q.Rounding = after(config.Roundings(), q.Rounding)
			}
		}), true
	case pane.IsKey(msg, "I"):
		return v.desk.Change(func(c *config.Config) {
			c.Weights = after(config.FewBits(), config.FewBitsKind(c.Weights))
		}), true
	case pane.IsKey(msg, "Q"):
		return chooseQuantization(now, edit), true
	case pane.IsKey(msg, "<"):
		return v.scaleRange(0.9, edit), true
	case pane.IsKey(msg, ">"):
		return v.scaleRange(1/0.9, edit), true
	case pane.IsKey(msg, "="):
		return v.freeRange(edit), true
	}
	return nil, false
}

// after returns what follows one of a list, the first behind the last.
func after[T comparable](list []T, one T) T { return list[(slices.Index(list, one)+1)%len(list)] }

// chooseQuantization asks for one of all the choices that go with the others; those that are made have a mark.
func chooseQuantization(now config.Quantization, edit func(func(*config.Quantization)) tea.Cmd) tea.Cmd {
	var items []string
	var edits []func(*config.Quantization)
	add := func(on bool, what string, f func(*config.Quantization)) {
		next := now.Clone()
		if f(&next); next.Check() != nil {
			return
		}
		mark := "  "
		if on {
			mark = "* "
		}
		items, edits = append(items, mark+what), append(edits, f)
	}
	for _, s := range config.Schemes() {
		add(now.Activations == s, "activations "+s, func(q *config.Quantization) { q.Activations = s })
	}
	for _, s := range config.WeightScales() {
		add(now.WeightScales == s, "weights with a scale for each "+s, func(q *config.Quantization) { q.WeightScales = s })
	}
	for _, r := range config.WeightRanges() {
		add(strings.HasPrefix(now.WeightRanges, r), "ranges of weights by "+r, func(q *config.Quantization) { q.ChooseWeightRange(r) })
	}
	add(now.ReducedWeights(), "weights in 7 bits, for programs whose sums saturate without VNNI", (*config.Quantization).FlipReducedWeights)
	for _, b := range config.BiasCorrections() {
		add(now.BiasCorrection == b, "bias correction "+string(b), func(q *config.Quantization) { q.BiasCorrection = b })
	}
	for _, e := range config.Equalizations() {
		add(strings.HasPrefix(now.Equalization, e), "equalisation "+e, func(q *config.Quantization) { q.Equalization = e })
	}
	for _, r := range []string{"nearest", "gptq", "gptq:ordered", "compensated", "auto"} {
		add(now.Rounding == r, "weights rounded by "+r, func(q *config.Quantization) { q.Rounding = r })
	}
	for _, k := range []string{"first", "last", "residuals"} {
		what := "the " + k + " layers in floating point"
		if k == "residuals" {
			what = "what products add in floating point"
		}
		add(slices.Contains(now.Keep, k), what, func(q *config.Quantization) { q.FlipKeep(k) })
	}
	for _, name := range slices.Sorted(maps.Keys(now.Ranges)) {
		add(true, fmt.Sprintf("range of %s from %.4g to %.4g", name, now.Ranges[name][0], now.Ranges[name][1]), func(q *config.Quantization) { delete(q.Ranges, name) })
	}
	return ui.Open(&ui.Choice{Name: "Quantisation", Items: items, Active: -1, Pick: func(i int) tea.Cmd { return edit(edits[i]) }})
}

// scaleRange gives the tensor under the cursor a range by hand: the one it has, scaled.
func (v *tensorsView) scaleRange(by float64, edit func(func(*config.Quantization)) tea.Cmd) tea.Cmd {
	t := v.tensor()
	at := -1
	if t != nil {
		at = slices.Index(v.report.Calibrators, v.report.Active)
	}
	if at < 0 || at >= len(t.By) || t.By[at].Scale == 0 {
		return pane.Say(ui.Warn, "no tensor with a range is under the cursor")
	}
	r := t.By[at]
	return edit(func(q *config.Quantization) { q.SetRange(t.Tensor, r.Scale, r.Zero, by) })
}

// freeRange leaves the range of the tensor under the cursor to the calibrator again.
func (v *tensorsView) freeRange(edit func(func(*config.Quantization)) tea.Cmd) tea.Cmd {
	t := v.tensor()
	if t == nil || v.desk.Want().Quantization.Ranges[t.Tensor] == nil {
		return pane.Say(ui.Plain, "the range of the tensor under the cursor is the calibrator's")
	}
	return edit(func(q *config.Quantization) { delete(q.Ranges, t.Tensor) })
}

// useOwn gives all tensors the ranges that the model brings for them.
func (v *tensorsView) useOwn(c *config.Config) {
	for i := range v.report.Tensors {
		if t := &v.report.Tensors[i]; t.Own != nil {
			low, high := t.Own.Ends()
			c.Quantization.Give(t.Tensor, low, high)
		}
	}
}
