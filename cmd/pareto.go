package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// paretoFlags are the flags of trtui pareto.
type paretoFlags struct {
	output  outputFlags
	measure string
	limit   float64
	limited bool
}

func paretoCommand(tables) *cobra.Command {
	o := &paretoFlags{}
	var measures []string
	for _, m := range diff.Measures() {
		measures = append(measures, m.Name)
	}
	c := &cobra.Command{
		Use:        "pareto RECORDING...",
		SuggestFor: []string{"front", "fastest", "tradeoff", "best"},
		Short:      "Which of the configurations that were tried are worth having: no other is faster and as good",
		Long: "Show the configurations of recordings, and what a search for precisions in them built, by their latency and by what one\n" +
			"chooses by beside it: those that no other is faster than and as good, and the fastest that is good enough. It is what\n" +
			"the workbench plots on its Compare screen.\n\n" +
			"Latencies of several recordings compare where they were measured on the same machine.",
		Example: examples("the fastest within half a point of the best top-1", "trtui pareto session.trtui",
			"with 40 dB at least, of two recordings", "trtui pareto monday.trtui tuesday.trtui --measure sqnr --limit 40",
			"a configuration beside those of another recording", "trtui pareto monday.trtui@fp32 tuesday.trtui"),
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.limited = c.Flags().Changed("limit")
			return o.pareto(c.OutOrStdout(), args)
		},
		ValidArgsFunction: ending(recordingFiles...),
	}
	o.output.define()
	o.output.addTo(c, takeFormat)
	c.Flags().StringVar(&o.measure, "measure", "", "what to choose by beside latency: "+orList(measures)+"; default: the first that most configurations have")
	c.Flags().Float64Var(&o.limit, "limit", 0, "how good the fastest must be: points below the best of top1 and agreement (default: 0.5), or the least SQNR in dB (default: 40)")
	under(c, "Choice", "measure", "limit")
	return c
}

// pareto prints which configurations of recordings are worth having.
func (o *paretoFlags) pareto(stdout io.Writer, paths []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.limited && !(o.limit >= 0) {
		return usageError{fmt.Errorf("--limit %g: want a number of 0 or more", o.limit)}
	}
	var points []report.ParetoPoint
	for _, path := range paths {
		of, err := pointsOf(path)
		if err != nil {
			return err
		}
		for _, p := range of {
			if len(paths) > 1 {
				p.Name = filepath.Base(p.Session) + "@" + p.Name
			}
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		return errors.New("no configuration was timed in what is named")
	}
	m, err := diff.MeasureOf(o.measure, points)
	if err != nil {
		return usageError{fmt.Errorf("--measure: %w", err)}
	}
	limit := o.limit
	switch {
	case len(m.Limits) == 0 && o.limited:
		return usageError{fmt.Errorf("--limit is for what configurations are chosen by; %s has none", m.Name)}
	case len(m.Limits) > 0 && !o.limited:
		limit = m.Limits[m.First]
	}
	p := diff.Choose(points, m, limit, false)
	if o.output.json() {
		return writeReport(stdout, report.Head{}, p)
	}
	writePareto(stdout, p, &m)
	return nil
}

// pointsOf returns the configurations of a recording that were timed, in the order in which they were tried, and what a search
// built; or the one that is named behind @.
func pointsOf(path string) (list []report.ParetoPoint, err error) {
	x := parseOperand(path)
	r, err := recording.Open(x.path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if x.which != "" {
		c, err := recording.Named(r.Tried(), x.which)
		switch {
		case err != nil:
			return nil, fmt.Errorf("recording %s: %w", x.path, err)
		case c == nil:
			var names []string
			for _, c := range r.Tried() {
				names = append(names, c.Name)
			}
			return nil, fmt.Errorf("recording %s has no configuration %q; it has %s", x.path, x.which, strings.Join(names, "; "))
		case c.Point().Latency == 0:
			return nil, fmt.Errorf("recording %s: %s was not timed", x.path, c.Name)
		}
		return []report.ParetoPoint{{Name: c.Name, Point: c.Point(), Session: x.path}}, nil
	}
	rep, err := r.Report()
	if err != nil {
		return nil, err
	}
	for i := range rep.Configs {
		c := &rep.Configs[i]
		if p := c.Point(); c.Settled && p.Latency > 0 {
			list = append(list, report.ParetoPoint{Name: c.Name, Point: p, Session: path})
		}
	}
	snap, err := r.At(r.Last())
	if err != nil {
		return nil, err
	}
	if snap.Search != nil {
		for i, p := range snap.Search.Points {
			if p.Latency > 0 {
				list = append(list, report.ParetoPoint{Name: fmt.Sprintf("search %d, %d raised", i+1, p.Raised), Point: p.Point, Session: path})
			}
		}
	}
	return list, nil
}

// inRounds writes what a configuration took beside the others, where it was measured so.
func inRounds(p *report.ParetoPoint) string {
	if !p.InRounds {
		return "-"
	}
	return ms(p.Took)
}

// writePareto prints the fastest that is good enough, and all by what they take, with a mark where no other is faster and as good.
func writePareto(w io.Writer, p *report.Pareto, m *diff.Measure) {
	if p.Rule != "" {
		text := "none"
		if i := p.Fastest(); i >= 0 {
			text = fmt.Sprintf("%s, %s ms", ui.VisibleName(p.Points[i].Name), ms(p.Points[i].Latency))
			for k, name := range p.Alike(false) {
				text += []string{", no significant difference from ", ", "}[min(k, 1)] + ui.VisibleName(name)
			}
			if p.Apart() {
				text += "; not all measured side by side: what changed on the machine meanwhile is in it"
			}
		}
		fmt.Fprintf(w, "fastest %s: %s\n\n", p.Rule, text)
	}
	points := slices.Clone(p.Points)
	slices.SortStableFunc(points, func(a, b report.ParetoPoint) int { return cmp.Compare(a.Took, b.Took) })
	slowest := points[len(points)-1].Took
	var rows [][]string
	for i := range points {
		x := &points[i]
		value := "-"
		if v, ok := m.Of(&x.Point); ok {
			value = m.Write(v)
		}
		var marks []string
		for _, mark := range []struct {
			is   bool
			text string
		}{{x.Fastest, "fastest"}, {x.Front, "front"}} {
			if mark.is {
				marks = append(marks, mark.text)
			}
		}
		rows = append(rows, []string{x.Name, ms(x.Latency), inRounds(x), bar(float64(x.Took)/float64(slowest), 24), value, strings.Join(marks, ", "), bytesText(x.Weights + x.Arena)})
	}
	writeTable(w, []string{"configuration", ">median ms", ">in rounds", "~", ">" + m.Title, "", "~>memory"}, rows)
}
