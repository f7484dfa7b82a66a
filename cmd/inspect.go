package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

func inspectCommand(t tables) *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Look at a model, its passes, engine, memory, tactics, timing cache and kernels, at a recording, or at what trtexec wrote",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("inspect has no subcommand %q; name one of %s", args[0], strings.Join(subcommands(c), ", "))
			}
			return nil
		},
		Example: examples("the graph of a model", "trtui inspect model model.onnx",
			"why layers were not fused", "trtui inspect passes model.onnx --precision int8",
			"what a recording holds", "trtui inspect recording session.trtui"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	device := deviceFlags{table: t.backends}
	c.AddCommand(
		inspectPart(&modelFlags{device: device, own: t.own, lookOnly: true, partly: true}, takeInputs|takeRandom|takeShapes|takeOutput, "model", "the graph as imported", report.PartModel, writeModel),
		inspectPasses(&modelFlags{device: device, own: t.own, partly: true}),
		inspectEngine(t),
		inspectPart(onBackends(t), takeAll&^takeLabels, "memory", "where every tensor is in the arena, and when", report.PartMemory, writeMemory),
		inspectPart(onBackends(t), takeAll&^takeLabels, "tactics", "every tactic considered for every layer, last those that cannot compute it, in one line those that differ in their tile alone, as of a GPU; with --verbose one by one, in the order of the backend", report.PartTactics, writeTactics),
		inspectCache(t),
		inspectTransitions(onBackends(t)),
		inspectSensitivity(t),
		inspectKernelCommand(t),
		inspectRecordingCommand(),
		inspectPluginsCommand(),
		inspectLayersCommand(),
		inspectKeysCommand(),
	)
	return c
}

func inspectPasses(o *modelFlags) *cobra.Command {
	return inspectPart(o, takeAll&^(takeLabels|takeTactics|takeTimings|takeCode), "passes",
		"what every pass applied, what it rejected and why, with --verbose place by place, and what became of every source layer",
		report.PartPasses, func(w io.Writer, s *report.Snapshot) { writePasses(w, s, o.output.verbose) })
}

func inspectEngine(t tables) *cobra.Command {
	return inspectPart(onBackends(t), takeAll, "engine", "a summary: latency, slowest layers, precisions, memory, fusion, and the contents of an engine file",
		report.PartOverview|report.PartPasses|report.PartScore, writeEngine)
}

// subcommands returns the names of a command's subcommands.
func subcommands(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// inspectExamples are those of the parts, by name.
var inspectExamples = map[string]string{
	"model": examples("layers, shapes and parameters", "trtui inspect model model.onnx",
		"with the axes that it leaves open", "trtui inspect model model.onnx --shapes x:1x3x640x640"),
	"passes": examples("what was fused and what was not", "trtui inspect passes model.onnx",
		"without one rule", "trtui inspect passes model.onnx --disable fuse-residual",
		"which layers stay out of INT8", "trtui inspect passes model.onnx --precision int8"),
	"engine": examples("a summary of an engine file", "trtui inspect engine model.engine",
		"the same of a model in FP16, for a script", "trtui inspect engine model.onnx --precision fp16 --format json"),
	"memory": examples("the arena at batch 8", "trtui inspect memory model.onnx --batch 8"),
	"tactics": examples("the candidates of every layer with their times", "trtui inspect tactics model.onnx",
		"what a simulated GPU would choose", "trtui inspect tactics model.onnx --backend cudasim --device h100"),
}

// inspectPart is one subcommand of inspect: a part of a snapshot, as text or JSON.
func inspectPart(o *modelFlags, takes part, name, doc string, parts report.Parts, write func(io.Writer, *report.Snapshot)) *cobra.Command {
	c := &cobra.Command{
		Use:     name + " [MODEL|ENGINE|RECORDING]",
		Short:   "Show " + doc,
		Example: inspectExamples[name],
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return inspect(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), parts, write)
		},
	}
	o.register(c, takes)
	o.usual = !o.lookOnly
	return c
}

