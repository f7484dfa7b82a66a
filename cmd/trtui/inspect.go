package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
)

func inspectCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Look at a model, its passes, engine, memory, tactics or a recording",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("inspect has no subcommand %q; name one of %s", args[0], strings.Join(subcommands(c), ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		inspectPart(&options{}, "model", "the graph as it was imported", sessions.PartModel, writeModel),
		inspectPart(&options{}, "passes", "what every pass did, what it did not and why, and what became of every source layer", sessions.PartPasses, writePasses),
		inspectPart(&options{}, "engine", "latency, slowest layers, precision split, memory and fusion in short", sessions.PartOverview|sessions.PartPasses, writeEngine),
		inspectPart(&options{}, "memory", "where every tensor lies in the arena, and when", sessions.PartMemory, writeMemory),
		inspectPart(&options{}, "tactics", "every tactic that was considered for every layer", sessions.PartTactics, writeTactics),
		inspectRecordingCommand(),
	)
	return c
}

// subcommands returns the names of a command's subcommands.
func subcommands(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// inspectPart is one subcommand of inspect: a part of a snapshot, as text or JSON.
func inspectPart(o *options, name, doc string, parts sessions.Parts, write func(io.Writer, *sessions.Snapshot)) *cobra.Command {
	c := &cobra.Command{
		Use:   name + " [MODEL|ENGINE]",
		Short: "Show " + doc,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.inspect(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), parts, write)
		},
	}
	o.register(c)
	return c
}

func (o *options) inspect(ctx context.Context, stdout, stderr io.Writer, path string, parts sessions.Parts, write func(io.Writer, *sessions.Snapshot)) error {
	snap, err := o.report(ctx, stderr, path, parts, run.Profiling{WarmUp: warmUp, Iterations: 50, PerStep: true})
	var missing *run.Unsupported
	if parts == sessions.PartTactics && errors.As(err, &missing) {
		return errors.Join(o.writeUnsupported(stdout, missing), errReported)
	}
	if err != nil {
		return err
	}
	if o.format == "text" {
		write(stdout, snap)
		return nil
	}
	switch parts {
	case sessions.PartModel:
		return writeReport(stdout, snap.Model)
	case sessions.PartPasses:
		return writeReport(stdout, snap.Passes)
	case sessions.PartMemory:
		return writeReport(stdout, snap.Memory)
	case sessions.PartTactics:
		return writeReport(stdout, snap.Tactics)
	}
	return writeReport(stdout, snap.Overview)
}

func writeModel(w io.Writer, s *sessions.Snapshot) {
	m := s.Model
	fmt.Fprintf(w, "%s (%s, %s, %s KiB, sha256 %.12s)\n", m.Name, m.Path, m.Kind, kib(int(m.Bytes)), m.SHA256)
	fmt.Fprintf(w, "%d layers, %d parameters, %.1f MFLOP an inference\n", len(m.Layers), m.Params, float64(m.FLOPs)/1e6)
	for _, t := range m.Inputs {
		fmt.Fprintf(w, "input  %s %s%s\n", t.Name, t.Type, t.Dims)
	}
	for _, t := range m.Outputs {
		fmt.Fprintf(w, "output %s %s%s\n", t.Name, t.Type, t.Dims)
	}
	fmt.Fprintln(w)
	for _, l := range m.Layers {
		fmt.Fprintln(w, l.Text)
	}
}

func writePasses(w io.Writer, s *sessions.Snapshot) {
	p := s.Passes
	for i, st := range p.Steps {
		fmt.Fprintf(w, "%2d %-24s %3d fired, %3d missed, %3d layers after it, %v\n", i+1, st.Pass, len(st.Fired), len(st.Missed), st.Layers, st.Elapsed.Round(1000))
		for _, f := range st.Fired {
			into := f.Into
			if into == "" {
				into = "(removed)"
			}
			fmt.Fprintf(w, "     + %s: %s -> %s", f.Rule, strings.Join(f.Layers, " + "), into)
			if f.KernelsSaved != 0 || f.BytesSaved != 0 {
				fmt.Fprintf(w, " [%d layers, %s KiB saved]", f.KernelsSaved, kib(int(f.BytesSaved)))
			}
			fmt.Fprintln(w)
		}
		for _, m := range st.Missed {
			fmt.Fprintf(w, "     - %s: %s: %s", m.Rule, strings.Join(m.Layers, " + "), m.Reason)
			if m.Detail != "" {
				fmt.Fprintf(w, " (%s)", m.Detail)
			}
			fmt.Fprintln(w)
		}
	}
	writeUnlowered(w, s)
	for _, u := range p.Unmet {
		fmt.Fprintf(w, "   ! %s\n", u)
	}
	fmt.Fprintln(w)
	writeLedger(w, p)
	fmt.Fprintln(w)
	var rows [][]string
	for _, e := range p.Ledger {
		rows = append(rows, []string{short(e.Layer), e.Op, e.Fate, short(e.Into), e.Pass})
	}
	writeTable(w, []string{"source layer", "op", "fate", "into", "by"}, rows)
}

