package overview

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/timings"
	"github.com/trtui/trtui/views/words"
)

// summaryView states the numbers that an engine is judged by.
type summaryView struct {
	in     pane.Input
	beside func(*report.Snapshot) time.Duration // its latency in rounds beside others; see trials.List
}

func (v *summaryView) Title() string { return "Summary" }

func (v *summaryView) Note() (string, ui.Style) { return v.in.Note("") }

func (v *summaryView) Keys() []ui.Key { return nil }

func (v *summaryView) Update(msg tea.Msg) tea.Cmd { v.in.Take(msg); return nil }

func (v *summaryView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Refused() {
			v.drawRefused(c)
			return
		}
		if v.in.Snap.Overview == nil || v.in.Snap.Timings == nil {
			v.in.Wait(c, "latency")
			return
		}
		summaryFacts(v.in.Snap, v.beside(v.in.Snap)).Draw(c)
	})
}

// drawRefused says why there is nothing but a graph, and what is known of the model all the same.
func (v *summaryView) drawRefused(c *ui.Canvas) {
	m := v.in.Snap.Model
	y := pane.WhyRefused(c, 0, ui.Bad, string(c.Glyphs().Warn)+" not runnable: "+m.NotRunnable)
	facts := ui.Facts{{Name: "layers", Value: ui.Count(len(m.Layers)), Note: blockedNote(m)}}
	if m.FLOPs > 0 {
		facts = append(facts, ui.Fact{Name: "arithmetic", Value: ui.Quantity(float64(m.FLOPs), "FLOP"), Note: "per inference, for the layers with known shapes"})
	}
	facts = append(facts,
		ui.Fact{Name: "weights", Value: ui.Count(int(m.Params)), Note: "parameters"},
		ui.Fact{Name: "file", Value: ui.Bytes(m.Bytes)})
	facts.Draw(c.Sub(ui.Rect{X: 0, Y: y + 1, W: c.W, H: max(c.H-y-1, 0)}))
}