func inspect(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path string, parts report.Parts, write func(io.Writer, *report.Snapshot)) error {
	snap, err := o.report(ctx, stderr, path, parts, run.Profiling{WarmUp: warmUp, Iterations: 50, PerStep: true})
	if parts&report.PartOverview == 0 { // which has a badge
		o.tellUsual(stderr)
	}
	var missing *run.Unsupported
	if parts == report.PartTactics && errors.As(err, &missing) {
		return errors.Join(writeUnsupported(stdout, &o.output, snap.Head(), missing), errNo)
	}
	if err != nil {
		return err
	}
	if snap.Tactics != nil && !o.output.verbose {
		snap.Tactics = snap.Tactics.Fold()
	}
	if !o.output.json() {
		write(stdout, snap)
		return nil
	}
	var document any = engineDocument(snap)
	for _, k := range report.Kinds() {
		if parts == k.Part {
			document = k.Get(snap)
		}
	}
	return writeReport(stdout, snap.Head(), document)
}

// engineOutput is the JSON of trtui inspect engine, and of trtui itself where there is no terminal.
type engineOutput struct {
	report.Overview
	Ledger   ledgerOutput
	Accuracy *accuracyOutput
}

// ledgerOutput counts what became of the source layers.
type ledgerOutput struct {
	Kept, Fused, Folded, Eliminated int
	LayersSaved                     int
	BytesSaved                      int64 `output:"saved_bytes"`
}

// accuracyOutput is how an engine compares with FP32.
type accuracyOutput struct {
	Items      int
	Calibrator string               `json:",omitempty"`
	Ranges     string               `json:",omitempty"`
	Labels     report.LabelAccuracy // shares are -1 without labels
	Outputs    []report.OutputError
	Unlike     []report.UnlikeOutput `json:",omitempty"` // outputs that cannot be compared on some items
}

func engineDocument(s *report.Snapshot) engineOutput {
	var out engineOutput
	if s.Overview != nil {
		out.Overview = *s.Overview
	}
	if p := s.Passes; p != nil {
		out.Ledger = ledgerOutput{p.Kept, p.Fused, p.Folded, p.Eliminated, p.KernelsSaved, p.BytesSaved}
	}
	if a := s.Accuracy; a != nil {
		out.Accuracy = &accuracyOutput{a.Items, a.Calibrator, a.Ranges, a.Labels, a.Outputs, a.Unlike}
	}
	return out
}

func writeModel(w io.Writer, s *report.Snapshot) {
	m := s.Model
	fmt.Fprintf(w, "%s (%s, %s, %s, sha256 %.12s; graph %q)\n", m.Name, m.Path, m.Kind, bytesText(int(m.Bytes)), m.SHA256, m.Graph)
	fmt.Fprintf(w, "%s, %d parameters", count(len(m.Layers), "layer"), m.Params)
	if m.FLOPs > 0 {
		fmt.Fprintf(w, ", %s an inference", ui.Quantity(float64(m.FLOPs), "FLOP"))
	}
	fmt.Fprintln(w)
	if m.NotRunnable != "" {
		fmt.Fprintf(w, "not runnable: %s\n", ui.VisibleName(m.NotRunnable))
	}
	for _, t := range m.Inputs {
		fmt.Fprintf(w, "input  %s %s%s\n", ui.VisibleName(t.Name), t.Type, t.Dims)
	}
	for _, t := range m.Outputs {
		fmt.Fprintf(w, "output %s %s%s\n", ui.VisibleName(t.Name), t.Type, t.Dims)
	}
	fmt.Fprintln(w)
	body := ""
	for _, l := range m.Layers {
		if at := l.Inside + l.Body; at != body && l.Depth > 0 {
			fmt.Fprintf(w, "%s%s of %s:\n", strings.Repeat("    ", l.Depth-1)+"  ", ui.VisibleName(l.Body), ui.VisibleName(l.Inside))
			body = at
		}
		fmt.Fprintln(w, strings.Repeat("    ", l.Depth)+ui.VisibleName(l.Text))
	}
	writeUnimported(w, m.Unsupported)
}

