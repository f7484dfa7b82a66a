package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const intro = `<!-- Written by scripts/gpudoc from results/gpu; run make generate. -->

# Measured on a GPU

Latency of one inference in microseconds, inputs and outputs on the device. "ours" is ` + "`trtui bench --backend cuda`" + `; eager, graph and
compile are PyTorch as it comes, as a CUDA graph, and through ` + "`torch.compile(mode=\"max-autotune\")`" + `, on the same networks with batch
norms folded, fp32 with TF32 off, in whichever of the two memory layouts was faster. A ratio below 1 means that trtui is
faster. A commit in parentheses marks a figure that comes from an older run than the device's newest.

` + "`scripts/gpu.sh --budget SECONDS`" + ` measures what this page shows, and can be stopped and resumed; ` + "`make generate`" + ` then renews the page.
`

// page renders the document.
func page(cases []benchCase, devices []device) []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	if len(devices) == 0 {
		b.WriteString("\n**Nothing has been run on a GPU yet.** This is what will be measured:\n")
		writePlanned(&b, cases)
	}
	for _, d := range devices {
		writeDevice(&b, cases, d)
	}
	return b.Bytes()
}

// writePlanned lists the cases, a line for each model.
func writePlanned(b *bytes.Buffer, cases []benchCase) {
	b.WriteString("\n| model | batch | precision | result |\n|---|---|---|---|\n")
	var models []string
	batches, precisions := map[string][]string{}, map[string][]string{}
	add := func(list []string, s string) []string {
		if slices.Contains(list, s) {
			return list
		}
		return append(list, s)
	}
	for _, c := range cases {
		models = add(models, c.Model)
		batches[c.Model] = add(batches[c.Model], fmt.Sprint(c.Batch))
		precisions[c.Model] = add(precisions[c.Model], c.Precision)
	}
	for _, m := range models {
		fmt.Fprintf(b, "| %s | %s | %s | not run yet |\n", m, strings.Join(batches[m], ", "), strings.Join(precisions[m], ", "))
	}
}

func writeDevice(b *bytes.Buffer, cases []benchCase, d device) {
	newest := d.Runs[0]
	fmt.Fprintf(b, "\n## %s\n\nNewest run: commit %s, %s UTC.\n", d.Name, newest.commit(), strings.NewReplacer("T", " ", "Z", "").Replace(newest.newest()))
	writeStages(b, d)
	writeSelftest(b, d)
	writeBringup(b, d)
	writeSweep(b, d)
	writeTools(b, d)
	writeComparisons(b, d)
	b.WriteString("\n| model | batch | precision | ours | eager | graph | compile | ours / graph | ours / compile |\n|---|--:|---|--:|--:|--:|--:|--:|--:|\n")
	for _, c := range cases {
		fmt.Fprintf(b, "| %s | %d | %s |", c.Model, c.Batch, c.Precision)
		mine, haveMine := d.find(c, ours)
		fmt.Fprintf(b, " %s |", d.cell(mine, haveMine))
		peers := c.Precision != "int8" && c.Model != "digits"
		var ratios []string
		for _, column := range []string{eager, graph, compile} {
			theirs, have := d.find(c, column)
			cell := "–"
			if peers {
				cell = d.cell(theirs, have)
			}
			fmt.Fprintf(b, " %s |", cell)
			if column != eager {
				ratios = append(ratios, ratio(mine, theirs))
			}
		}
		fmt.Fprintf(b, " %s |\n", strings.Join(ratios, " | "))
	}
	if n := d.forbidden(); n > 0 {
		fmt.Fprintf(b, "\nSome of ours were measured without the tactics that had been found wrong by then, %d at most.\n", n)
	}
	if list := d.despite(cases); len(list) > 0 {
		fmt.Fprintf(b, "\nMeasured with tactics that the selftest had found wrong, since a layer has no others: %s.\n", strings.Join(list, ", "))
	}
}

// despite names the cases whose figure of ours is that of a measurement with tactics that were found wrong.
func (d device) despite(cases []benchCase) (list []string) {
	for _, c := range cases {
		for _, r := range d.Runs {
			for _, row := range r.Stages[ours].Rows {
				name := fmt.Sprintf("%s %d %s", c.Model, c.Batch, c.Precision)
				if row.Despite && (benchCase{row.Model, row.Batch, row.Precision}) == c && !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

// forbidden is how many tactics a figure of ours had to do without, at most.
func (d device) forbidden() (n int) {
	for _, r := range d.Runs {
		for _, row := range r.Stages[ours].Rows {
			n = max(n, row.Forbidden)
		}
	}
	return n
}

// cell shows a figure with its layout, and its commit where that is not the newest run's.
func (d device) cell(f figure, have bool) string {
	if !have {
		return "not run yet"
	}
	s := "failed"
	if f.us > 0 {
		s = fmt.Sprintf("%.1f", f.us)
		if f.us >= 1000 {
			s = fmt.Sprintf("%.0f", f.us)
		}
	}
	if f.layout != "" {
		s += " " + f.layout
	}
	if f.run > 0 {
		s += fmt.Sprintf(" (%s)", d.Runs[f.run].commit())
	}
	return s
}

// ratio is mine over theirs, or nothing where one of them is missing.
func ratio(mine, theirs figure) string {
	if mine.us == 0 || theirs.us == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", mine.us/theirs.us)
}
