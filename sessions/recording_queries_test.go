package sessions_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// documentedQuery is a query of docs/recording.md and the sentence above it, which says what it answers.
type documentedQuery struct{ says, sql string }

func documentedQueries(t *testing.T) (list []documentedQuery) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "docs", "recording.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(doc), "```sql\n")
	for i, part := range parts[1:] {
		query, _, ok := strings.Cut(part, "```\n")
		if !ok {
			t.Fatalf("a query of docs/recording.md has no end: %s", part)
		}
		before := strings.TrimSpace(parts[i])
		list = append(list, documentedQuery{before[strings.LastIndexByte(before, '\n')+1:], strings.TrimSuffix(strings.TrimSpace(query), ";")})
	}
	return list
}

// queryAnswers check what documented queries say they answer, by the beginning of the sentence above them. Each is given
// the rows and the settled states of configurations 1, in FP32, and 2, in INT8.
var queryAnswers = map[string]func(rows [][]any, states []*report.Snapshot) error{
	"Latency and accuracy of every configuration":      queriedConfigs,
	"The slowest layers":                               queriedSlowest,
	"How much faster layers became in INT8":            queriedFaster,
	"Whether the clocks were held down":                noRows, // a CPU does not tell
	"Why layers were not fused":                        queriedMisses,
	"The latency as it went":                           queriedHundreds,
	"The tensors on which calibrators differ most":     queriedTensors,
	"The layers that lose most by themselves":          queriedErrors,
	"The tactics that were almost as fast as the one ": queriedTactics,
}

// checkDocumented runs the documented queries through the driver and, where there is one, the sqlite3 tool. What they
// answer is compared with the settled states of the recording's configurations, if any are given.
func checkDocumented(t *testing.T, path string, states []*report.Snapshot) {
	t.Helper()
	db := openSQLite(t, path)
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Log("sqlite3 is not installed")
	}
	queries := documentedQueries(t)
	if len(queries) != len(queryAnswers) {
		t.Errorf("docs/recording.md has %d queries, of which %d are known here", len(queries), len(queryAnswers))
	}
	for _, q := range queries {
		rows, err := queryRows(db, q.sql)
		if err != nil {
			t.Errorf("%v\n%s", err, q.sql)
			continue
		}
		if tool != "" {
			out, err := exec.Command(tool, "-readonly", path, q.sql).CombinedOutput()
			if err != nil || (len(rows) > 0) != (len(out) > 0) {
				t.Errorf("sqlite3: %v\n%s\n%s", err, q.sql, out)
			}
		}
		if states == nil {
			continue
		}
		known := false
		for says, check := range queryAnswers {
			if !strings.HasPrefix(q.says, says) {
				continue
			}
			known = true
			if err := check(rows, states); err != nil {
				t.Errorf("%s\n%s\n%v", q.says, q.sql, err)
			}
		}
		if !known {
			t.Errorf("nothing checks what this query answers: %s", q.says)
		}
	}
}

func queryRows(db *sql.DB, query string) (list [][]any, err error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, rows.Err()
}

// sameRows compares the first columns of rows with what they should be, in order.
func sameRows(got [][]any, want [][]any) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, want %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		if g := got[i][:len(w)]; fmt.Sprint(g) != fmt.Sprint(w) {
			return fmt.Errorf("row %d is %v, want %v", i+1, g, w)
		}
	}
	return nil
}

func noRows(rows [][]any, _ []*report.Snapshot) error { return sameRows(rows, nil) }

func queriedConfigs(rows [][]any, states []*report.Snapshot) error {
	var want [][]any
	for _, s := range states {
		want = append(want, []any{string(s.Config.Precision), s.Config.Calibrator, float64(s.Timings.EndToEnd.Median) / 1e6,
			s.Accuracy.Labels.Top1, s.Accuracy.Labels.Agreement, s.Memory.Peak})
	}
	return sameRows(rows, want)
}

func queriedSlowest(rows [][]any, states []*report.Snapshot) error {
	type layer struct {
		precision config.Precision
		timing    report.LayerTiming
	}
	var all []layer
	for _, s := range states {
		for _, l := range s.Timings.Layers {
			all = append(all, layer{s.Config.Precision, l})
		}
	}
	slices.SortStableFunc(all, func(a, b layer) int { return cmp.Compare(b.timing.Median, a.timing.Median) })
	var want [][]any
	for _, l := range all[:5] {
		want = append(want, []any{string(l.precision), l.timing.Name, int64(l.timing.Median)})
	}
	for _, row := range rows {
		if samples := row[3].(int64); samples < 1 {
			return fmt.Errorf("%v has no samples", row)
		}
	}
	return sameRows(rows, want)
}

