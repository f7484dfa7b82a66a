package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// besideText says what forks save, behind a sum of what their steps take in turn; "" where there are none.
func besideText(forks []report.Fork) string {
	if len(forks) == 0 {
		return ""
	}
	return fmt.Sprintf("; layers are timed in turn, side by side %s %s ms", verbed(len(forks), "fork saves", "forks save"), ms(report.Saved(forks)))
}

// verbed returns a number with what so many do.
func verbed(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// writeForks prints the steps that run side by side, lane by lane.
func writeForks(w io.Writer, forks []report.Fork) {
	if len(forks) == 0 {
		return
	}
	fmt.Fprintln(w, "\nsteps that run side by side; --disable side-by-side has them run in turn")
	fmt.Fprintln(w)
	var rows [][]string
	for k := range forks {
		f := &forks[k]
		for n, lane := range f.Lanes {
			row := []string{"", "", "", "", ""}
			if n == 0 {
				row = []string{fmt.Sprint(k + 1), us(f.InTurn), us(f.Beside), fmt.Sprintf("%.1f", 100*f.Gain), fmt.Sprintf("%.1f", 100*f.Predicted)}
			}
			var names []string
			for _, s := range lane {
				names = append(names, short(s.Step))
			}
			rows = append(rows, append(row, fmt.Sprint(n+1), strings.Join(names, ", ")))
		}
	}
	writeTable(w, []string{">fork", ">in turn µs", ">side by side", ">saved %", ">predicted", ">lane", "steps"}, rows)
}
