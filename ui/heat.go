package ui

import "math"

// HeatMap shows values in a grid of rows and columns on a sequential scale, with
// textures where there is no colour: error over the elements of a tensor. Where
// there are more values than cells, a cell shows the largest of its values; one
// that is NaN leaves its cell empty.
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
	for i := range values {
		values[i] = math.NaN()
	}
	top := m.Max
	for r := range m.Rows {
		for k := range m.Columns {
			i := r*h/m.Rows*w + k*w/m.Columns
			v := m.Value(r, k)
			if math.IsNaN(v) {
				continue
			}
			v = positive(math.Abs(v))
			values[i] = max(positive(values[i]), v)
			if m.Max == 0 {
				top = max(top, v)
			}
		}
	}
	for y := range h {
		for x := range w {
			if v := values[y*w+x]; !math.IsNaN(v) {
				m.drawCell(c, place(c, x, w, y, h), min(v/max(top, 1e-300), 1))
			}
		}
	}
}

// place is that of column x of w and row y of h on c.
func place(c *Canvas, x, w, y, h int) Rect {
	r := Rect{X: x * c.W / w, Y: y * c.H / h}
	r.W, r.H = (x+1)*c.W/w-r.X, (y+1)*c.H/h-r.Y
	return r
}

func (m HeatMap) drawCell(c *Canvas, r Rect, part float64) {
	g := c.Glyphs()
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
