package exchange

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// csv writes a table with a line of heads.
func (t table) csv() ([]byte, error) {
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(append([][]string{t.columns}, guarded(t.rows)...))
	return b.Bytes(), err
}

// LatencyCSV writes what a model was measured to take as one row below a line of heads.
func LatencyCSV(s *report.Snapshot) ([]byte, error) {
	t, h := s.Timings, s.Head()
	return table{
		columns: append(append([]string{"model", "precision", "batch", "backend", "device", "estimated"}, latencyColumns...), "items/s", "arena bytes"),
		rows: [][]string{append(append([]string{h.Model.Name, string(s.Config.Precision), strconv.Itoa(max(1, s.Config.Batch)), s.Device.Backend, s.Device.Device, yes(t.Estimated)},
			latencyCells(&t.EndToEnd)...), number(s.Overview.Throughput), strconv.Itoa(s.Overview.Memory.Peak))},
	}.csv()
}

var latencyColumns = []string{"inferences", "median ms", "mean ms", "min ms", "p90 ms", "p95 ms", "p99 ms", "max ms", "CV %"}

func latencyCells(l *report.Latency) []string {
	return []string{strconv.Itoa(l.Count), millis(l.Median), millis(l.Mean), millis(l.Min), millis(l.P90), millis(l.P95), millis(l.P99), millis(l.Max), number(100 * l.CV)}
}

func millis(d time.Duration) string { return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64) }

// yes writes what is or is not so: spreadsheets count and filter by it.
func yes(b bool) string { return map[bool]string{true: "yes"}[b] }

// LayersCSV writes a row for each layer, with its place under the roofline where that was measured.
func LayersCSV(t *report.Timings) ([]byte, error) {
	out := timingsTable(t)
	if slices.ContainsFunc(t.Layers, func(l report.LayerTiming) bool { return l.Roof != nil }) {
		out.columns = append(out.columns, "op/B", "Gop/s reached", "Gop/s ceiling", "least µs", "bound", "of peak %")
		for i, l := range t.Layers {
			cells := make([]string, 6)
			if r := l.Roof; r != nil {
				cells = []string{number(r.Intensity), number(r.Reached), number(r.Ceiling), microText(r.Floor), r.Bound, number(100 * r.OfPeak)}
			}
			out.rows[i] = append(out.rows[i], cells...)
		}
	}
	return out.csv()
}

// ColumnsCSV writes a row for each set of layers in each configuration, so that a pivot table has them side by side.
func ColumnsCSV(c *report.Columns) ([]byte, error) {
	out := table{columns: []string{"layer", "configuration", "precision", "tactic", "median µs", "share %", "x the first", "x in rounds", "fastest"}}
	for _, r := range c.Rows {
		for i, cell := range r.Cells {
			if cell == nil {
				continue
			}
			label := c.Columns[i].Label
			out.rows = append(out.rows, []string{r.Name, label, cell.Precision, cell.Tactic, microText(cell.Median), number(100 * cell.Share), number(cell.Ratio), "", yes(r.Fastest == label)})
		}
	}
	for _, k := range c.Columns {
		if k.Err == "" {
			ratio, rounds := speedRatio(k.Speed, c.Columns[0].Latency.Median, k.Latency.Median)
			out.rows = append(out.rows, []string{"end to end", k.Label, "", "", microText(k.Latency.Median), "", ratio, rounds, ""})
		}
	}
	return out.csv()
}

// speedRatio is that of the first, beside itself, too: of the times, and of rounds in which both were measured.
func speedRatio(s *report.Speed, first, own time.Duration) (ratio, rounds string) {
	if s == nil {
		return "1", ""
	}
	if s.SideBySide {
		rounds = number(s.Ratio)
	}
	return number(s.Beside(first, own).Ratio), rounds
}

// AblationCSV writes a row for each rule that was switched off.
func AblationCSV(a *report.Ablation) ([]byte, error) {
	out := table{columns: []string{"rule", "places", "layers saved", "bytes saved", "with ms", "without ms", "worth x in rounds", "low", "high", "significant", "same engine", "error"}}
	for _, r := range a.Rows {
		row := []string{r.Rule, strconv.Itoa(r.Sites), strconv.Itoa(r.LayersSaved), fmt.Sprint(r.BytesSaved), "", "", "", "", "", "", yes(r.Same), r.Err}
		if r.Without > 0 {
			copy(row[4:], []string{millis(r.With), millis(r.Without), number(r.Worth.Ratio)})
			row[9] = yes(r.Worth.Significant)
		}
		if r.Without > 0 && r.Worth.Known() {
			row[7], row[8] = number(r.Worth.Low), number(r.Worth.High)
		}
		out.rows = append(out.rows, row)
	}
	return out.csv()
}

// SweepCSV writes a row for each point of a sweep.
func SweepCSV(s *report.Sweep) ([]byte, error) {
	var out table
	for _, a := range s.Axes {
		out.columns = append(out.columns, a.Name)
	}
	out.columns = append(append(out.columns, latencyColumns...), "items/s", "memory bytes", "held bytes", "threads", "within limit", "best", "estimated")
	for _, p := range s.Points {
		var row []string
		for _, v := range p.Values {
			row = append(row, strconv.Itoa(v))
		}
		row = append(row, latencyCells(&p.Latency)...)
		threads := ""
		if p.Threads > 0 {
			threads = strconv.Itoa(p.Threads)
		}
		out.rows = append(out.rows, append(row, number(p.Throughput), strconv.Itoa(p.MemoryBytes), strconv.Itoa(p.HeldBytes), threads, yes(p.Within), yes(p.Best), yes(s.Estimated)))
	}
	return out.csv()
}

// SplitCSV writes a row for each extent at which an engine whose tactics are timed elsewhere was measured beside that of the range.
func SplitCSV(s *report.Split) ([]byte, error) {
	out := table{columns: []string{s.Axis, "median ms", "tactics timed at", "x", "x low", "x high", "significant"}}
	for _, t := range s.Elsewhere {
		for i, x := range t.Speeds {
			out.rows = append(out.rows, []string{strconv.Itoa(s.Values[i]), millis(s.Medians[i]), strconv.Itoa(t.At), number(x.Ratio), number(x.Low), number(x.High), yes(x.Significant)})
		}
	}
	return out.csv()
}
