package cmd

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// writeComparison prints what trtui run found.
func writeComparison(w io.Writer, r *report.Comparison) {
	precision := r.Precision
	if r.Calibrator != "" {
		precision += " (" + r.Calibrator + ")"
	}
	fmt.Fprintf(w, "%s, %s, %s: %s\n", r.Model, precision, count(r.Items, "item"), r.Data)
	if len(r.Pairs) > 0 {
		writeTolerance(w, r)
	}
	fmt.Fprintln(w)
	for _, one := range r.Runs {
		writeRun(w, one)
	}
	if len(r.Pairs) == 0 && len(r.Runs) > 0 {
		writeClasses(w, r.Runs[0].Classes)
	}
	for _, p := range r.Pairs {
		writePair(w, p)
	}
	for _, text := range r.Invalid {
		writeNote(w, "FAILED: %s", ui.VisibleName(text))
	}
}

// writeTolerance says when elements agree.
func writeTolerance(w io.Writer, r *report.Comparison) {
	if f := r.Rounding; f != nil && f.From != "" {
		fmt.Fprintf(w, "tolerance: what rounding explains, as %s show it on the same items: |a - b| up to %s the largest\n"+
			"  difference that they make, RMS up to %s its RMS; --atol and --rtol set a fixed one\n", f.From, times(f.Peak), times(f.RMS))
		return
	}
	if f := r.Rounding; f != nil {
		fmt.Fprintf(w, "tolerance: what rounding explains, measured against FP32 on the same items: |a - b| up to %s the\n"+
			"  largest difference from FP32, RMS up to %s its RMS; --atol and --rtol set a fixed one\n", times(f.Peak), times(f.RMS))
		return
	}
	unit := ""
	if r.Scaled {
		unit = " RMS(b)"
	}
	fmt.Fprintf(w, "tolerance: |a - b| <= %g%s + %g |b|", r.Tolerance.Abs, unit, r.Tolerance.Rel)
	if r.Half != r.Tolerance && hasHalf(r.Pairs) {
		fmt.Fprintf(w, ", of tensors in f16 and bf16 %g%s + %g |b|", r.Half.Abs, unit, r.Half.Rel)
	}
	fmt.Fprintln(w)
}

