package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// newestStage returns the newest run's stage of that name.
func (d device) newestStage(name string) (stage, devRun, bool) {
	for _, r := range d.Runs {
		if s, ok := r.Stages[name]; ok {
			return s, r, true
		}
	}
	return stage{}, devRun{}, false
}

// writeStages says what became of each stage, in the newest run that has it.
func writeStages(b *bytes.Buffer, d device) {
	b.WriteString("\n| stage | state | rows | failed | commit | driver |\n|---|---|--:|--:|---|---|\n")
	for _, name := range stages {
		s, r, ok := d.newestStage(name)
		if !ok {
			fmt.Fprintf(b, "| %s | not run yet | | | | |\n", name)
			continue
		}
		n, failed := s.rows()
		state := s.Status
		if s.Reason != "" {
			state += ": " + cellText(s.Reason)
		}
		fmt.Fprintf(b, "| %s | %s | %d | %d | %s | %s |\n", name, state, n, failed, r.commit(), s.Driver)
	}
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// writeSelftest says how much of the product of tactics and layers was checked.
func writeSelftest(b *bytes.Buffer, d device) {
	for _, name := range []string{"pairs", "selftest"} {
		s, r, ok := d.newestStage(name)
		if !ok || s.summary() == nil {
			continue
		}
		what := "Selftest"
		if name == "pairs" {
			what = "One layer for each tactic"
		}
		sum := s.summary()
		fmt.Fprintf(b, "\n%s, commit %s: %d of %d pairs of a tactic and a layer ran, %d of %d tactics, each in %d repetitions against\nthe layer's definition; %d failed.\n",
			what, r.commit(), sum.Ran, sum.Pairs, sum.Seen, sum.Tactics, sum.Reps, sum.Failed)
	}
}

// writeSweep says how the cost model's times compare with the device's, by the family of the tactics: a ratio of 2 means that
// a launch took twice as long as the model says.
func writeSweep(b *bytes.Buffer, d device) {
	s, r, ok := d.newestStage("sweep")
	if !ok {
		return
	}
	ratios := map[string][]float64{}
	for _, row := range s.Rows {
		if row.PredictedUS > 0 && row.MeasuredUS > 0 {
			family := family(row.Tactic)
			ratios[family] = append(ratios[family], row.MeasuredUS/row.PredictedUS)
		}
	}
	if len(ratios) == 0 {
		return
	}
	fmt.Fprintf(b, "\nTimes of tactics over those of the cost model, commit %s, on the layers of ResNet-50 and matrix products:\n\n| tactics | pairs | lowest tenth | median | highest tenth |\n|---|--:|--:|--:|--:|\n", r.commit())
	for _, name := range slices.Sorted(maps.Keys(ratios)) {
		list := ratios[name]
		slices.Sort(list)
		at := func(share float64) string { return fmt.Sprintf("%.2f", list[int(share*float64(len(list)-1)+0.5)]) }
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s |\n", name, len(list), at(0.1), at(0.5), at(0.9))
	}
}

// family is a tactic's name up to its tile: "conv_f16_mma" of "conv_f16_mma_128x64x128_s3_k4".
func family(tactic string) string {
	parts := strings.Split(tactic, "_")
	for i, p := range parts {
		if p != "" && p[0] >= '0' && p[0] <= '9' {
			return strings.Join(parts[:i], "_")
		}
	}
	return tactic
}

// writeTools says what NVIDIA's tools found: of wrong kernels, or the longest launches of a network.
func writeTools(b *bytes.Buffer, d device) {
	s, r, ok := d.newestStage("tools")
	if !ok || len(s.Rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\nNVIDIA's tools on commit %s:\n\n| tool | kernel | us | |\n|---|---|--:|---|\n", r.commit())
	for _, row := range s.Rows {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", row.Tool, cellText(row.Tactic+row.Name), number(row.US), cellText(row.Value))
	}
}

// writeComparisons says how far the outputs of whole networks are from the CPU's.
func writeComparisons(b *bytes.Buffer, d device) {
	s, r, ok := d.newestStage(ours)
	if !ok || !slices.ContainsFunc(s.Rows, func(r row) bool { return r.Compared != "" }) {
		return
	}
	fmt.Fprintf(b, "\nOutputs of commit %s beside the CPU's in the same precision, one item:\n\n| model | precision | max abs | SQNR dB | |\n|---|---|--:|--:|---|\n", r.commit())
	for _, row := range s.Rows {
		if row.Compared == "" {
			continue
		}
		note := ""
		switch {
		case row.failed():
			note = strings.TrimSpace("failed " + row.Error)
		case row.MaxAbs == 0:
			note = "equal"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", row.Compared, row.Precision, number(row.MaxAbs), number(row.SQNRdB), cellText(note))
	}
}

// summed are the checks of bringup that have many rows of one kind, of which the page has the fastest or the sum; it has every
// row of the others, those that it does not know among them. What the device is stands at its head.
var summed = map[string]bool{"": true, "device": true, "gemm": true, "jit": true} // "" is the summary

// writeBringup shows what the device reaches: of the large products the fastest of each type, of the compiler the sum; and what
// failed.
func writeBringup(b *bytes.Buffer, d device) {
	s, r, ok := d.newestStage("bringup")
	if !ok || len(s.Rows) == 0 {
		return
	}
	best := map[string]float64{}
	for _, row := range s.Rows {
		if row.Check == "gemm" {
			best[elements(row.Name)] = max(best[elements(row.Name)], row.TFLOPs)
		}
	}
	fmt.Fprintf(b, "\nBring-up of commit %s:\n\n| check | what | number | us each | host us | GB/s | TFLOP/s | |\n|---|---|--:|--:|--:|--:|--:|---|\n", r.commit())
	for _, row := range s.Rows {
		fastest := row.Check == "gemm" && row.TFLOPs > 0 && row.TFLOPs == best[elements(row.Name)]
		if all := row.Check == "jit" && row.Name == "all"; summed[row.Check] && !fastest && !all && !row.failed() {
			continue
		}
		note := row.Value
		if row.failed() {
			note = strings.TrimSpace("failed: " + row.Error)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", row.Check, cellText(row.Name), number(float64(row.Count)),
			number(row.EachUS), number(row.HostUS), number(row.GBs), number(row.TFLOPs), cellText(note))
	}
}

// elements returns the type and unit in a tactic's name: "f16_mma" of "gemm_linear_f16_mma_128x128x128_s3".
func elements(tactic string) string {
	parts := strings.Split(tactic, "_")
	if len(parts) < 4 {
		return tactic
	}
	return parts[2] + "_" + parts[3]
}

// number shows a figure in as many digits as one reads; nothing where there is none.
func number(x float64) string {
	switch {
	case x == 0:
		return ""
	case x >= 100 || x == float64(int(x)):
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
