package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/generate"
	"github.com/trtui/trtui/sessions/report"
)

// phaseTime is how long each phase of a language model is measured.
const phaseTime = 500 * time.Millisecond

// phasesOf measures the layers of a language model in each of its phases.
func phasesOf(ctx context.Context, m *generate.Model, estimated bool) ([]report.Phase, error) {
	p := run.Profiling{WarmUp: warmUp, Iterations: 5, Duration: phaseTime}
	if estimated {
		p = run.Profiling{Iterations: 1}
	}
	measured, err := m.Profile(ctx, p)
	if err != nil {
		return nil, err
	}
	var list []report.Phase
	for _, ph := range measured {
		t := describe.TimingsOf(ph.Plan, ph.Latency, ph.Steps, estimated)
		list = append(list, report.Phase{Name: ph.Name, Tokens: ph.Tokens, Latency: t.EndToEnd, Layers: t.Layers})
	}
	return list, nil
}

// writePhases prints the times of layers side by side, the slowest of the last phase first; the phases' plans have most layers in
// common.
func writePhases(w io.Writer, list []report.Phase) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w)
	header, last := []string{"@layer"}, list[len(list)-1]
	for _, p := range list {
		fmt.Fprintf(w, "%s, %s at once: median %s ms, %s ms a token\n", p.Name, count(p.Tokens, "token"), ms(p.Latency.Median), ms(p.Latency.Median/time.Duration(max(1, p.Tokens))))
		header = append(header, ">"+p.Name+" µs", ">share %", "tactic")
	}
	fmt.Fprintln(w)
	layers := slices.Clone(last.Layers)
	slices.SortStableFunc(layers, func(a, b report.LayerTiming) int { return int(b.Median - a.Median) })
	names := map[string]bool{}
	for _, l := range last.Layers {
		names[l.Name] = true
	}
	for _, p := range list[:len(list)-1] {
		for _, l := range p.Layers {
			if !names[l.Name] {
				names[l.Name] = true
				layers = append(layers, l)
			}
		}
	}
	var rows [][]string
	for _, l := range layers {
		row := []string{short(l.Name)}
		for _, p := range list {
			i := slices.IndexFunc(p.Layers, func(o report.LayerTiming) bool { return o.Name == l.Name })
			if i < 0 {
				row = append(row, "", "", "")
				continue
			}
			row = append(row, us(p.Layers[i].Median), fmt.Sprintf("%.1f", 100*p.Layers[i].Share), p.Layers[i].Tactic)
		}
		rows = append(rows, row)
	}
	writeTable(w, header, rows)
}
