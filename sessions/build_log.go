package sessions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// A build's log has a line for each stage that was run, which a stage whose result was still there was not: what came of
// it and how long it took. What belongs to a line follows it, after a newline each.

// say adds a line to the log of the build, if somebody reads it.
func (s *stages) say(level, layer, format string, args ...any) {
	if s.hushed != nil && level == "info" {
		*s.hushed++
	} else if s.Log != nil {
		s.Log(report.LogLine{Time: time.Now(), Level: level, Text: fmt.Sprintf(format, args...), Layer: layer})
	}
}

// asOne does work of several stages that has one line in the log, if there was anything to do.
func (s *stages) asOne(what string, work func() error) error {
	begin, lines := time.Now(), 0
	s.hushed = &lines
	err := work()
	s.hushed = nil
	if err == nil && lines > 0 {
		s.say("info", "", "%s in %s", what, took(begin))
	}
	return err
}

// took writes a time as one reads it at a glance, three digits at most.
func took(begin time.Time) string { return brief(time.Since(begin)) }

func brief(d time.Duration) string {
	unit := time.Microsecond
	for unit*1000 < d {
		unit *= 10
	}
	return d.Round(unit).String()
}

// size writes a number of bytes in binary units.
func size(n int) string { return run.Bytes(int64(n)) }

// nameOf names a configuration.
func (s *stages) nameOf(cfg config.Config) string { return cfg.Label(s.model.Quantized) }

// logModel tells what was opened.
func (s *stages) logModel() {
	m := s.model
	n := 0
	for _, t := range m.Network.Consts() {
		n += graph.Count(graph.EvalDims(t.Dims, nil))
	}
	name := m.Path
	if name == "embedded" {
		name = m.Network.Name + " (embedded)"
	}
	text := fmt.Sprintf("%s: %s, %d parameters, file of %s", name, config.CountOf(len(m.Network.Layers), "layer", "layers"), n, size(int(m.Bytes)))
	if m.Opened > 0 {
		text = "opened " + text + ", in " + brief(m.Opened)
	}
	for _, side := range []struct {
		name    string
		tensors []*graph.Tensor
	}{{"input", m.Network.Inputs}, {"output", m.Network.Outputs}} {
		for _, t := range side.tensors {
			text += fmt.Sprintf("\n%-6s %s %v%s", side.name, t.Name, t.Type, graph.FormatDims(t.Dims))
		}
	}
	s.say("info", "", "%s", text)
}

// logPasses tells which passes did something.
func (s *stages) logPasses(what string, before int, steps []pass.Step, begin time.Time) {
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
	s.say("info", "", "%s", text)
}

// mostLeft is how many layers with another precision are told of one by one.
const mostLeft = 12

// logLowering tells what precision layers got, and why some got another one than was asked for.
func (s *stages) logLowering(cfg config.Config, o *build.Optimized, l *build.Lowered, begin time.Time) {
	s.logPasses("lowered to "+string(cfg.Precision), len(o.Network.Layers), l.Steps, begin)
	counts := map[string]int{}
	for _, layer := range l.Network.Layers {
		counts[precisionOf(layer)]++
	}
	var parts []string
	for _, t := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d in %s", counts[t], t))
	}
	s.say("info", "", "%s: %s", config.CountOf(len(l.Network.Layers), "engine layer", "engine layers"), strings.Join(parts, ", "))
	if cfg.Precision == config.FP32 {
		return
	}
	asked, _ := cfg.Precision.DataType()
	left := unlowered(asked, o, l.Decisions)
	for i, u := range left {
		if i == mostLeft {
			s.say("info", "", "and %d more layers not in %s; trtui inspect passes lists them", len(left)-i, cfg.Precision)
			break
		}
		s.say("info", u.Layer, "in %s: %s", u.Precision, u.Reason)
	}
}

// logCollected tells what activations were seen.
func (s *stages) logCollected(hist map[string]*quant.Histogram, items int, begin time.Time) {
	s.say("info", "", "collected activations of %s from %s (%s) in %s",
		config.CountOf(len(hist), "tensor", "tensors"), config.CountOf(items, "item", "items"), s.CalData.Name(), took(begin))
}

