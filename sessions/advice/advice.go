// Package advice looks at what a session made of a model and finds what is worth changing: it is to engines what a linter is
// to programs. Each rule is a function of a snapshot, in a file with those that are about the same thing, and a line of the table in this one; what it finds
// says how grave that is, on which figures it rests and what helps. To add a rule, write its file, a line in [Rules], and a
// planted case in rules_test.go, which also checks that it is silent on what is sound.
package advice

import (
	"cmp"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Rule looks for one thing.
type Rule struct {
	Name  string
	Doc   string       // what it looks for and what that costs
	Needs report.Parts // the reports that it looks at: without one of them it is not asked

	find func(*facts) []report.Finding
}

// Rules returns all there are.
func Rules() []Rule {
	const times = report.PartTimings
	return []Rule{
		{"model-file", "the model's file has shapes of outputs that are wrong, or dropout that is at work as in training", report.PartModel, modelFile},
		{"not-finite", "weights are NaN or infinite, and so is what is computed of them", report.PartOverview, notFinite},
		{"chance", "FP32 is right no more often than guessing: the input is not scaled as in training", report.PartScore, chance},
		{"label-offset", "FP32 is right far more often with labels one further", report.PartScore, labelOffset},
		{"accuracy", "answers differ from FP32's", report.PartScore, accuracy},
		{"random-ranges", "the ranges of INT8 come from random input", report.PartOverview, randomRanges},
		{"calibrated-on-evaluated", "ranges were found on items that accuracy is measured on", report.PartScore, calibratedOnEvaluated},
		{"outliers", "a few elements set the range of a tensor, and the others have few of the 256 values", report.PartCalibration, outliers},
		{"wide-channel", "one channel sets the range of a tensor, and the others have few of the 256 values", report.PartCalibration, wideChannel},
		{"calibrators", "calibrators disagree on the range of a tensor by a factor of four", report.PartCalibration, calibrators},
		{"weight-scale", "one scale for all weights of a layer costs more than 6 dB", report.PartCalibration, weightScale},
		{"unlowered", "layers that take much of the time stay out of the precision that was asked for", report.PartPasses | times, unlowered},
		{"precision-island", "layers between others of lower precision: tensors are converted there and back", report.PartPasses | times, islands},
		{"conversions", "changes of type that no kernel does as it reads or writes", times, conversions},
		{"reformats", "changes of layout between kernels", times, reformats},
		{"reformat-chain", "a tensor is copied twice in a row: moved or converted, and then brought into another layout", times, chains},
		{"data-movement", "layers that only move elements", times, movement},
		{"unfused", "a fusion that was not done, and what its tensor in between costs", report.PartPasses | times, unfused},
		{"disabled-rules", "fusions that are switched off", report.PartPasses, disabled},
		{"reference-kernel", "no kernel for the layer: its definition runs, element by element", times, reference},
		{"slow-layer", "takes far more of the time than of the arithmetic", times, slow},
		{"below-roofline", "reaches little of what the device's arithmetic or memory allows", times, belowRoofline},
		{"channel-padding", "channels that do not fill the layout's blocks: kernels compute padding", report.PartPasses | report.PartTactics | times, padding},
		{"pinned-tactic", "a pinned tactic is slower than another one", report.PartTactics, pinned},
		{"close-tactics", "the choice of tactics is within what their times vary by", report.PartTactics | times, closeTactics},
		{"disturbed-times", "tactics were timed while the machine did something else", report.PartTactics, disturbed},
		{"unsteady", "the latency varies by more than 2.5 %", times, unsteady},
		{"weight-bound", "most of the bytes that are moved are weights, which a larger batch would share", report.PartModel | report.PartPasses | times, weightBound},
		{"overhead", "a fifth of the latency is spent between layers", times, overhead},
		{"enqueue-bound", "handing work to the device takes longer than most of its work", times, enqueueBound},
		{"few-threads", "fewer threads than half of the processors", times, fewThreads},
		{"peak-tensor", "one tensor is more than half of the arena's peak", report.PartMemory, peakTensor},
		{"fragmented", "the arena is larger than what is ever live at once", report.PartMemory, fragmented},
	}
}

// others names, of rules that need more than reports, what a snapshot with those reports lacks.
var others = map[string]func(*report.Snapshot) []string{"below-roofline": noPeaks}

// On asks every rule about a snapshot.
func On(s *report.Snapshot) *report.Advice {
	a, f := &report.Advice{}, newFacts(s)
	own := s.Model != nil && s.Viewed() == "" && !s.Model.Stripped && s.Model.Quantized()
	order := map[string]int{}
	for i, r := range Rules() {
		order[r.Name] = i
		if r.Needs.Has(report.PartCalibration) && s.Calibration == nil && (own || !s.Config.Quantizes()) {
			continue // nothing has a range, or the model brings all
		}
		result := report.RuleResult{Rule: r.Name, Doc: r.Doc, Missing: missing(r.Needs, s)}
		if wants := others[r.Name]; wants != nil && result.Missing == nil {
			result.Missing = wants(s)
		}
		if result.Missing == nil {
			for _, found := range r.find(f) {
				found.Rule = r.Name
				if own && found.Remedy == report.RemedyPrecision { // no layer of such a model can be given one
					found.Remedy = report.RemedyRequantize
				}
				a.Findings = append(a.Findings, found)
				result.Found++
			}
		}
		a.Rules = append(a.Rules, result)
	}
	rank := func(f report.Finding) int { return slices.Index(report.Severities(), f.Severity) }
	longest := map[string]time.Duration{} // of a rule's findings of one severity, which stay together
	of := func(f report.Finding) string { return string(f.Severity) + " " + f.Rule }
	for _, f := range a.Findings {
		longest[of(f)] = max(longest[of(f)], f.Time)
	}
	slices.SortStableFunc(a.Findings, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(longest[of(b)], longest[of(a)]), cmp.Compare(order[a.Rule], order[b.Rule]), cmp.Compare(b.Time, a.Time))
	})
	return a
}

// missing names the reports of a set that a snapshot does not have; one that is stale counts as there, since what it says is
// marked so wherever it is shown.
func missing(needs report.Parts, s *report.Snapshot) (names []string) {
	made := s.Made()
	if s.Accuracy != nil {
		made |= report.PartScore
	}
	if needs.Has(report.PartScore) && !made.Has(report.PartScore) {
		names = append(names, "accuracy")
	}
	for _, k := range report.Kinds() {
		if needs.Has(k.Part) && !made.Has(k.Part) {
			names = append(names, k.Name)
		}
	}
	return names
}
