package exchange

import (
	"bytes"
	_ "embed" // for page.css
	"fmt"
	"html"

	"github.com/trtui/trtui/sessions/report"
)

// HTML writes a snapshot as a page that needs nothing else: facts, pictures as SVG, and all tables folded. It has no scripts, and
// follows the reader's choice of light or dark.
func HTML(s *report.Snapshot) ([]byte, error) {
	list := tables(s)
	if len(list) == 0 {
		return nil, errNoTables
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<style>%s</style></head><body>\n<main>\n<h1>%s</h1>\n",
		html.EscapeString(title(s)), pageStyle, html.EscapeString(title(s)))
	b.WriteString("<dl>\n")
	for _, f := range facts(s) {
		fmt.Fprintf(&b, "<dt>%s</dt><dd>%s</dd>\n", html.EscapeString(f[0]), html.EscapeString(f[1]))
	}
	b.WriteString("</dl>\n")
	latency := 0.0
	if s.Timings != nil {
		latency = micros(s.Timings.EndToEnd.Median)
	}
	htmlFindings(&b, findings(s), latency)
	for _, p := range pictures(s) {
		fmt.Fprintf(&b, "<h2>%s</h2>\n<figure>%s<figcaption>%s</figcaption></figure>\n", html.EscapeString(p.title), p.svg, html.EscapeString(p.caption))
	}
	for _, t := range list {
		htmlTable(&b, t)
	}
	b.WriteString("</main></body></html>\n")
	return b.Bytes(), nil
}

// htmlTable writes a table that is folded at first.
func htmlTable(b *bytes.Buffer, t table) {
	fmt.Fprintf(b, "<details><summary>%s: %d rows</summary>\n<table><thead><tr>", html.EscapeString(t.title), len(t.rows))
	for _, c := range t.columns {
		fmt.Fprintf(b, "<th>%s</th>", html.EscapeString(c))
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, row := range t.rows {
		b.WriteString("<tr>")
		for _, cell := range row {
			class := ""
			if isNumber(cell) {
				class = ` class="n"`
			}
			fmt.Fprintf(b, "<td%s>%s</td>", class, html.EscapeString(cell))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></details>\n")
}

// picture is a drawing with its title.
type picture struct{ title, caption, svg string }

// pictures are drawn of the reports that there are.
func pictures(s *report.Snapshot) (list []picture) {
	if p, ok := triedPicture(s.Tried, s.Model.Quantized()); ok {
		list = append(list, p)
	}
	if p, ok := searchedPicture(s.Search, s.Model.Quantized()); ok {
		list = append(list, p)
	}
	if s.Timings != nil && len(s.Timings.Layers) > 0 {
		list = append(list, timingsPicture(s.Timings))
		if p, ok := rooflinePicture(s.Timings); ok {
			list = append(list, p)
		}
	}
	if s.Passes != nil && len(s.Passes.Ledger) > 0 {
		list = append(list, fusionPicture(s.Passes))
	}
	if s.Memory != nil && len(s.Memory.Slots) > 0 && len(s.Memory.Steps) > 0 {
		list = append(list, memoryPicture(s.Memory))
	}
	if s.Accuracy != nil && len(s.Accuracy.Layers) > 0 {
		list = append(list, accuracyPicture(s.Accuracy))
	}
	if s.Calibration != nil && len(s.Calibration.Tensors) > 0 {
		list = append(list, calibrationPicture(s.Calibration, s.Config.Quantization.Scheme().DataType().String() == "u8"))
	}
	return list
}

// pageStyle is the look of the page, by the reader's choice of light or dark.
//
//go:embed page.css
var pageStyle string