// writeUnlowered lists the layers that were left in another precision than the one asked for.
func writeUnlowered(w io.Writer, s *sessions.Snapshot) {
	if list := s.Passes.Unlowered; len(list) > 0 {
		fmt.Fprintf(w, "\nnot %s:\n", s.Config.Precision)
		for _, u := range list {
			fmt.Fprintf(w, "     - %s: %s (%s)\n", u.Layer, u.Precision, u.Reason)
		}
	}
	if s.Passes.Unchanged != "" {
		fmt.Fprintln(w, s.Passes.Unchanged)
	}
}

func writeLedger(w io.Writer, p *sessions.PassesReport) {
	fmt.Fprintf(w, "%d source layers: %d kept, %d fused, %d folded, %d eliminated; %d layers and %s KiB of traffic saved\n",
		len(p.Ledger), p.Kept, p.Fused, p.Folded, p.Eliminated, p.KernelsSaved, kib(int(p.BytesSaved)))
}

func writeEngine(w io.Writer, s *sessions.Snapshot) {
	writeLatency(w, s)
	v := s.Overview
	fmt.Fprintf(w, "%s, of %d source layers\n", v.Counts.Text(), v.Source)
	writeLedger(w, s.Passes)
	writeMemoryNumbers(w, v.Memory)
	fmt.Fprintln(w)
	var rows [][]string
	for _, e := range v.Split {
		rows = append(rows, []string{e.Precision, fmt.Sprint(e.Layers), us(e.Time), bar(float64(e.Time)/float64(max(1, s.Timings.SumMedian)), 30)})
	}
	writeTable(w, []string{"precision", ">steps", ">µs", "~"}, rows)
	fmt.Fprintln(w)
	rows = nil
	for _, l := range v.Top {
		rows = append(rows, []string{short(l.Name), us(l.Time), fmt.Sprintf("%.1f", 100*l.Share), bar(l.Share/max(1e-9, v.Top[0].Share), 30)})
	}
	writeTable(w, []string{"slowest layers", ">µs", ">%", "~"}, rows)
}

func writeMemoryNumbers(w io.Writer, m sessions.MemoryNumbers) {
	fmt.Fprintf(w, "arena: peak %s KiB, lower bound %s KiB, without reuse %s KiB; workspace %s KiB, inputs and outputs %s KiB, weights %s KiB\n",
		kib(m.Peak), kib(m.LowerBound), kib(m.Naive), kib(m.Workspace), kib(m.IO), kib(m.Weights))
}

func writeMemory(w io.Writer, s *sessions.Snapshot) {
	m := s.Memory
	writeMemoryNumbers(w, m.MemoryNumbers)
	if m.PeakStep >= 0 && m.PeakStep < len(m.Steps) {
		fmt.Fprintf(w, "most bytes are live at step %d, %s\n", m.PeakStep, m.Steps[m.PeakStep])
	}
	fmt.Fprintln(w)
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
	writeTable(w, []string{"tensor", "form", ">bytes", ">offset", "steps", "~life", "kind"}, rows)
	fmt.Fprintln(w)
	rows = nil
	for i, name := range m.Steps {
		rows = append(rows, []string{fmt.Sprint(i), short(name), kib(m.Live[i]), bar(float64(m.Live[i])/float64(max(1, m.LowerBound)), 40)})
	}
	writeTable(w, []string{">step", "layer", ">live KiB", "~"}, rows)
}

// lifeLine draws from which to which step a slot is needed.
func lifeLine(s sessions.SlotInfo, steps, cells int) string {
	at := func(step int) int { return max(0, min(cells-1, step*cells/max(1, steps))) }
	from, to := at(s.First), at(s.Last)
	return strings.Repeat("·", from) + strings.Repeat("█", to-from+1) + strings.Repeat("·", cells-1-to)
}

func writeTactics(w io.Writer, s *sessions.Snapshot) {
	t := s.Tactics
	fmt.Fprintf(w, "timing cache: %d hits, %d misses, %d entries\n", t.CacheHits, t.CacheMisses, len(t.Cache))
	if s.Device.Estimated {
		fmt.Fprintln(w, "untimed: the cost model chose, and ~ marks its estimates")
	}
	fmt.Fprintln(w)
	for _, l := range t.Layers {
		fmt.Fprintf(w, "%s (%s)\n", l.Layer, l.Op)
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
		if len(rows) == 0 {
			rows = append(rows, []string{"*", l.Chosen, "", "", "", ""})
		}
		writeTable(w, []string{" ", "tactic", "format", ">µs", ">ratio", "why not"}, rows)
		fmt.Fprintln(w)
	}
}
