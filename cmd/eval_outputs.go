package cmd

import (
	"io"
	"math"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// writeOtherOutputs lists how far the outputs behind the first are, whose SQNR the rows have, by row.
func writeOtherOutputs(w io.Writer, rows []evalRow) {
	var all []report.OutputError // of the row in which most can be compared
	for _, r := range rows {
		if len(r.Outputs) > len(all) {
			all = r.Outputs
		}
	}
	if len(all) < 2 {
		return
	}
	head, lines := []string{"other output"}, make([][]string, len(all)-1)
	for i := range lines {
		lines[i] = []string{ui.VisibleName(all[i+1].Name)}
	}
	for _, r := range rows {
		if r.Reference || r.SameAs != "" {
			continue
		}
		head = append(head, ">"+strings.TrimSpace(r.precision()+" "+r.Calibrator)+" dB")
		for i := range lines {
			db := math.NaN()
			for _, o := range r.Outputs {
				if o.Name == all[i+1].Name {
					db = o.SQNR
				}
			}
			lines[i] = append(lines[i], orDash(db))
		}
	}
	first := ui.VisibleName(all[0].Name)
	if len(head) == 1 { // all are FP32
		writeNote(w, "SQNR is that of the first output, %s", first)
		return
	}
	writeNote(w, "SQNR is that of the first output, %s; of the others it is:\n", first)
	writeTable(w, head, lines)
}

// orDash prints a ratio of signal to noise, if there is one.
func orDash(db float64) string {
	if math.IsNaN(db) {
		return "-"
	}
	return decibels(db)
}
