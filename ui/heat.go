package ui

import "math"

// HeatMap shows values in a grid of rows and columns on a sequential scale, with
// textures where there is no colour: error over the elements of a tensor. Where
// there are more values than cells, a cell shows the largest of its values.
type HeatMap struct {
	Rows, Columns int
	Value         func(row, column int) float64
	Max           float64 // end of the scale; 0: the largest value
}

// Draw draws the grid over all of c.
func (m HeatMap) Draw(c *Canvas) {
	if m.Rows <= 0 || m.Columns <= 0 || c.W <= 0 || c.H <= 0 {
		return
	}
	w, h := min(m.Columns, c.W), min(m.Rows, c.H)
	values := make([]float64, w*h)
	top := m.Max
	for r := range m.Rows {
		for k := range m.Columns {
			i := r*h/m.Rows*w + k*w/m.Columns
			v := positive(math.Abs(m.Value(r, k)))
			values[i] = max(values[i], v)
			if m.Max == 0 {
				top = max(top, v)
			}
		}
	}
	for y := range h {
		for x := range w {
			m.drawCell(c, Rect{x * c.W / w, y * c.H / h, 0, 0}, (x+1)*c.W/w, (y+1)*c.H/h, min(values[y*w+x]/max(top, 1e-300), 1))
		}
	}
}

func (m HeatMap) drawCell(c *Canvas, r Rect, x1, y1 int, part float64) {
	g := c.Glyphs()
	r.W, r.H = x1-r.X, y1-r.Y
	if !c.Mono() && !g.ASCII {
		c.Fill(r, ' ', On(Heat(part)))
		return
	}
	ramp := []rune(" ░▒▓█")
	if g.ASCII {
		ramp = []rune(" .:+#")
	}
	c.Fill(r, ramp[min(int(part*float64(len(ramp))), len(ramp)-1)], Plain)
}
