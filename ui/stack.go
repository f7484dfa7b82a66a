package ui

import (
	"fmt"
	"math"
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
	p.drawLegend(c, total)
}

// fill returns what a part is drawn with: textures where there is no colour, and where a glyph fills no cell.
func (p Proportions) fill(c *Canvas, i int) rune {
	if c.Mono() || c.Glyphs().ASCII {
		return c.Glyphs().Fill(i)
	}
	return c.Glyphs().Fill(0) // the legend keeps the order of the bar
}

func (p Proportions) drawLegend(c *Canvas, total float64) {
	x, y := 1, 1
	for i, part := range p.Parts {
		text := fmt.Sprintf("%s %.0f%%", part.Name, 100*positive(part.Value)/total)
		if p.Unit != "" {
			text = fmt.Sprintf("%s %.3g%s %.0f%%", part.Name, part.Value, p.Unit, 100*positive(part.Value)/total)
		}
		if w := Width(text) + 2; x > 1 && x+w > c.W-1 {
			x, y = 1, y+1
		}
		c.Set(x, y, p.fill(c, i), part.Style)
		x = c.Fit(x+2, y, c.W-x-3, Plain, text) + 3
	}
}

// positive returns v, or 0 if it is negative or not a finite number.
func positive(v float64) float64 {
	if v > 0 && !math.IsInf(v, 0) {
		return v
	}
	return 0
}