// blockedNote counts the layers that depend on those that are not supported and whose shapes are not known for that.
func blockedNote(m *report.Model) string {
	n := 0
	for _, l := range m.Unsupported {
		if l.Behind != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d blocked by unsupported layers", n)
}

// summaryFacts lists what matters most first, since a small pane shows only the first few. beside is the latency in rounds with others
// where that is another one, and otherwise 0.
func summaryFacts(s *report.Snapshot, beside time.Duration) ui.Facts {
	o, t := s.Overview, s.Timings
	e := t.EndToEnd
	basis := "median of " + ui.Count(t.Samples)
	switch {
	case e.Count == 0 && t.Summed:
		basis = "the sum of the layers' medians"
	case t.Estimated:
		basis = "estimated from simulated counts"
	case pane.CutShort(s) > 0:
		basis += ", stopped"
	}
	facts := ui.Facts{
		{Name: "latency", Value: ui.Duration(e.Median), Style: ui.Bold, Note: basis},
		{Name: "in rounds", Value: ui.Duration(beside), Note: "beside others, as they are compared"},
		{Name: "p99", Value: ui.Duration(e.P99), Note: fmt.Sprintf("%s to %s", ui.Duration(e.Min), ui.Duration(e.Max))},
		{Name: "throughput", Value: ui.Number(o.Throughput) + "/s", Note: throughputNote(o)},
		{Name: "in layers", Value: ui.Duration(t.InLayers()), Note: gapText(t)},
		{Name: "launches", Value: ui.Count(o.Launches), Note: countsNote(o.Counts)},
	}
	facts = append(facts, splitFacts(t.Inference)...)
	facts = append(facts, accuracyFacts(s)...)
	if m := s.Model; m != nil {
		if e.Median > 0 && m.FLOPs > 0 {
			facts = append(facts, ui.Fact{Name: "arithmetic", Value: ui.Quantity(float64(m.FLOPs)/e.Median.Seconds(), "FLOP/s"),
				Note: ui.Quantity(float64(m.FLOPs), "FLOP per inference")})
		}
		facts = append(facts, ui.Fact{Name: "weights", Value: ui.Bytes(int64(o.Memory.Weights)), Note: parametersNote(m)})
	}
	if f := o.Contents; f != nil {
		facts = append(facts, ui.Fact{Name: "file", Value: ui.Bytes(int64(f.Bytes)), Note: fileNote(f)})
	}
	facts = append(facts,
		ui.Fact{Name: "mean", Value: ui.Duration(e.Mean), Note: fmt.Sprintf("p90 %s, p95 %s", ui.Duration(e.P90), ui.Duration(e.P95))},
		ui.Fact{Name: "CV", Value: words.Percent(e.CV), Style: timings.CVStyle(e.CV), Note: cvNote(e.CV)},
		ui.Fact{Name: "built in", Value: ui.Duration(o.BuildTime)},
		ui.Fact{Name: "device", Value: s.Device.Backend, Note: deviceText(s.Device)})
	if s.Model != nil {
		facts = append(facts, dataFact(s.Model))
	}
	var unknown []string
	if t.Estimated || e.Count == 0 && t.Summed { // one figure, which does not vary
		unknown = append(unknown, "p99", "mean", "CV")
	}
	if beside == 0 {
		unknown = append(unknown, "in rounds")
	}
	if s.Viewed() != "" {
		unknown = append(unknown, "built in", "data")
	}
	facts = slices.DeleteFunc(facts, func(f ui.Fact) bool { return slices.Contains(unknown, f.Name) })
	return facts
}

// throughputNote says of what the throughput is, and by which latency.
func throughputNote(o *report.Overview) string {
	note := fmt.Sprintf("items, batch %d, at the median", o.Batch)
	if o.Overlapped {
		note = fmt.Sprintf("items, batch %d, with inferences that overlap", o.Batch)
	}
	return note
}

// parametersNote counts the elements of constants, where that is known.
func parametersNote(m *report.Model) string {
	if m.Viewed != "" {
		return "as far as the layers tell"
	}
	return ui.Count(int(m.Params)) + " parameters"
}

// fileNote tells of what an engine file consists.
func fileNote(f *report.File) string {
	note := fmt.Sprintf("source weights %s, the plan's %s", ui.Bytes(int64(f.Source)), ui.Bytes(int64(f.Plans)))
	if f.Code > 0 {
		note += ", kernels " + ui.Bytes(int64(f.Code))
	}
	return note
}

// countsNote tells what the launches are made of.
func countsNote(c report.Counts) string {
	note := c.Of()
	if sum := c.Sum(); sum != "" {
		note += ", " + sum
	}
	return note
}

// splitFacts states what an inference takes besides computing whose data is in the caller's memory.
func splitFacts(s *report.InferenceSplit) ui.Facts {
	if s == nil {
		return nil
	}
	enqueue := ui.Fact{Name: "enqueue", Value: "n/a", Note: "(CPU backend)"}
	if !s.InPlace {
		share := float64(s.Enqueue) / float64(max(s.Compute, 1))
		enqueue = ui.Fact{Name: "enqueue", Value: ui.Duration(s.Enqueue), Note: words.Percent(share) + " of compute time"}
		if share > report.EnqueueBound {
			enqueue.Style, enqueue.Note = ui.Warn, enqueue.Note+": over 80%"
		}
	}
	return ui.Facts{
		{Name: "copies", Value: ui.Duration(s.H2D + s.D2H),
			Note: fmt.Sprintf("in %s, out %s; compute %s", ui.Duration(s.H2D), ui.Duration(s.D2H), ui.Duration(s.Compute))},
		enqueue,
	}
}

// accuracyFacts states how well the engine predicts, as far as the data lets one say.
func accuracyFacts(s *report.Snapshot) ui.Facts {
	a := s.Accuracy
	if a == nil {
		return nil
	}
	fp32 := func(value string) string {
		if a.Alone {
			return "no FP32: engine without its model"
		}
		return "FP32 " + value
	}
	var facts ui.Facts
	l := a.Labels
	if l.Top1 >= 0 {
		top1 := ui.Fact{Name: "top-1", Value: words.Percent(l.Top1), Style: ui.Bold, Note: fp32(words.Percent(l.FP32Top1))}
		if c := s.Guesses(); c != nil {
			top1.Style, top1.Note = ui.Warn, fmt.Sprintf("a guess: up to %s of %d classes; %s", words.Percent(c.Bound), c.Classes, top1.Note)
		}
		facts = append(facts, top1)
	}
	if d := l.Detection; d != nil {
		facts = append(facts, ui.Fact{Name: "mAP", Value: words.Percent(d.MAP), Style: ui.Bold, Note: fp32(words.Percent(d.FP32MAP))})
	}
	if l.Perplexity != nil && (a.Alone || l.FP32Perplexity != nil) {
		facts = append(facts, ui.Fact{Name: "perplexity", Value: words.Perplexity(l.Perplexity), Note: fp32(words.Perplexity(l.FP32Perplexity))})
	}
	if l.Agreement >= 0 {
		facts = append(facts, ui.Fact{Name: "agreement", Value: words.Percent(l.Agreement), Note: fmt.Sprintf("with %s on %s", a.Against(), words.Plural(a.Items, "item"))})
	} else if l.Unclassed != "" {
		facts = append(facts, ui.Fact{Name: "agreement", Value: "none", Note: "the outputs are no classes"})
	}
	if first := a.First(); first != nil {
		facts = append(facts, ui.Fact{Name: "output SQNR", Value: sqnrText(first.SQNR), Note: "against " + a.Against()})
	} else if len(a.Unlike) > 0 {
		facts = append(facts, ui.Fact{Name: "output SQNR", Value: "none", Note: a.Unlike[0].Why()})
	}
	if s.Stale.Has(report.PartAccuracy) { // the facts above them are up to date before these are
		how := " stale"
		if s.Preview.Has(report.PartAccuracy) {
			how = " nearest"
		}
		for i := range facts {
			facts[i].Style, facts[i].Value = ui.Muted, facts[i].Value+how
		}
	}
	return facts
}

func sqnrText(v float64) string {
	if v >= words.ExactSQNR {
		return "exact"
	}
	return words.Decibels(v) + " dB"
}

// gapText states what part of the latency the layers do not account for.
func gapText(t *report.Timings) string {
	if t.EndToEnd.Median == 0 || t.Estimated {
		return ""
	}
	text := fmt.Sprintf("gap %s, %s", ui.Duration(t.Gap), words.Percent(float64(t.Gap)/float64(t.EndToEnd.Median)))
	if why := timings.BelowZero(t); why != "" {
		text += ": " + why
	}
	if t.Apart() {
		text = fmt.Sprintf("medians sum to %s, ", ui.Duration(t.SumMedian)) + text
	}
	return text
}

func cvNote(cv float64) string {
	if cv > report.UnstableCV {
		return "unstable: over 2.5%"
	}
	return "standard deviation over mean"
}

func deviceText(d report.Device) string { return threadsText(d.Device, d.Threads) }

// threadsText names what computes, with its threads where it has any, as a GPU has not.
func threadsText(name string, threads int) string {
	if threads > 0 {
		return fmt.Sprintf("%s, %s", name, words.Plural(threads, "thread"))
	}
	return name
}

func dataFact(m *report.Model) ui.Fact {
	f := ui.Fact{Name: "data", Value: words.Plural(m.Items, "item"), Note: m.Data}
	if m.Images != "" {
		f.Note += ", " + m.Images
	}
	switch {
	case m.Data == "":
		f.Value = "none"
	case m.Random:
		f.Note += ": accuracy is not meaningful, only agreement is"
	case m.CalItems == 0: // a file of ranges has no items
	case m.Shared == 0:
		f.Note += fmt.Sprintf(", %d others for calibration", m.CalItems)
	case m.Shared < m.CalItems:
		f.Note += fmt.Sprintf(", %d for calibration, %d of which are evaluated, too", m.CalItems, m.Shared)
	case m.CalItems < m.Items:
		f.Note += fmt.Sprintf(", %d of them for calibration, too", m.CalItems)
	default:
		f.Note += ", the same for calibration"
	}
	return f
}
