package ui

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/v2/sparkline"
)

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
	m := sparkline.New(c.W, c.H, sparkline.WithMaxValue(top), sparkline.WithNoAutoMaxValue())
	for _, v := range values {
		m.Push(min(positive(v), top))
	}
	m.DrawColumnsOnly()
	blit(c, 0, 0, &m.Canvas, s.Style)
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
