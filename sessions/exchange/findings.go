package exchange

import (
	"bytes"
	"fmt"
	"html"

	"github.com/trtui/trtui/sessions/advice"
	"github.com/trtui/trtui/sessions/report"
)

// mostFindings are told in full; the table has the others too.
const mostFindings = 12

// findingsTable lists what rules find worth changing, the gravest first.
func findingsTable(list []report.Finding) table {
	out := table{name: "findings", title: "Worth changing", columns: []string{"severity", "rule", "layer", "what", "helps", "µs", "bytes"}}
	for _, f := range list {
		time, bytes := "", ""
		if f.Time > 0 {
			time = number(micros(f.Time))
		}
		if f.Bytes > 0 {
			bytes = fmt.Sprint(f.Bytes)
		}
		out.rows = append(out.rows, []string{string(f.Severity), f.Rule, f.Layer, f.Text, string(f.Remedy), time, bytes})
	}
	return out
}

// findings are what rules find in a snapshot.
func findings(s *report.Snapshot) []report.Finding { return advice.On(s).Findings }

// htmlFindings writes the gravest findings, each with a bar of the time that it is about.
func htmlFindings(b *bytes.Buffer, list []report.Finding, latency float64) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "<h2>Worth changing</h2>\n<ul class=\"findings\">\n")
	for _, f := range list[:min(len(list), mostFindings)] {
		where := ""
		if f.Layer != "" {
			where = "<code>" + html.EscapeString(f.Layer) + "</code> "
		}
		fmt.Fprintf(b, "<li class=\"%s\"><b>%s</b> %s%s", f.Severity, html.EscapeString(f.Rule), where, html.EscapeString(f.Text))
		if part := 100 * micros(f.Time) / latency; f.Time > 0 && latency > 0 {
			fmt.Fprintf(b, "<span class=\"bar\" title=\"%.1f µs, %.1f %% of the latency\"><span style=\"width:%.1f%%\"></span></span>", micros(f.Time), part, min(part, 100))
		}
		b.WriteString("</li>\n")
	}
	b.WriteString("</ul>\n")
	if n := len(list) - mostFindings; n > 0 {
		fmt.Fprintf(b, "<p>and %d more, in the table</p>\n", n)
	}
}
