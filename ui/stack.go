package ui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Part is a share of a whole.
type Part struct {
	Name  string
	Value float64
	Style Style
}

// Proportions is one bar split into parts, with a legend below: FP32, FP16 and
// INT8 layers by time.
type Proportions struct {
	Parts []Part
	Unit  string // after each value in the legend; empty: per cent only
}

// Draw draws the bar in the first line of c and the legend in those below.
func (p Proportions) Draw(c *Canvas) {
	total := 0.0
	for _, part := range p.Parts {
		total += positive(part.Value)
	}
	if total == 0 {
		c.Fill(Rect{1, 0, c.W - 2, 1}, c.Glyphs().Empty, Faint)
		return
	}
	w := max(c.W-2, 0)
	x, sum := 1, 0.0
	for i, part := range p.Parts {
		sum += positive(part.Value)
		end := 1 + int(math.Round(sum/total*float64(w)))
		c.Fill(Rect{x, 0, end - x, 1}, p.fill(c, i), part.Style)
		x = end
	}
	p.drawLegend(c)
}

// fill returns what a part is drawn with: textures where there is no colour, and where a glyph fills no cell.
func (p Proportions) fill(c *Canvas, i int) rune {
	if c.Mono() || c.Glyphs().ASCII {
		return c.Glyphs().Fill(i)
	}
	return c.Glyphs().Fill(0) // the legend keeps the order of the bar
}

// Lines returns how many lines the bar and its legend take in w cells with all that is to be said.
func (p Proportions) Lines(w int) int {
	_, lines := p.arrange(p.entries(legendWhole), w)
	return 1 + lines
}

// The forms of a legend's entries, each shorter than the one before.
const (
	legendWhole   = iota
	legendShares  // without values
	legendWords   // with three letters of each word of names, too
	legendLetters // of the first word alone
	legendForms
)

// legendEntry is what a legend says of a part, and where.
type legendEntry struct {
	part, x, y int
	text       string
}

// entries returns the legend in a form.
func (p Proportions) entries(form int) []legendEntry {
	total := 0.0
	for _, part := range p.Parts {
		total += positive(part.Value)
	}
	var list []legendEntry
	for i, part := range p.Parts {
		text := part.Name
		if form >= legendWords {
			words := strings.Fields(text)
			for k := range words {
				words[k] = Truncate(words[k], 3, 0)
			}
			if form >= legendLetters {
				words = words[:min(1, len(words))]
			}
			text = strings.Join(words, " ")
		}
		if p.Unit != "" && form < legendShares {
			text += fmt.Sprintf(" %.3g%s", part.Value, p.Unit)
		}
		list = append(list, legendEntry{part: i, text: text + fmt.Sprintf(" %.0f%%", 100*positive(part.Value)/total)})
	}
	return list
}

// arrange places entries in lines of w cells, and returns how many these are.
func (p Proportions) arrange(list []legendEntry, w int) ([]legendEntry, int) {
	x, y := 1, 1
	for i := range list {
		e := &list[i]
		size := Width(e.text) + 2
		if x > 1 && x+size > w-1 {
			x, y = 1, y+1
		}
		e.x, e.y = x, y
		x += size + 3
	}
	return list, y
}

// drawLegend draws the longest form for which there are lines. Where there are too few for the shortest, the smallest parts have
// no entry.
func (p Proportions) drawLegend(c *Canvas) {
	list, lines := p.arrange(p.entries(legendWhole), c.W)
	for form := legendShares; form < legendForms && lines > c.H-1; form++ {
		list, lines = p.arrange(p.entries(form), c.W)
	}
	for len(list) > 1 && lines > c.H-1 {
		least := slices.MinFunc(list, func(a, b legendEntry) int { return cmp.Compare(p.Parts[a.part].Value, p.Parts[b.part].Value) })
		list, lines = p.arrange(slices.DeleteFunc(list, func(e legendEntry) bool { return e.part == least.part }), c.W)
	}
	for _, e := range list {
		c.Set(e.x, e.y, p.fill(c, e.part), p.Parts[e.part].Style)
		c.Fit(e.x+2, e.y, c.W-e.x-3, Plain, e.text)
	}
}

// positive returns v, or 0 if it is negative or not a finite number.
func positive(v float64) float64 {
	if v > 0 && !math.IsInf(v, 0) {
		return v
	}
	return 0
}
