package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// table is what a report says, in rows.
type table struct {
	name, title string
	columns     []string // with units
	rows        [][]string
}

// tables returns those of the reports that a snapshot has.
func tables(s *report.Snapshot) (list []table) {
	add := func(t table) {
		if len(t.rows) > 0 {
			list = append(list, t)
		}
	}
	add(findingsTable(findings(s)))
	add(triedTable(s.Tried, s.Model.Quantized()))
	if s.Search != nil {
		add(searchedTable(s.Search))
	}
	if s.Timings != nil {
		add(timingsTable(s.Timings))
	}
	if s.Passes != nil {
		add(ledgerTable(s.Passes))
	}
	if s.Memory != nil {
		add(memoryTable(s.Memory))
		add(plannersTable(s.Memory))
	}
	if s.Accuracy != nil {
		add(outputsTable(s.Accuracy))
		add(errorsTable(s.Accuracy))
	}
	if s.Calibration != nil {
		add(rangesTable(s.Calibration))
	}
	if s.Tactics != nil {
		add(tacticsTable(s.Tactics))
	}
	return list
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func microText(d time.Duration) string { return strconv.FormatFloat(micros(d), 'f', -1, 64) }

func timingsTable(t *report.Timings) table {
	out := table{name: "layers", title: "Times of layers", columns: []string{"step", "layer", "op", "precision", "median µs", "mean µs", "p99 µs", "share %", "GFLOP/s", "bytes", "tactic"}}
	for i, l := range t.Layers {
		p99 := microText(l.P99)
		if t.Summed {
			p99 = ""
		}
		out.rows = append(out.rows, []string{strconv.Itoa(i), l.Name, l.Op, l.Precision, microText(l.Median), microText(l.Mean), p99, number(100 * l.Share), number(l.GFLOPS), fmt.Sprint(l.Bytes), l.Tactic})
	}
	return out
}

func ledgerTable(p *report.Passes) table {
	out := table{name: "fusion", title: "What became of the source layers", columns: []string{"source layer", "op", "fate", "engine layer", "pass"}}
	for _, e := range p.Ledger {
		out.rows = append(out.rows, []string{e.Layer, e.Op, e.Fate, e.Into, e.Pass})
	}
	return out
}

func memoryTable(m *report.Memory) table {
	out := table{name: "memory", title: "Memory", columns: []string{"tensor", "form", "offset", "bytes", "first step", "last step", "place", "shares with"}}
	for _, sl := range m.Slots {
		place := sl.Kind
		if sl.IO {
			place += ", outside the arena"
		}
		out.rows = append(out.rows, []string{sl.Tensor, sl.Desc, strconv.Itoa(sl.Offset), strconv.Itoa(sl.Bytes), strconv.Itoa(sl.First), strconv.Itoa(sl.Last), place, sl.Of})
	}
	return out
}

func plannersTable(m *report.Memory) table {
	out := table{name: "planners", title: "Other ways to share the arena out", columns: []string{"planner", "peak bytes", "/ lower bound"}}
	for _, p := range m.Planners {
		out.rows = append(out.rows, []string{p.Name, strconv.Itoa(p.Peak), number(float64(p.Peak) / float64(max(1, m.LowerBound)))})
	}
	return out
}

// decibels writes a ratio of signal to noise; equality has none.
func decibels(v float64) string {
	switch {
	case v >= report.MaxDB:
		return "exact"
	case v <= -report.MaxDB:
		return "none"
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func outputsTable(a *report.Accuracy) table {
	out := table{name: "outputs", title: "Outputs against " + a.OutputsAgainst(), columns: []string{"output", "SQNR dB", "cosine", "max abs", "mean abs"}}
	for _, o := range a.Outputs {
		out.rows = append(out.rows, []string{o.Name, decibels(o.SQNR), number(o.Cosine), number(o.MaxAbs), number(o.MeanAbs)})
	}
	return out
}

func errorsTable(a *report.Accuracy) table {
	out := table{name: "accuracy", title: "Layers against " + a.LayersAgainst(), columns: []string{"layer", "op", "precision", "own SQNR dB", "accumulated SQNR dB", "accumulated max abs"}}
	for _, l := range a.Layers {
		out.rows = append(out.rows, []string{l.Name, l.Op, l.Precision, decibels(l.Local.SQNR), decibels(l.Accumulated.SQNR), number(l.Accumulated.MaxAbs)})
	}
	return out
}

func rangesTable(c *report.Calibration) table {
	out := table{name: "calibration", title: "Ranges of activations", columns: []string{"tensor", "calibrator", "amax", "scale", "zero", "clipped %", "KL nats", "SQNR dB"}}
	for _, t := range c.Tensors {
		for i, r := range t.Results() {
			out.rows = append(out.rows, []string{t.Tensor, c.Name(i), number(float64(r.Amax)), number(float64(r.Scale)), fmt.Sprint(r.Zero), number(100 * r.Clip), number(r.KL), decibels(r.SQNR)})
		}
	}
	return out
}

func tacticsTable(t *report.Tactics) table {
	out := table{name: "tactics", title: "Tactics", columns: []string{"layer", "op", "tactic", "format", "µs", "chosen", "remark"}}
	for _, l := range t.Layers {
		for _, c := range l.Candidates {
			if c.Unfit || c.Left {
				continue
			}
			took := ""
			if c.Timed {
				took = microText(c.Time)
			}
			out.rows = append(out.rows, []string{l.Layer, l.Op, c.Tactic, c.Format, took, map[bool]string{true: "yes"}[c.Chosen], c.Remark()})
		}
	}
	return out
}

var errNoTables = errors.New("there is nothing that a table could be made of")

// CSV writes a file for each table.
func CSV(s *report.Snapshot) (files []Output, err error) {
	for _, t := range tables(s) {
		data, err := t.csv()
		if err != nil {
			return nil, err
		}
		files = append(files, Output{t.name + ".csv", data})
	}
	if files == nil {
		return nil, errNoTables
	}
	return files, nil
}

// guarded writes a quote before cells that spreadsheets would take for formulas: names come from models.
func guarded(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		for _, cell := range r {
			if cell != "" && strings.ContainsAny(cell[:1], "=+@\t\r") || strings.HasPrefix(cell, "-") && !isNumber(cell) {
				cell = "'" + cell
			}
			out[i] = append(out[i], cell)
		}
	}
	return out
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Markdown writes what a snapshot says in headings, facts and tables.
func Markdown(s *report.Snapshot) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", markdownText(title(s)))
	for _, f := range facts(s) {
		fmt.Fprintf(&b, "- %s: %s\n", f[0], markdownText(f[1]))
	}
	list := tables(s)
	if len(list) == 0 {
		return nil, errNoTables
	}
	for _, t := range list {
		fmt.Fprintf(&b, "\n## %s\n\n| %s |\n|%s\n", t.title, strings.Join(t.columns, " | "), strings.Repeat(" --- |", len(t.columns)))
		for _, row := range t.rows {
			b.WriteString("|")
			for _, cell := range row {
				b.WriteString(" " + markdownText(cell) + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.Bytes(), nil
}

// markdownText writes a text of somebody else's into a line of Markdown.
func markdownText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(text)
}

// title names what a snapshot is of.
func title(s *report.Snapshot) string {
	name := "engine"
	if s.Model != nil {
		name = s.Model.Name
	}
	return name + ", " + s.Config.Label(false) + " on " + s.Device.Backend
}

// facts are the numbers that an engine is judged by.
func facts(s *report.Snapshot) (list [][2]string) {
	add := func(name, format string, args ...any) {
		list = append(list, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if s.Model != nil && s.Model.Viewed != "" {
		add("read from", "%s", s.Model.Viewed)
	}
	add("device", "%s", s.Device.Device)
	if t := s.Timings; t != nil {
		basis := fmt.Sprintf("median of %d", t.Samples)
		switch {
		case t.Estimated:
			basis = "estimated, nothing was measured"
		case t.EndToEnd.Count == 0:
			basis = "the sum of the layers' medians"
		}
		add("latency", "%s ms, %s", number(t.EndToEnd.Median.Seconds()*1e3), basis)
	}
	if o := s.Overview; o != nil {
		basis := "at the median latency"
		switch {
		case o.Overlapped:
			basis = "by the time of all, which overlap"
		case s.Timings != nil && s.Timings.Estimated:
			basis = "by the estimated latency"
		}
		add("throughput", "%s items/s at batch %d, %s", number(o.Throughput), o.Batch, basis)
		add("launches", "%s, %s", o.Counts.Text(), o.Counts.Of())
	}
	if m := s.Memory; m != nil {
		add("arena", "%s at its peak, %s without reuse; weights %s", size(m.Peak), size(m.Naive), size(m.Weights))
	}
	if p := s.Passes; p != nil && len(p.Ledger) > 0 {
		add("source layers", "%d kept, %d fused, %d folded, %d eliminated", p.Kept, p.Fused, p.Folded, p.Eliminated)
	}
	if a := s.Accuracy; a != nil {
		if a.Labels.Top1 >= 0 {
			add("top-1", "%s", besideFP32(a, a.Labels.Top1, a.Labels.FP32Top1))
		}
		if d := a.Labels.Detection; d != nil {
			add("mAP", "%s", besideFP32(a, d.MAP, d.FP32MAP))
		}
		if a.Labels.Agreement >= 0 {
			add("agreement with "+a.Against(), "%s %% of %d items", number(100*a.Labels.Agreement), a.Items)
		}
	}
	if a := s.Accuracy; a != nil && a.Labels.Unclassed != "" {
		add("agreement", "none: %s", a.Labels.Unclassed)
	}
	if o := s.Overview; o != nil {
		for _, badge := range o.Badges {
			add(badge.Text, "%s", badge.Why)
		}
	}
	return list
}

// besideFP32 writes a share beside FP32's, where that is known.
func besideFP32(a *report.Accuracy, share, fp32 float64) string {
	if a.Alone {
		return number(100*share) + " %"
	}
	return fmt.Sprintf("%s %% (FP32 %s %%)", number(100*share), number(100*fp32))
}

func size(n int) string { return report.Bytes(int64(n)) }