// hasHalf reports whether tensors in 16 bits were compared.
func hasHalf(pairs []report.Pair) bool {
	half := func(d report.TensorDifference) bool {
		types := []string{d.Type, d.SecondType}
		return slices.Contains(types, numeric.F16.String()) || slices.Contains(types, numeric.BF16.String())
	}
	return slices.ContainsFunc(pairs, func(p report.Pair) bool {
		return slices.ContainsFunc(p.Outputs, half) || slices.ContainsFunc(p.Layers, half)
	})
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "x") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// writeRun prints one run's backend and what its outputs are like.
func writeRun(w io.Writer, r report.BackendRun) {
	fmt.Fprintf(w, "%s: %s", ui.VisibleName(r.Name), ui.VisibleName(r.Device.Device))
	if r.Launches > 0 {
		fmt.Fprintf(w, ", %s", count(r.Launches, "launch"))
	}
	fmt.Fprintln(w)
	if r.Replanned != "" {
		fmt.Fprintf(w, "  planned again: %s\n", r.Replanned)
	}
	for _, o := range r.Outputs {
		if o.First != nil {
			fmt.Fprintf(w, "  %s %s%v: %s\n", ui.VisibleName(o.Name), o.Type, o.Shape, quoted(o.First, o.Count))
			continue
		}
		fmt.Fprintf(w, "  %s %s%v: mean %.6g, std %.6g, min %.6g at %s, max %.6g at %s", ui.VisibleName(o.Name), o.Type, o.Shape, o.Mean, o.Std, o.Min, where(o.MinAt), o.Max, where(o.MaxAt))
		if o.NotFinite > 0 {
			fmt.Fprintf(w, ", %s of %d not finite", count(o.NotFinite, "element"), o.Count)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

// quoted lists the first of so many strings.
func quoted(first []string, all int) string {
	list := make([]string, len(first))
	for i, s := range first {
		list[i] = strconv.Quote(s)
	}
	if len(first) < all {
		list = append(list, fmt.Sprintf("and %d more", all-len(first)))
	}
	return strings.Join(list, ", ")
}

// where prints an element's place: its item and its index.
func where(p report.Position) string {
	return fmt.Sprintf("item %d %s", p.Item, strings.ReplaceAll(fmt.Sprint(p.Index), " ", ","))
}

// writeClasses prints the highest scores of each item.
func writeClasses(w io.Writer, items []report.ItemClasses) {
	if len(items) == 0 {
		return
	}
	var rows [][]string
	for _, it := range items {
		label := "-"
		if it.Label >= 0 {
			label = fmt.Sprint(it.Label)
		}
		row := []string{fmt.Sprint(it.Item), label}
		for _, c := range it.Top {
			row = append(row, fmt.Sprintf("%d: %.4g", c.Class, c.Score))
		}
		rows = append(rows, row)
	}
	header := []string{">item", ">label"}
	for i := range items[0].Top {
		header = append(header, fmt.Sprintf("top %d", i+1))
	}
	writeTable(w, header, rows)
}

// writePair prints how two runs differ.
func writePair(w io.Writer, p report.Pair) {
	fmt.Fprintf(w, "%s (a) against %s (b)\n", ui.VisibleName(p.First), ui.VisibleName(p.Second))
	failed := 0
	for _, o := range p.Outputs {
		fmt.Fprintf(w, "  output %s %s%v\n", ui.VisibleName(o.Name), o.Type, o.Shape)
		writeDifference(w, p, o)
		if !o.Passed {
			failed++
		}
	}
	if len(p.Layers) > 0 {
		writeLayers(w, p)
	}
	verdict := "PASSED: the outputs agree"
	if text := bothNotFinite(p.Outputs); text != "" {
		verdict = "PASSED, but " + text
	}
	if unlike := slices.ContainsFunc(p.Outputs, func(d report.TensorDifference) bool { return d.Unlike != nil }); failed > 0 && unlike {
		verdict = fmt.Sprintf("FAILED: %d of %s over the tolerance or of another shape", failed, count(len(p.Outputs), "output"))
	} else if failed > 0 {
		verdict = fmt.Sprintf("FAILED: %d of %s over the tolerance", failed, count(len(p.Outputs), "output"))
	}
	fmt.Fprintf(w, "%s\n\n", verdict)
}

// bothNotFinite says how many elements agree only as NaN and infinities do; "" where none does.
func bothNotFinite(outputs []report.TensorDifference) string {
	var texts []string
	for _, o := range outputs {
		if o.BothNotFinite > 0 {
			verb := "are"
			if o.BothNotFinite == 1 {
				verb = "is"
			}
			texts = append(texts, fmt.Sprintf("%d of %s of output %s %s NaN or infinite on both sides", o.BothNotFinite, count(o.Count, "element"), o.Name, verb))
		}
	}
	return strings.Join(texts, ", ")
}

// writeRounding prints how far two runs are from FP32, and by how much they may therefore differ.
func writeRounding(w io.Writer, p report.Pair, r *report.Rounding) {
	fmt.Fprintf(w, "    from %s: %s %s, %s %s; allowed: |a - b| %.4g, RMS %.4g, which is %.4g\n",
		cmp.Or(r.From, "FP32"), p.First, ratio(r.First), p.Second, ratio(r.Second), r.MaxAbs, r.RMS, r.RMSE)
}

// writeDifference prints how an output of two runs differs.
func writeDifference(w io.Writer, p report.Pair, d report.TensorDifference) {
	verdict := "passed"
	if !d.Passed {
		verdict = "FAILED"
	}
	for _, m := range d.Metrics {
		word, side := "passed", "at most"
		if !m.Passed {
			word = "FAILED"
		}
		if m.Least {
			side = "at least"
		}
		fmt.Fprintf(w, "    %s: %s %s, %s %g\n", word, m.Name, metricText(m), side, m.Limit)
	}
	if d.Alone {
		verdict = "elements"
	}
	if s := d.Statistic; s != nil {
		fmt.Fprintf(w, "    %s: %s |a - b| %.4g, of %.4g; %s |a - b| / |b| %.4g, of %.4g\n", verdict, s.Name, s.Abs, d.Tolerance.Abs, s.Name, s.Rel, d.Tolerance.Rel)
		verdict = "elements"
	}
	if u := d.Unlike; u != nil {
		fmt.Fprintf(w, "    FAILED: other shapes in %s, as %v and %v; what follows is of the others\n", count(u.Inferences, "inference"), u.First, u.Second)
		verdict = "elements"
	}
	fmt.Fprintf(w, "    %s: %d of %s over %.4g + %g |b|, %d differ at all\n", verdict, d.Over, count(d.Count, "element"), d.Tolerance.Abs, d.Tolerance.Rel, d.Differ)
	if d.Rounding != nil {
		writeRounding(w, p, d.Rounding)
	}
	if d.Steps != nil {
		fmt.Fprintf(w, "    %s\n", stepsText(d.Steps, d.Count))
	}
	if d.Differ == 0 {
		return
	}
	fmt.Fprintf(w, "    |a - b|        max %.4g at %s, mean %.4g, median %.4g\n", d.MaxAbs, where(d.MaxAt), d.MeanAbs, d.MedianAbs)
	fmt.Fprintf(w, "    |a - b| / |b|  max %.4g, mean %.4g\n", d.MaxRel, d.MeanRel)
	fmt.Fprintf(w, "    all together   L2 %.4g, cosine %s, PSNR %s, SQNR %s\n", d.L2, cosineText(d.Cosine), ratio(d.PSNR), ratio(d.SQNR))
	alone := ""
	if d.RelToPass > 0 {
		alone = fmt.Sprintf(", or --atol 0 --rtol %.3g,", above(d.RelToPass))
	}
	if d.Unlike == nil {
		fmt.Fprintf(w, "    --atol %.3g --rtol 0%s would pass\n", above(d.MaxAbs), alone)
	}
	fmt.Fprintln(w)
	most := 1
	for _, b := range d.Histogram {
		most = max(most, b.Count)
	}
	var rows [][]string
	for _, b := range d.Histogram {
		rows = append(rows, []string{"   ", binName(b), fmt.Sprint(b.Count), bar(float64(b.Count)/float64(most), 40)})
	}
	writeTable(w, []string{"   ", "|a - b|", ">elements", ""}, rows)
	fmt.Fprintln(w)
	rows = nil
	for _, e := range d.Worst {
		rows = append(rows, []string{"   ", where(e.Position), fmt.Sprintf("%.7g", e.First), fmt.Sprintf("%.7g", e.Second), fmt.Sprintf("%.3g", e.Abs), relative(e.Rel)})
	}
	writeTable(w, []string{"   ", "worst elements", ">a", ">b", ">|a - b|", ">relative"}, rows)
	fmt.Fprintln(w)
}

// stepsText says how many of so many elements were rounded to another integer, and whether those are few.
func stepsText(s *report.Steps, of int) string {
	verb, few := "differ", "rounding, which up to "+fmt.Sprint(s.Most)+" may show"
	if s.Elements == 1 {
		verb = "differs"
	}
	if s.Elements > s.Most {
		few = fmt.Sprintf("more than the %d that rounding alone explains", s.Most)
	}
	step := fmt.Sprintf("one step of the scale %.4g", s.Scale)
	if s.Scale == 1 {
		step = "1"
	}
	return fmt.Sprintf("%d of %s %s by %s, none by more: %s", s.Elements, count(of, "element"), verb, step, few)
}

// metricText writes what a metric found: equality as decibels, and what has no end.
func metricText(m report.MetricValue) string {
	switch {
	case m.Value == report.MaxDB && strings.HasSuffix(m.Name, "snr"):
		return "exact"
	case m.Value == math.MaxFloat64:
		return "not finite"
	}
	return fmt.Sprintf("%.5g", m.Value)
}

// cosineText writes a cosine similarity; one near to 1 by what is missing.
func cosineText(v float64) string {
	if missing := 1 - v; missing > 0 && missing < 1e-4 {
		return fmt.Sprintf("1 - %.2g", missing)
	}
	return fmt.Sprintf("%.6g", v)
}

// relative writes an element's relative difference; a b of 0 has none.
func relative(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.3g", v)
}

// above returns a number that is still not less than x when it is written with three digits.
func above(x float64) float64 { return 1.005 * x }

// binName names a range of differences.
func binName(b report.DifferenceBin) string {
	switch {
	case b.To == 0:
		return "equal"
	case b.From == math.MaxFloat64:
		return "not finite"
	case b.From == 0:
		return fmt.Sprintf("below %.0e", b.To)
	case b.To == math.MaxFloat64:
		return fmt.Sprintf("from %.0e", b.From)
	}
	return fmt.Sprintf("%.0e to %.0e", b.From, b.To)
}

// writeLayers prints a line for every layer that both runs have.
func writeLayers(w io.Writer, p report.Pair) {
	var rows [][]string
	for _, l := range p.Layers {
		mark := ""
		switch {
		case l.Layer == p.FirstBad:
			mark = "first over the tolerance"
		case !l.Passed:
			mark = "over"
		}
		if l.Unlike != nil {
			mark = "other shapes"
		}
		typ := l.Type
		if l.SecondType != l.Type {
			typ += "/" + l.SecondType
		}
		rows = append(rows, []string{
			" ", short(l.Layer), typ, fmt.Sprint(l.Count), fmt.Sprint(l.Over), fmt.Sprintf("%.3g", l.MaxAbs), fmt.Sprintf("%.3g", l.MeanAbs),
			fmt.Sprintf("%.3g", l.MaxRel), decibels(l.SQNR), mark,
		})
	}
	writeTable(w, []string{" ", "@layer", "type", ">elements", ">over", ">max abs", ">mean abs", ">max rel", ">SQNR dB", ""}, rows)
	if p.Unmatched > 0 {
		fmt.Fprintf(w, "  %s of %s that %s does not have under that name\n", count(p.Unmatched, "tensor"), p.First, p.Second)
	}
	fmt.Fprintln(w)
}
