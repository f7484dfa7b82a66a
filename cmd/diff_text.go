package cmd

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// mainGroups returns the groups that are worth a row: all of them where that is asked for, or else those that differ or make 1 % of
// the time of all layers; and how many others there are.
func mainGroups(d *report.Diff, all bool) (list []report.LayerChange, others int) {
	for _, c := range d.Groups {
		if all || c.Significant || c.Kind != report.KindSame && c.Kind != report.KindTactic || math.Abs(c.Share) >= 0.01 {
			list = append(list, c)
		}
	}
	return list, len(d.Groups) - len(list)
}

// writeDiff prints what changed, as text.
func writeDiff(w io.Writer, d *report.Diff, all bool) {
	var rows [][]string
	for i, s := range []report.DiffSide{d.A, d.B} {
		arena, weights := takenText(&s)
		rows = append(rows, []string{"AB"[i : i+1], s.Name, s.Model, s.Label, ms(s.Latency), known(s.SQNR, decibels), known(s.Top1, percent), arena, weights, fmt.Sprint(s.Steps), deviceText(s.Device)})
	}
	writeTable(w, []string{"", "name", "model", "configuration", ">median ms", ">SQNR dB", ">top-1 %", "~>arena", "~>weights", "~>steps", "~device"}, rows)
	fmt.Fprintln(w)
	for _, n := range d.Notes {
		writeNote(w, "note: %s", n)
	}
	writeNote(w, "%s", endToEnd(d))
	fmt.Fprintf(w, "  = %s\n", inLayers(d))
	writeNote(w, "%s", judged(d))
	for _, line := range append(told(d), sourceLines(d)...) {
		writeNote(w, "%s", line)
	}
	groups, others := mainGroups(d, all)
	if len(groups) > 0 {
		fmt.Fprintln(w)
		writeGroups(w, groups)
	}
	if others > 0 {
		writeNote(w, "\n%s hardly changed; --all lists them", othersText(len(groups), others))
	}
}

// takenText says what a side's arena and weights take, as far as that is known.
func takenText(s *report.DiffSide) (arena, weights string) {
	text := func(n int) string {
		if n == 0 && s.Memory == nil {
			return "-"
		}
		return bytesText(n)
	}
	return text(s.Arena), text(s.Weights)
}

// othersText counts the groups that are not listed, of which there are more where some are.
func othersText(listed, others int) string {
	if listed > 0 {
		return count(others, "more group")
	}
	return count(others, "group")
}

// writeGroups prints a row for each group, with a bar to the left for what is faster and to the right for what is slower.
func writeGroups(w io.Writer, groups []report.LayerChange) {
	var most time.Duration
	for _, c := range groups {
		most = max(most, c.Delta, -c.Delta)
	}
	var rows [][]string
	for _, c := range groups {
		a, b := groupTimes(c)
		x, y := c.SQNR()
		rows = append(rows, []string{
			changeName(&c), signedUS(c.Delta), diverging(float64(c.Delta), float64(most), 8), a, b, ratioText(c.Ratio), verdictText(&c), known(c.Q, chance), ratioText(c.Told),
			c.Kind, precisions(c), tacticsText(c), pairText(x, y),
		})
	}
	writeTable(w, []string{"@layer", ">change µs", "faster | slower", ">A", ">B", ">B/A", "", ">q", "~>told from", "kind", "types", "~tactics", "~SQNR dB"}, rows)
}

// verdictText says what is known of a change, and of one that is too small to count below what it is.
func verdictText(c *report.LayerChange) string {
	if c.Slight {
		return c.Verdict() + ", " + c.Under()
	}
	return c.Verdict()
}

