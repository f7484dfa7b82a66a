package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// overSplit tells whether the range of a sweep's axis is served better by two profiles than by one; changed reports whether a flag was given.
func (b *benchFlags) overSplit(ctx context.Context, stdout, stderr io.Writer, path string, changed func(string) bool, p run.Profiling) error {
	as := stages.SplitProfiling
	for _, f := range []struct {
		name string
		set  func()
	}{{"warm-up", func() { as.WarmUp = p.WarmUp }}, {"iterations", func() { as.Iterations = p.Iterations }}, {"duration", func() { as.Duration = p.Duration }}} {
		if changed(f.name) {
			f.set()
		}
	}
	o := b.modelFlags
	return o.with(path, stderr, func(at *place, r *sessions.Runner) error {
		cfg, err := o.configFor(at.model)
		if err != nil {
			return err
		}
		var along *report.SweepAxis
		for i := range o.config.sweep {
			a := &o.config.sweep[i]
			switch {
			case stages.IsContexts(at.model.Network, a.Name):
				return usageError{errors.New("--split is of the range of an extent: leave contexts out of --sweep")}
			case len(a.Values) > 1 && along != nil:
				return usageError{errors.New("--split is of one axis: give --sweep one range, and of other axes single extents")}
			case len(a.Values) > 1:
				along = a
			}
		}
		if along == nil {
			return usageError{errors.New("--split is of a range: give --sweep one, as in seq=1..512")}
		}
		s, err := r.Split(ctx, cfg, along.Name, along.Values, as, nil)
		if err != nil {
			return err
		}
		head := r.Head(&cfg)
		switch {
		case o.output.csv():
			return writeCSV(stdout, exchange.SplitCSV, s)
		case o.output.json():
			return writeReport(stdout, head, s)
		}
		writeSplit(stdout, head, s)
		return nil
	})
}

// writeSplit prints the time of the engine of the range at each extent, how those whose tactics are timed elsewhere compare with it, and
// what follows.
func writeSplit(w io.Writer, head report.Head, s *report.Split) {
	fmt.Fprintf(w, "%s, %s, on %s (%s)\n", head.Model.Name, head.Config.Precision, head.Device.Backend, head.Device.Device)
	fmt.Fprintf(w, "one profile serves %s from %d to %d with tactics that are timed at %d; beside it, in the same rounds, engines whose tactics are timed elsewhere\n", s.Axis, s.Min, s.Max, s.Opt)
	header := []string{">" + s.Axis, fmt.Sprintf(">at %d, ms", s.Opt)}
	for _, t := range s.Elsewhere {
		if t.Differ > 0 {
			header = append(header, fmt.Sprintf(">at %d", t.At))
		}
	}
	var rows [][]string
	for i, v := range s.Values {
		if i >= len(s.Medians) {
			break
		}
		row := []string{fmt.Sprint(v), ms(s.Medians[i])}
		for _, t := range s.Elsewhere {
			if t.Differ > 0 {
				row = append(row, t.Speeds[i].Change())
			}
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		writeTable(w, header, rows)
	}
	for _, t := range s.Elsewhere {
		if len(rows) == 0 {
			break // what is found says it
		}
		if t.Differ == 0 {
			fmt.Fprintf(w, "timed at %d: the same tactics\n", t.At)
		} else {
			fmt.Fprintf(w, "timed at %d: %s other tactics or formats\n", t.At, config.CountOf(t.Differ, "step has", "steps have"))
		}
	}
	if s.Found == nil {
		fmt.Fprintln(w, s.Verdict())
		return
	}
	f := s.Found
	fmt.Fprintf(w, "%s; measured anew, in rounds of its own:\n", s.Verdict())
	rows = nil
	for i, v := range f.Values {
		rows = append(rows, []string{fmt.Sprint(v), ms(f.Medians[i]), f.Speeds[i].Change()})
	}
	writeTable(w, []string{">" + s.Axis, ">median ms", ">"}, rows)
	fmt.Fprintf(w, "a context of each takes %s more than one of the whole range, of which %s are weights of %s, packed once more; the others are shared\n",
		bytesText(f.MemoryBytes), bytesText(f.RepackedBytes), config.CountOf(f.OtherTactics, "step with another tactic", "steps with other tactics"))
	fmt.Fprintln(w, "flags that build both profiles:")
	fmt.Fprintln(w, "  "+shellLine(profileWords(f.Config)))
}

// profileWords writes the profiles of a configuration as flags.
func profileWords(cfg config.Config) (words []string) {
	for k := range len(cfg.Profiles) + 1 {
		of := config.OfProfile(cfg, k)
		if k > 0 {
			words = append(words, "--profile", fmt.Sprint(k))
		}
		for _, part := range []struct {
			flag   string
			shapes map[string][]int
		}{{"--minShapes", of.MinShapes}, {"--optShapes", of.Shapes}, {"--maxShapes", of.MaxShapes}} {
			words = append(words, part.flag, strings.Join(shapeWords(part.shapes), ","))
		}
	}
	return words
}
