package ui

import "math"

// Spark is a line of columns, the last values at the right.
type Spark struct {
	Values []float64
	Max    float64 // 0: the largest value
	Style  Style
}

// Draw draws the columns over all of c.
func (s Spark) Draw(c *Canvas) {
	if c.W <= 0 || c.H <= 0 || len(s.Values) == 0 {
		return
	}
	values := s.Values[max(len(s.Values)-c.W, 0):]
	top := s.Max
	for _, v := range values {
		if s.Max == 0 {
			top = max(top, positive(v))
		}
	}
	if !(top > 0) || math.IsInf(top, 0) {
		top = 1
	}
	if c.H == 1 {
		top *= 8.0 / 7 // full cells would join the line above
	}
	g := c.Glyphs().Columns
	steps := len(g) - 1
	for i, v := range values {
		height := int(math.Round(min(positive(v), top) * float64(c.H) / top * float64(steps)))
		for y := c.H - 1; y >= 0 && height > 0; y-- {
			c.Set(c.W-len(values)+i, y, g[min(height, steps)], s.Style)
			height -= steps
		}
	}
}

// stretched gives each value as many of w cells as all have room for, from the left.
func stretched(values []float64, w int) []float64 {
	if len(values) == 0 || w <= len(values) {
		return values
	}
	out, each := make([]float64, w), w/len(values)
	for i := range len(values) * each {
		out[i] = values[i/each]
	}
	return out
}