// endToEnd says what came of the latency.
func endToEnd(d *report.Diff) string {
	e := d.EndToEnd
	beyond, common := d.Beyond()
	text := fmt.Sprintf("end to end %s -> %s ms: %s µs", ms(e.A), ms(e.B), signedUS(e.Delta))
	switch {
	case d.A.Estimated && d.B.Estimated:
		text += ", estimated"
	case !e.Known():
		text += ", too few samples to tell from noise"
	case e.Noise() && e.Loose():
		text += ", too noisy to tell"
	case !e.Significant:
		text += ", no significant difference"
	case common && !beyond.Significant:
		text += ", no significant difference" + d.Common.Besides()
	case common:
		text += ", " + e.Beside(e.A, e.B).Faster() + d.Common.Within()
	default:
		text += ", " + e.Beside(e.A, e.B).Faster()
	}
	if e.Known() && !d.A.Estimated {
		text += fmt.Sprintf(" (A/B %.3f to %.3f with 99 %% confidence", e.Low, e.High)
		switch {
		case e.LayersApart:
			text += ", measured in the same rounds; their layers were not)"
		case e.SideBySide:
			text += ", measured in the same rounds)"
		default:
			text += "; not measured side by side: what changed on the machine meanwhile is in it)"
		}
	}
	return text
}

// inLayers says where the change of the latency lies, and what the rows below come to where that is something else.
func inLayers(d *report.Diff) string {
	text := signedUS(d.Layers) + " µs in layers"
	if d.Apart() {
		text += fmt.Sprintf(" (their medians make %s µs: runs vary)", signedUS(d.Medians))
	}
	return text + fmt.Sprintf(", %s µs between layers", signedUS(d.Between))
}

// judged counts the groups by what is known of them.
func judged(d *report.Diff) string {
	verdicts, kinds := map[string]int{}, map[string]int{}
	for _, c := range d.Groups {
		verdicts[c.Verdict()]++
		kinds[c.Kind]++
	}
	list := func(counts map[string]int, order ...string) string {
		var words []string
		for _, name := range order {
			if counts[name] > 0 {
				words = append(words, fmt.Sprintf("%d %s", counts[name], name))
			}
		}
		return strings.Join(words, ", ")
	}
	text := fmt.Sprintf("%s of layers: %s", count(len(d.Groups), "group"), list(verdicts, "slower", "faster", "no significant difference", "too small to count", "too few samples to tell", report.KindAdded, report.KindRemoved))
	if by := list(kinds, report.KindTyped, report.KindTactic, report.KindFused, report.KindSplit, report.KindMerged, report.KindSame); by != "" {
		text += "; by kind: " + strings.Replace(by, " tactic", " of another tactic", 1)
	}
	return text + fmt.Sprintf(" (false discovery rate %.0f %%)", 100*d.Discoveries)
}

// told says what single layers' changes are held against: what all have in common, and how much has to differ.
func told(d *report.Diff) (lines []string) {
	if text := d.Common.Text(); text != "" {
		lines = append(lines, text)
	}
	if text := d.Resolution(); text != "" {
		if d.Coarse() {
			text += "; less cannot be told apart in these: measure in turns with trtui diff MODEL@A MODEL@B"
		}
		lines = append(lines, text)
	}
	return lines
}

// sourceLines name the source layers that one model alone has.
func sourceLines(d *report.Diff) (lines []string) {
	for _, l := range []struct {
		what  string
		names []string
	}{{"only in A's model", d.RemovedSources}, {"only in B's model", d.AddedSources}} {
		if n := len(l.names); n > 0 {
			const few = 5
			text := fmt.Sprintf("%s: %s: %s", l.what, count(n, "layer"), ui.VisibleName(strings.Join(l.names[:min(few, n)], ", ")))
			if n > few {
				text += ", ..."
			}
			lines = append(lines, text)
		}
	}
	const few = 5
	for i := range d.ChangedSources[:min(few, len(d.ChangedSources))] {
		c := &d.ChangedSources[i]
		lines = append(lines, fmt.Sprintf("not the same layer in both models: %s: %s", ui.VisibleName(c.Name), c.Text(ui.Bytes)))
	}
	if n := len(d.ChangedSources) - few; n > 0 {
		lines = append(lines, "not the same layer in both models: "+count(n, "more layer"))
	}
	return lines
}