// logTactics tells how the tactics of a plan were chosen, and which of them could not be timed.
func (s *stages) logTactics(p *run.Plan, hits, timed int, begin time.Time) {
	how := fmt.Sprintf("%d timed, %d from the timing cache", timed, hits)
	if s.Backend.Info().Estimated {
		how = "by the cost model, untimed"
	}
	failed := 0
	for _, st := range p.Steps {
		for _, c := range st.Candidates {
			if !c.Failed {
				continue
			}
			if failed++; failed <= mostLeft {
				s.say("warning", st.Name, "tactic %s failed: %s", c.Tactic, c.Reason)
			}
		}
	}
	if failed > 0 {
		how += fmt.Sprintf(", %d failed", failed)
	}
	s.say("info", "", "chose tactics in %s: %s", took(begin), how)
}

// logCode tells where the code came from that a backend has bound since it had bound before, and once that files of
// compiled code cannot be used.
func (s *stages) logCode(before run.CodeUse) {
	now := s.codeUse()
	if compiled, filed := now.Compiled-before.Compiled, now.Filed-before.Filed; compiled+filed > 0 {
		s.say("info", "", "compiled %s, %d from the code cache", config.CountOf(compiled, "kernel", "kernels"), filed)
	}
	if now.Err != nil && s.unfiled == nil {
		if s.unfiled = now.Err; s.Warn != nil {
			s.Warn(now.Err.Error())
		}
	}
}

// codeUse is where the backend's code came from; nothing where it compiles none.
func (s *stages) codeUse() run.CodeUse {
	if c, ok := s.Backend.(run.Compiler); ok {
		return c.CodeUse()
	}
	return run.CodeUse{}
}

// compiling says how many of the kernels to be timed are compiled, and how many of them need not be.
func (s *stages) compiling(done, total int, before run.CodeUse) report.Progress {
	p := report.Progress{Phase: "compiling kernels", Done: done, Total: total}
	if filed := s.codeUse().Filed - before.Filed; filed > 0 {
		p.Item = fmt.Sprintf("%d from the code cache", filed)
	}
	return p
}

// logPlan tells what a plan has and needs.
func (s *stages) logPlan(p *run.Plan) {
	m := p.Memory
	s.say("info", "", "planned %s", countSteps(p, 0).Text())
	text := fmt.Sprintf("arena: peak %s, lower bound %s, without reuse %s", size(m.Peak), size(m.LowerBound), size(m.Naive))
	if m.Workspace > 0 {
		text += ", workspace " + size(m.Workspace)
	}
	s.say("info", "", "%s", text)
}

// logTimings tells what came of a measurement.
func (s *stages) logTimings(r *report.Timings, begin time.Time) {
	e := r.EndToEnd
	if r.Estimated {
		s.say("info", "", "estimated latency %s", brief(e.Median))
		return
	}
	level, text := "info", ""
	if e.CV > unstableCV {
		level, text = "warning", ", unstable: other work on the machine?"
	}
	s.say(level, "", "measured %s in %s: median %s, p99 %s, CV %.1f%%%s",
		config.CountOf(r.Samples, "inference", "inferences"), took(begin), brief(e.Median), brief(e.P99), 100*e.CV, text)
}

// logAccuracy tells how an engine compares with FP32.
func (s *stages) logAccuracy(r *report.Accuracy, begin time.Time) {
	text := fmt.Sprintf("compared with FP32 on %s in %s", config.CountOf(r.Items, "item", "items"), took(begin))
	if r.Labels.Agreement >= 0 {
		text += fmt.Sprintf(": agreement %.1f%%", 100*r.Labels.Agreement)
	}
	if r.Labels.Top1 >= 0 {
		text += fmt.Sprintf(", top-1 %.1f%%", 100*r.Labels.Top1)
	}
	s.say("info", "", "%s", text)
	bad := 0
	for _, l := range r.Layers {
		if l.Accumulated.SQNR < r.Tolerance {
			bad++
			if bad == 1 {
				s.say("warning", l.Name, "the first layer whose accumulated error is over the tolerance: %.1f dB, under %.0f", l.Accumulated.SQNR, r.Tolerance)
			}
		}
	}
}