// writeUnimported lists the layers that stand for nodes that cannot be imported.
func writeUnimported(w io.Writer, list []report.UnsupportedLayer) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, l := range list {
		op := l.Op
		if l.Domain != "" {
			op = l.Domain + ":" + op
		}
		rows = append(rows, []string{short(l.Layer), op, l.Reason})
	}
	writeTable(w, []string{"@not imported", "op", "reason"}, rows)
}

func writeEngine(w io.Writer, s *report.Snapshot) {
	writeLatency(w, s)
	v := s.Overview
	fmt.Fprintf(w, "%s, %s\n", v.Counts.Text(), v.Counts.Of())
	writeLedger(w, s.Passes)
	writeMemoryNumbers(w, v.Memory)
	writeProfiles(w, v.Profiles)
	writeFileNumbers(w, v.Contents)
	writeOrigin(w, v.Origin)
	writeScore(w, s.Accuracy)
	fmt.Fprintln(w)
	var rows [][]string
	for _, e := range v.Split {
		rows = append(rows, []string{e.Precision, fmt.Sprint(e.Layers), us(e.Time), bar(float64(e.Time)/float64(max(1, s.Timings.SumMedian)), 30)})
	}
	writeTable(w, []string{"precision", ">steps", ">" + estimatedMark(s.Timings.Estimated) + "µs", "~"}, rows)
	fmt.Fprintln(w)
	rows = nil
	for _, l := range v.Top {
		row := []string{short(l.Name), us(l.Time), fmt.Sprintf("%.1f", 100*l.Share), bar(l.Share/max(1e-9, v.Top[0].Share), 20)}
		if !s.Timings.Estimated {
			row = append(row, us(l.P99), fmt.Sprintf("%.1f", 100*l.CV))
		}
		rows = append(rows, append(row, l.Precision, l.Tactic))
	}
	header := []string{"@slowest layers", ">median µs", ">%", "~", "~>p99", "~>CV %", "type", "~tactic"}
	if s.Timings.Estimated { // estimates do not vary
		header = []string{"@slowest layers", ">estimated µs", ">%", "~", "type", "~tactic"}
	}
	writeTable(w, header, rows)
	writeForks(w, v.Forks, v.Dropped)
}

// writeOrigin prints what an engine file says of its making.
func writeOrigin(w io.Writer, o *report.Origin) {
	if o == nil {
		return
	}
	commit := o.Commit
	if strings.Contains(o.Program, commit) { // named already
		commit = ""
	}
	var parts []string
	for _, p := range []struct{ what, text string }{
		{"from", o.Model}, {"sha256", fmt.Sprintf("%.12s", o.ModelHash)}, {"as", o.Config}, {"ranges found on", o.Data}, {"for", o.Device}, {"on", o.Built},
		{"by", o.Program}, {"commit", commit},
	} {
		if p.text != "" {
			parts = append(parts, p.what+" "+p.text)
		}
	}
	if len(parts) > 0 {
		fmt.Fprintln(w, "built "+strings.Join(parts, ", "))
	}
	if !o.Source {
		fmt.Fprintln(w, "the model is not in the file: it runs as it is, and is not compared with FP32; trtui build --keep-source keeps the model")
	}
}