// writeDiffMarkdown prints what changed as Markdown, as for a pull request.
func writeDiffMarkdown(w io.Writer, d *report.Diff, all bool) {
	writeMarkdown(w, []string{"", "name", "configuration", ">median ms", ">SQNR dB", ">top-1 %", ">arena", ">weights", "device"}, func(row func(...string)) {
		for i, s := range []report.DiffSide{d.A, d.B} {
			arena, weights := takenText(&s)
			row("AB"[i:i+1], s.Name, s.Label, ms(s.Latency), known(s.SQNR, decibels), known(s.Top1, percent), arena, weights, deviceText(s.Device))
		}
	})
	fmt.Fprintf(w, "\n**%s**\n\n%s. %s.\n\n", endToEnd(d), inLayers(d), judged(d))
	for _, line := range slices.Concat(d.Notes, told(d), sourceLines(d)) {
		fmt.Fprintf(w, "- %s\n", line)
	}
	groups, others := mainGroups(d, all)
	fmt.Fprintln(w)
	writeMarkdown(w, []string{"layer", ">change µs", ">A", ">B", ">B/A", "verdict", ">q", ">told from", "kind", "types", "tactics", "SQNR dB"}, func(row func(...string)) {
		for _, c := range groups {
			a, b := groupTimes(c)
			x, y := c.SQNR()
			row("`"+changeName(&c)+"`", signedUS(c.Delta), a, b, ratioText(c.Ratio), verdictText(&c), known(c.Q, chance), ratioText(c.Told), c.Kind, precisions(c), tacticsText(c), pairText(x, y))
		}
	})
	if others > 0 {
		fmt.Fprintf(w, "\n%s hardly changed.\n", othersText(len(groups), others))
	}
}

// writeMarkdown writes a table of Markdown; a header that begins with ">" heads a column of numbers.
func writeMarkdown(w io.Writer, header []string, rows func(row func(...string))) {
	rule := make([]string, len(header))
	for i, h := range header {
		rule[i] = "---"
		if name, number := strings.CutPrefix(h, ">"); number {
			header[i], rule[i] = name, "--:"
		}
	}
	row := func(cells ...string) {
		for i, c := range cells {
			cells[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(c)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	row(header...)
	row(rule...)
	rows(row)
}

// changeName names a group, by both sides where it is not names that align it.
func changeName(c *report.LayerChange) string {
	a, b := c.Names()
	if !c.Alike || a == b {
		return short(c.Name)
	}
	return short(a) + " -> " + short(b)
}

func groupTimes(c report.LayerChange) (a, b string) {
	sum := func(side []report.LayerSide) string {
		if len(side) == 0 {
			return "-"
		}
		var t time.Duration
		for _, l := range side {
			t += l.Time
		}
		return us(t)
	}
	return sum(c.A), sum(c.B)
}

func ratioText(r float64) string {
	if r == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", r)
}

// chance prints a small share.
func chance(v float64) string {
	if v < 0.001 {
		return "<.001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0")
}

// arrow prints two lists, or the one where both are the same.
func arrow(a, b []string) string {
	x, y := strings.Join(slices.Compact(a), "+"), strings.Join(slices.Compact(b), "+")
	switch {
	case x == y || y == "":
		return x
	case x == "":
		return y
	}
	return x + " -> " + y
}

func each(side []report.LayerSide, of func(report.LayerSide) string) (list []string) {
	for _, l := range side {
		list = append(list, of(l))
	}
	return list
}

func precisions(c report.LayerChange) string {
	of := func(l report.LayerSide) string { return l.Precision }
	return arrow(each(c.A, of), each(c.B, of))
}

func tacticsText(c report.LayerChange) string {
	of := func(l report.LayerSide) string { return l.Tactic }
	return arrow(each(c.A, of), each(c.B, of))
}

func pairText(a, b *float64) string {
	if a == nil && b == nil {
		return "-"
	}
	return known(a, decibels) + " -> " + known(b, decibels)
}

func deviceText(d report.Device) string {
	text := d.Device
	if d.Threads > 0 {
		text += ", " + count(d.Threads, "thread")
	}
	return text
}