// queriedFaster looks for every pair of engine layers that compute a source layer, and for no other.
func queriedFaster(rows [][]any, states []*report.Snapshot) error {
	medians := func(s *report.Snapshot) map[string]int64 {
		by := map[string]int64{}
		for _, l := range s.Timings.Layers {
			by[l.Name] = int64(l.Median)
		}
		return by
	}
	before, after := medians(states[0]), medians(states[1])
	into := map[string]string{}
	for _, e := range states[1].Passes.Ledger {
		into[e.Layer] = e.Into
	}
	layers := map[string]string{} // by source layer, the times of what computes it
	for _, e := range states[0].Passes.Ledger {
		a, inBefore := before[e.Into]
		b, inAfter := after[into[e.Layer]]
		if inBefore && inAfter {
			layers[e.Layer] = fmt.Sprint(a, " ", b)
		}
	}
	last := 0.0
	for i, row := range rows {
		if speedup := row[3].(float64); i > 0 && speedup > last {
			return fmt.Errorf("%v behind a speedup of %g", row, last)
		}
		last = row[3].(float64)
		for layer := range strings.SplitSeq(row[0].(string), ", ") {
			if want := fmt.Sprint(row[1], " ", row[2]); layers[layer] != want {
				return fmt.Errorf("%s took %s ns, want %q", layer, want, layers[layer])
			}
			delete(layers, layer)
		}
	}
	if len(rows) == 0 || len(layers) > 0 {
		return fmt.Errorf("%d rows without the layers %v", len(rows), layers)
	}
	return nil
}

func queriedMisses(rows [][]any, states []*report.Snapshot) error {
	counts := map[string]int64{}
	for i, s := range states {
		for _, st := range s.Passes.Steps {
			for _, m := range st.Missed {
				counts[fmt.Sprint(i+1, m.Rule, m.Reason)]++
			}
		}
	}
	if len(rows) != len(counts) {
		return fmt.Errorf("%d rows for %d reasons", len(rows), len(counts))
	}
	for _, row := range rows {
		if want := counts[fmt.Sprint(row[0], row[1], row[2])]; row[3].(int64) != want {
			return fmt.Errorf("%v, want %d", row, want)
		}
	}
	return nil
}

func queriedHundreds(rows [][]any, states []*report.Snapshot) error {
	last := map[int64]int64{}
	for _, row := range rows {
		config, hundred, worst := row[0].(int64), row[1].(int64), row[3].(int64)
		if before, ok := last[config]; ok && hundred != before+1 || !ok && hundred != 0 || row[2].(float64) > float64(worst) {
			return fmt.Errorf("%v behind hundred %d", row, before)
		}
		last[config] = hundred
	}
	if len(last) != len(states) {
		return fmt.Errorf("%d configurations", len(last))
	}
	return nil
}

func queriedTensors(rows [][]any, states []*report.Snapshot) error {
	var spreads []float64
	for _, t := range states[0].Calibration.Tensors {
		low, high := t.By[0].SQNR, t.By[0].SQNR
		for _, r := range t.By {
			low, high = min(low, r.SQNR), max(high, r.SQNR)
		}
		spreads = append(spreads, high-low)
	}
	slices.SortFunc(spreads, func(a, b float64) int { return cmp.Compare(b, a) })
	if len(rows) != min(10, len(spreads)) {
		return fmt.Errorf("%d rows for %d tensors", len(rows), len(spreads))
	}
	for i, row := range rows {
		if row[1].(float64) != spreads[i] || strings.Count(row[2].(string), ",") != len(states[0].Calibration.Calibrators)-1 {
			return fmt.Errorf("%v, want a spread of %g", row, spreads[i])
		}
	}
	return nil
}

func queriedErrors(rows [][]any, states []*report.Snapshot) error {
	var ratios []float64
	for _, s := range states {
		for _, l := range s.Accuracy.Layers {
			ratios = append(ratios, l.Local.SQNR)
		}
	}
	slices.Sort(ratios)
	if len(rows) != min(10, len(ratios)) {
		return fmt.Errorf("%d rows for %d layers", len(rows), len(ratios))
	}
	for i, row := range rows {
		if row[2].(float64) != ratios[i] {
			return fmt.Errorf("%v, want %g dB", row, ratios[i])
		}
	}
	return nil
}

func queriedTactics(rows [][]any, states []*report.Snapshot) error {
	n := 0
	for _, s := range states {
		for _, l := range s.Tactics.Layers {
			chosen := slices.IndexFunc(l.Candidates, func(c report.Candidate) bool { return c.Chosen && c.Timed })
			for _, c := range l.Candidates {
				if chosen >= 0 && c.Timed && !c.Chosen && float64(c.Time) < 1.1*float64(l.Candidates[chosen].Time) {
					n++
				}
			}
		}
	}
	if len(rows) != n {
		return fmt.Errorf("%d tactics, want %d", len(rows), n)
	}
	return nil
}
