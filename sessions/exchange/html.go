package exchange

import (
	"bytes"
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
	if s.Timings != nil && len(s.Timings.Layers) > 0 {
		list = append(list, timingsPicture(s.Timings))
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

const pageStyle = `
:root{color-scheme:light dark;--fg:#1d2129;--bg:#fff;--soft:#68707d;--line:#d9dde3;--f32:#3a78c9;--f16:#8a5cc2;--i8:#1f9d68;--other:#8a8f98;--warn:#c9781f}
@media(prefers-color-scheme:dark){:root{--fg:#d8dee9;--bg:#16181d;--soft:#8d96a5;--line:#353b45;--f32:#6ba5ef;--f16:#b58cf0;--i8:#4ecb95;--other:#7c8492;--warn:#e6a04c}}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}main{max-width:1100px;margin:auto;padding:1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem}dt{color:var(--soft)}dd{margin:0}
figure{margin:0;overflow-x:auto}figcaption{color:var(--soft);font-size:.85rem}svg text{fill:var(--fg);font:12px system-ui,sans-serif}svg .soft{fill:var(--soft)}
svg .f32{fill:var(--f32)}svg .f16{fill:var(--f16)}svg .i8{fill:var(--i8)}svg .other{fill:var(--other)}svg .warn{fill:var(--warn)}svg .s0{fill:var(--f32)}svg .s1{fill:#c9781f}svg .s2{fill:#7a8f3c}svg .s3{fill:#b0578d}svg .axis{stroke:var(--line);fill:none}svg .edge{stroke:var(--soft);fill:none}
details{margin:1rem 0;overflow-x:auto}summary{cursor:pointer}table{border-collapse:collapse;font-size:.85rem}th,td{text-align:left;padding:.15rem .6rem;border-bottom:1px solid var(--line);white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}
`
