package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions"
)

// writeReport writes a report in the form for scripts, with the schema's version as its first field.
func writeReport(w io.Writer, report any) error {
	data, err := sessions.MarshalOutput(report)
	if err != nil {
		return err
	}
	return writeJSON(w, json.RawMessage(data))
}

// writeJSON writes a value as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeTable writes rows under a header, without colours, columns as wide as they need. A header that begins with ">"
// heads a column of numbers, which is aligned to the right.
func writeTable(w io.Writer, header []string, rows [][]string) {
	right := map[int]bool{}
	names := make([]string, len(header))
	for i, h := range header {
		name, ok := strings.CutPrefix(h, ">")
		names[i], right[i] = name, ok
	}
	cell := lipgloss.NewStyle().PaddingRight(2)
	t := table.New().Headers(names...).Rows(rows...).
		Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).Wrap(false).
		StyleFunc(func(_, col int) lipgloss.Style {
			if right[col] {
				return cell.Align(lipgloss.Right)
			}
			return cell
		})
	for line := range strings.SplitSeq(t.String(), "\n") {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// short returns a layer's name for a column of text: a fused layer's is that of its first member and the number of the
// others, in at most 44 cells.
func short(name string) string {
	first, rest, fused := strings.Cut(name, " + ")
	more := ""
	if fused {
		more = fmt.Sprintf(" +%d", 1+strings.Count(rest, " + "))
	}
	if keep := 44 - len(more); len(first) > keep {
		first = first[:keep/2-1] + "…" + first[len(first)-keep/2:]
	}
	return first + more
}

// bar draws a share from 0 to 1 over so many cells.
func bar(share float64, cells int) string {
	n := int(share*float64(cells) + 0.5)
	return strings.Repeat("█", max(0, min(cells, n)))
}

// ms prints a time in milliseconds.
func ms(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d)/1e6) }

// us prints a time in microseconds.
func us(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }

// percent prints a share from 0 to 1, "-" where there is none.
func percent(share float64) string {
	if share < 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*share)
}

// decibels prints a signal-to-noise ratio; what is equal has none.
func decibels(db float64) string {
	if db >= quant.MaxDB {
		return "exact"
	}
	return fmt.Sprintf("%.1f", db)
}

// kib prints bytes in KiB.
func kib(n int) string { return fmt.Sprintf("%.1f", float64(n)/1024) }
