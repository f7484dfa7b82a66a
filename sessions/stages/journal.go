package stages

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// A build's log has a line for each stage that was run, which a stage whose result was still there was not: what came of
// it and how long it took. What belongs to a line follows it, after a newline each.

// Journal writes the log of a build.
type Journal struct {
	Write  func(report.LogLine) // nil: nobody reads it
	hushed *int                 // counts the lines that are left out; nil: none is
}

// say adds a line, if somebody reads it.
func (j *Journal) say(level, layer, format string, args ...any) {
	if j.hushed != nil && level == "info" {
		*j.hushed++
	} else if j.Write != nil {
		j.Write(report.LogLine{Time: time.Now(), Level: level, Text: fmt.Sprintf(format, args...), Layer: layer})
	}
}

// AsOne does work of several stages that has one line, if there was anything to do.
func (j *Journal) AsOne(what string, work func() error) error {
	begin, lines, outer := time.Now(), 0, j.hushed
	j.hushed = &lines
	err := work()
	j.hushed = outer
	if err == nil && lines > 0 {
		j.say("info", "", "%s in %s", what, took(begin))
	}
	return err
}

// took writes the time since begin.
func took(begin time.Time) string { return report.Duration(time.Since(begin)) }

// Size writes a number of bytes in binary units.
func Size(n int) string { return run.Bytes(int64(n)) }

// Opened tells what was opened.
func (j *Journal) Opened(m *model.Model) {
	n := 0
	for _, t := range m.Network.Consts() {
		n += numeric.Count(symbolic.Eval(t.Dims, nil))
	}
	name := m.Path
	if name == "embedded" {
		name = m.Network.Name + " (embedded)"
	}
	text := fmt.Sprintf("%s: %s, %d parameters, file of %s", name, config.CountOf(len(m.Network.AllLayers()), "layer", "layers"), n, Size(int(m.Bytes)))
	if m.Opened > 0 {
		text = "opened " + text + ", in " + report.Duration(m.Opened)
	}
	for _, side := range []struct {
		name    string
		tensors []*graph.Tensor
	}{{"input", m.Network.Inputs}, {"output", m.Network.Outputs}} {
		for _, t := range side.tensors {
			text += fmt.Sprintf("\n%-6s %s %v%s", side.name, t.Name, t.Type, symbolic.Format(t.Dims))
		}
	}
	j.say("info", "", "%s", text)
	for _, note := range m.Notes {
		j.say("warning", "", "%s", note)
	}
}

// passes tells which passes did something.
func (j *Journal) passes(what string, before int, steps []pass.Step, begin time.Time) {
	if len(steps) == 0 {
		return
	}
	last := len(steps[len(steps)-1].After.Layers)
	from := config.CountOf(before, "layer", "layers")
	if placed := len(steps[0].Before.Layers); placed != before {
		from += fmt.Sprintf(", %d with quantisation,", placed)
	}
	text := fmt.Sprintf("%s: %s to %d by %s in %s", what, from, last, config.CountOf(len(steps), "pass", "passes"), took(begin))
	for _, st := range steps {
		if len(st.Fired) > 0 {
			text += fmt.Sprintf("\n%-24s %4d done, %d to %d layers", st.Pass, len(st.Fired), len(st.Before.Layers), len(st.After.Layers))
		}
		off := 0
		for _, m := range st.Missed {
			if m.Reason == pass.Disabled {
				off++
			}
		}
		if off > 0 {
			text += fmt.Sprintf("\n%-24s %4d switched off", st.Pass, off)
		}
	}
	j.say("info", "", "%s", text)
}

// mostLeft is how many layers with another precision are told of one by one.
const mostLeft = 12

// lowering tells what precision layers got, and why some got another one than was asked for.
func (j *Journal) lowering(p config.Precision, o *build.Optimized, l *build.Lowered, begin time.Time) {
	j.passes("lowered to "+string(p), len(o.Network.AllLayers()), l.Steps, begin)
	counts := map[string]int{}
	for _, layer := range l.Network.Layers {
		counts[describe.PrecisionOf(layer)]++
	}
	var parts []string
	for _, t := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d in %s", counts[t], t))
	}
	j.say("info", "", "%s: %s", config.CountOf(len(l.Network.AllLayers()), "engine layer", "engine layers"), strings.Join(parts, ", "))
	if p == config.FP32 {
		return
	}
	asked, _ := p.DataType()
	left := describe.Unlowered(asked, o, l)
	for i, u := range left {
		if i == mostLeft {
			j.say("info", "", "and %d more layers not in %s, which the report of the passes lists", len(left)-i, p)
			break
		}
		j.say("info", u.Layer, "in %s: %s", u.Precision, u.Reason)
	}
}