// writeScore prints how an engine compares with FP32.
func writeScore(w io.Writer, a *report.Accuracy) {
	if a == nil {
		return
	}
	if a.Calibrator != "" {
		fmt.Fprintf(w, "ranges of %s: %s\n", a.Calibrator, a.Ranges)
	}
	for _, out := range a.Outputs {
		fmt.Fprintf(w, "output %s: SQNR %s, max abs %.4g, cosine %.6f", ui.VisibleName(out.Name), ratio(out.SQNR), out.MaxAbs, out.Cosine)
		if i := out.SQNRWithin; i != nil {
			fmt.Fprintf(w, "; SQNR from %s to %s dB with 95 %% confidence", decibels(i.Low), decibels(i.High))
		}
		if out.NotFinite > 0 {
			fmt.Fprintf(w, "; %s NaN or infinite", count(int(out.NotFinite), "element"))
		}
		fmt.Fprintln(w)
	}
	for _, u := range a.Unlike {
		fmt.Fprintf(w, "output %s %s\n", ui.VisibleName(u.Name), u.Why())
	}
	labels, agreement := "no labels", ""
	if a.Labels.Top1 >= 0 {
		labels = fmt.Sprintf("labels: top-1 %s %% (FP32 %s %%)", percent(a.Labels.Top1), percent(a.Labels.FP32Top1))
	}
	if d := a.Labels.Detection; d != nil {
		labels = fmt.Sprintf("mAP %s %% (FP32 %s %%), mAP50 %s %% (FP32 %s %%), %s", percent(d.MAP), percent(d.FP32MAP), percent(d.MAP50), percent(d.FP32MAP50), boxesText(d))
	}
	if a.Labels.Tokens > 0 {
		labels = fmt.Sprintf("next tokens: perplexity %s (FP32 %s), top-1 %s %% (FP32 %s %%) of %d", known(a.Labels.Perplexity, hundredths),
			known(a.Labels.FP32Perplexity, hundredths), percent(a.Labels.Top1), percent(a.Labels.FP32Top1), a.Labels.Tokens)
	}
	if a.Labels.Agreement >= 0 {
		agreement = fmt.Sprintf(", agreement with %s %s %% of %s", a.Against(), percent(a.Labels.Agreement), count(a.Items, "item"))
	}
	if a.Labels.Unclassed != "" {
		agreement = "; no agreement of classes: " + a.Labels.Unclassed
	}
	fmt.Fprintln(w, labels+agreement)
	if s := a.Labels.BesideFP32; s != nil && a.Precision != "fp32" {
		fmt.Fprintf(w, "top-1: the engine and FP32 %s\n", s)
	}
	if d := a.Labels.Detection; d != nil && d.MAPWithin != nil {
		fmt.Fprintf(w, "mAP: from %s to %s %% with 95 %% confidence\n", percent(d.MAPWithin.Low), percent(d.MAPWithin.High))
		if d.BesideFP32 != nil && a.Precision != "fp32" {
			fmt.Fprintf(w, "mAP: the engine and FP32 %s\n", d.BesideFP32)
		}
	}
	if i := a.Labels.PerplexityWithin; i != nil {
		fmt.Fprintf(w, "perplexity: from %.2f to %.2f with 95 %% confidence\n", i.Low, i.High)
	}
}

func writeMemoryNumbers(w io.Writer, m report.MemoryNumbers) {
	fmt.Fprintf(w, "arena: peak %s, lower bound %s, without reuse %s; workspace %s, inputs and outputs %s, weights %s\n",
		bytesText(m.Peak), bytesText(m.LowerBound), bytesText(m.Naive), bytesText(m.Workspace), bytesText(m.IO), bytesText(m.Weights))
}

// writeFileNumbers prints of what an engine file consists.
func writeFileNumbers(w io.Writer, f *report.File) {
	if f != nil {
		source := ""
		if f.Source > 0 {
			source = fmt.Sprintf("source weights %s, which it can be compared with and rebuilt from; ", bytesText(f.Source))
		}
		fmt.Fprintf(w, "file %s: %sthe plan's own weights %s; kernels %s; description %s\n",
			bytesText(f.Bytes), source, bytesText(f.Plans), bytesText(f.Code), bytesText(f.Description))
	}
}

