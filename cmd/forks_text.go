package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// besideText says what forks save or cost, behind a sum of what their steps take in turn; "" where there are none.
func besideText(forks []report.Fork) string {
	if len(forks) == 0 {
		return ""
	}
	saved, text := report.Saved(forks), verbed(len(forks), "fork saves", "forks save")
	if saved < 0 {
		saved, text = -saved, verbed(len(forks), "fork costs", "forks cost")
	}
	return fmt.Sprintf("; layers are timed in turn, side by side %s %s ms", text, ms(saved))
}

// verbed returns a number with what so many do.
func verbed(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// writeForks prints the steps that run side by side, lane by lane, and then those that could and run in turn, with the reason.
func writeForks(w io.Writer, forks, dropped []report.Fork) {
	header := []string{">fork", ">in turn µs", ">side by side", ">saved %", ">predicted", ">lane", "steps"}
	if len(forks) > 0 {
		fmt.Fprintln(w, "\nsteps that run side by side; --disable side-by-side has them run in turn")
		fmt.Fprintln(w)
		writeTable(w, header, forkRows(forks, laneNames(w, forks)))
	}
	if len(dropped) > 0 {
		fmt.Fprintln(w, "\nsteps that could run side by side, and run in turn")
		fmt.Fprintln(w)
		writeTable(w, append(header, "why"), forkRows(dropped, laneNames(w, dropped)))
	}
}

// laneNames returns how the steps of lanes are named: whole, or where w is a terminal shortened as in a column of names.
func laneNames(w io.Writer, forks []report.Fork) func(step string) string {
	if terminalWidth(w) == 0 {
		return short
	}
	var all []string
	for _, f := range forks {
		for _, lane := range f.Lanes {
			for _, s := range lane {
				all = append(all, short(s.Step))
			}
		}
	}
	names := ui.NewNames(all)
	return func(step string) string { return names.Short(short(step), comfortable, '…') }
}

// forkRows are a row for each lane, with the times of the fork and the reason against it in the first.
func forkRows(forks []report.Fork, name func(step string) string) (rows [][]string) {
	for k := range forks {
		f := &forks[k]
		for n, lane := range f.Lanes {
			row, why := []string{"", "", "", "", ""}, ""
			if n == 0 {
				row, why = []string{fmt.Sprint(k + 1), "-", "-", "-", fmt.Sprintf("%.1f", 100*f.Predicted)}, becauseText(f.Reason, f.Detail)
				if f.Measured() {
					row[1], row[2], row[3] = us(f.InTurn), us(f.Beside), fmt.Sprintf("%.1f", 100*f.Gain)
				}
			}
			var names []string
			for _, s := range lane {
				names = append(names, name(s.Step))
			}
			if row = append(row, fmt.Sprint(n+1), strings.Join(names, ", ")); f.Reason != "" {
				row = append(row, why)
			}
			rows = append(rows, row)
		}
	}
	return rows
}