// chosen tells what was tried, and what was taken.
func (j *Journal) chosen(list []build.Tried) {
	for _, t := range list {
		j.say("info", "", "tried on %s held out: %s", config.CountOf(t.Items, "item", "items"), t)
	}
}

// collected tells what activations were seen.
func (j *Journal) collected(hist map[string]*quant.Histogram, items int, data string, begin time.Time) {
	j.say("info", "", "collected activations of %s from %s (%s) in %s",
		config.CountOf(len(hist), "tensor", "tensors"), config.CountOf(items, "item", "items"), data, took(begin))
}

// tactics tells how the tactics of a plan were chosen, and which of them could not be timed.
func (j *Journal) tactics(p *run.Plan, estimated bool, hits, timed int, begin time.Time) {
	how := fmt.Sprintf("%d timed, %d from the timing cache", timed, hits)
	if estimated {
		how = "by the cost model, untimed"
	}
	failed := 0
	for _, st := range p.Steps {
		for _, c := range st.Candidates {
			if !c.Failed {
				continue
			}
			if failed++; failed <= mostLeft {
				j.say("warning", st.Name, "tactic %s failed: %s", c.Tactic, c.Reason)
			}
		}
	}
	if failed > 0 {
		how += fmt.Sprintf(", %d failed", failed)
	}
	j.say("info", "", "chose tactics in %s: %s", took(begin), how)
}

// planned tells what a plan has and needs.
func (j *Journal) planned(p *run.Plan) {
	m := p.Memory
	j.say("info", "", "planned %s", describe.Counts(p, 0).Text())
	text := fmt.Sprintf("arena: peak %s, lower bound %s, without reuse %s", Size(m.Peak), Size(m.LowerBound), Size(m.Naive))
	if m.Workspace > 0 {
		text += ", workspace " + Size(m.Workspace)
	}
	j.say("info", "", "%s", text)
}

// Timings tells what came of a measurement.
func (j *Journal) Timings(r *report.Timings, begin time.Time) {
	e := r.EndToEnd
	if r.Estimated {
		j.say("info", "", "estimated latency %s", report.Duration(e.Median))
		return
	}
	level, text := "info", ""
	if e.Unstable() {
		level, text = "warning", ", unstable: other work on the machine?"
	}
	j.say(level, "", "measured %s in %s: median %s, p99 %s, CV %.1f%%%s",
		config.CountOf(r.Samples, "inference", "inferences"), took(begin), report.Duration(e.Median), report.Duration(e.P99), 100*e.CV, text)
}

// Accuracy tells how an engine compares with FP32.
func (j *Journal) accuracy(r *report.Accuracy, begin time.Time) {
	with := "FP32"
	if r.Alone {
		with = "the labels alone"
	}
	text := fmt.Sprintf("compared with %s on %s in %s", with, config.CountOf(r.Items, "item", "items"), took(begin))
	if r.Labels.Agreement >= 0 {
		text += fmt.Sprintf(": agreement %.1f%%", 100*r.Labels.Agreement)
	}
	if r.Labels.Top1 >= 0 {
		text += fmt.Sprintf(", top-1 %.1f%%", 100*r.Labels.Top1)
	}
	if d := r.Labels.Detection; d != nil {
		text += fmt.Sprintf(", mAP %.1f%%", 100*d.MAP)
	}
	if p := r.Labels.Perplexity; p != nil {
		text += fmt.Sprintf(", perplexity %.2f", *p)
	}
	j.say("info", "", "%s", text)
	bad := 0
	for _, l := range r.Layers {
		if l.Accumulated.SQNR < r.Tolerance {
			bad++
			if bad == 1 {
				j.say("warning", l.Name, "the first layer whose accumulated error is over the tolerance: %.1f dB, under %.0f", l.Accumulated.SQNR, r.Tolerance)
			}
		}
	}
}
