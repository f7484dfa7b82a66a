package cmd

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// TestBenchCSV: every way of measuring has a table with as many cells in every row, and the columns that one sorts by.
func TestBenchCSV(t *testing.T) {
	for _, c := range []struct {
		flags, columns string
		rows           int // at least
	}{
		{"", "model,precision,median ms,items/s,arena bytes", 1},
		{"--per-layer", "layer,median µs,share %,tactic", 20},
		{"--roofline --backend cudasim", "layer,median µs,share %", 20},
		{"--precisions fp32,fp16", "layer,configuration,median µs,x the first", 40},
		{"--sweep batch=1..2", "batch,median ms,items/s,memory bytes,best", 2},
		{"--ablate", "rule,places,without ms,worth x in rounds,significant", 5},
	} {
		args := append([]string{"bench", "--format", "csv", "--duration", "1ms", "--iterations", "2", "--warm-up", "1ms"}, strings.Fields(c.flags)...)
		out, _ := command(t, 0, args...)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll() // of as many cells each
		if err != nil || len(rows) < 1+c.rows {
			t.Errorf("%s: %d rows, %v", c.flags, len(rows), err)
			continue
		}
		for column := range strings.SplitSeq(c.columns, ",") {
			at := slices.Index(rows[0], column)
			if at < 0 || rows[1][at] == "" && column != "best" && column != "significant" {
				t.Errorf("%s: column %q is not there, or empty in %q", c.flags, column, rows[1])
			}
		}
	}
}