func writeMemory(w io.Writer, s *report.Snapshot) {
	m := s.Memory
	writeHeading(w, s)
	writeMemoryNumbers(w, m.MemoryNumbers)
	if m.PeakStep >= 0 && m.PeakStep < len(m.Steps) {
		fmt.Fprintf(w, "most bytes are live at step %d, %s\n", m.PeakStep, ui.VisibleName(m.Steps[m.PeakStep]))
	}
	fmt.Fprintln(w)
	writePlanners(w, m)
	var rows [][]string
	for _, sl := range m.Slots {
		kind, offset := sl.Kind, fmt.Sprint(sl.Offset)
		if sl.Of != "" {
			kind += " of " + sl.Of
		}
		if sl.IO {
			kind, offset = kind+", outside the arena", "-"
		}
		rows = append(rows, []string{short(sl.Tensor), sl.Desc, fmt.Sprint(sl.Bytes), offset, fmt.Sprintf("%d..%d", sl.First, sl.Last), lifeLine(sl, len(m.Steps), 40), kind})
	}
	writeTable(w, []string{"@tensor", "form", ">bytes", ">offset", "steps", "~life", "kind"}, rows)
	fmt.Fprintln(w)
	rows = nil
	for i, name := range m.Steps {
		rows = append(rows, []string{fmt.Sprint(i), short(name), bytesText(m.Live[i]), bar(float64(m.Live[i])/float64(max(1, m.LowerBound)), 40)})
	}
	writeTable(w, []string{">step", "@layer", ">live", "~"}, rows)
}

// writePlanners compares the ways to share the arena out.
func writePlanners(w io.Writer, m *report.Memory) {
	if len(m.Planners) == 0 {
		return
	}
	var rows [][]string
	for _, p := range m.Planners {
		rows = append(rows, []string{p.Name, bytesText(p.Peak), fmt.Sprintf("%.3f", float64(p.Peak)/float64(max(1, m.LowerBound))), bar(float64(p.Peak)/float64(max(1, m.Naive)), 40)})
	}
	writeTable(w, []string{"planner", ">peak", ">/ lower bound", "~"}, rows)
	fmt.Fprintln(w)
}

// lifeLine draws from which to which step a slot is needed.
func lifeLine(s report.Slot, steps, cells int) string {
	at := func(step int) int { return max(0, min(cells-1, step*cells/max(1, steps))) }
	from, to := at(s.First), at(s.Last)
	return strings.Repeat("·", from) + strings.Repeat("█", to-from+1) + strings.Repeat("·", cells-1-to)
}

func writeTactics(w io.Writer, s *report.Snapshot) {
	t := s.Tactics
	writeHeading(w, s)
	fmt.Fprintf(w, "timing cache: %d hits, %d misses, %d entries\n", t.CacheHits, t.CacheMisses, len(t.Cache))
	if s.Device.Estimated {
		fmt.Fprintln(w, report.PriceNote)
	}
	fmt.Fprintln(w)
	for _, l := range t.Layers {
		fmt.Fprintf(w, "%s (%s)", ui.VisibleName(l.Layer), l.Op)
		if tried := l.Tried(); tried != "" {
			fmt.Fprintf(w, ": %s", tried)
		}
		fmt.Fprintln(w)
		var rows [][]string
		for _, c := range l.Candidates {
			mark, timed, ratio := " ", "-", ""
			if c.Chosen {
				mark = "*"
			}
			if c.Timed {
				timed = us(c.Time)
			} else if c.Ratio > 0 {
				timed = "~" + us(c.Time)
			}
			if c.Ratio > 0 {
				ratio = fmt.Sprintf("%.2f×", c.Ratio)
			}
			rows = append(rows, []string{mark, c.Tactic, c.Format, timed, ratio, c.Remark()})
		}
		for _, f := range l.Unfit {
			rows = append(rows, []string{" ", f.Name + "_…", "", "", "", f.String()})
		}
		if len(rows) == 0 {
			rows = append(rows, []string{"*", l.Chosen, "", "", "", ""})
		}
		writeTable(w, []string{" ", "tactic", "format", ">µs", ">ratio", "why not"}, rows)
		fmt.Fprintln(w)
	}
	writeForks(w, t.Forks, t.Dropped)
}
