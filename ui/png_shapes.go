package ui

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/vector"
)

// A pen draws in a cell: outlines in pixels from its upper left corner, with the edges of the cell where those of its neighbours are.
type pen struct {
	raster *vector.Rasterizer
	w, h   float32
	alpha  float64 // how much of the ground what is drawn covers
}

func newPen(w, h int) *pen {
	return &pen{raster: vector.NewRasterizer(w, h), w: float32(w), h: float32(h), alpha: 1}
}

// paint fills what was drawn.
func (p *pen) paint(to *image.RGBA, cell image.Rectangle, fg color.RGBA) {
	a := uint8(math.Round(255 * p.alpha))
	p.raster.Draw(to, cell, image.NewUniform(color.NRGBA{fg.R, fg.G, fg.B, a}), image.Point{})
}

// polygon adds one, of pairs of coordinates.
func (p *pen) polygon(at ...float32) {
	p.raster.MoveTo(at[0], at[1])
	for i := 2; i < len(at); i += 2 {
		p.raster.LineTo(at[i], at[i+1])
	}
	p.raster.ClosePath()
}

func (p *pen) rect(x0, y0, x1, y1 float32) { p.polygon(x0, y0, x1, y0, x1, y1, x0, y1) }

// disc adds a circle, of four curves.
func (p *pen) disc(x, y, r float32) {
	const k = 0.5523 // of the radius: where Bézier curves have their control points
	p.raster.MoveTo(x+r, y)
	for _, q := range [4][2]float32{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} { // clockwise: from the direction q to that turned right
		tx, ty := -q[1], q[0]
		p.raster.CubeTo(x+r*(q[0]+k*tx), y+r*(q[1]+k*ty), x+r*(tx+k*q[0]), y+r*(ty+k*q[1]), x+r*tx, y+r*ty)
	}
	p.raster.ClosePath()
}

// stroke adds a line of that thickness between two points.
func (p *pen) stroke(x0, y0, x1, y1, thick float32) {
	length := float32(math.Hypot(float64(x1-x0), float64(y1-y0)))
	nx, ny := -(y1-y0)/length*thick/2, (x1-x0)/length*thick/2
	p.polygon(x0+nx, y0+ny, x0-nx, y0-ny, x1-nx, y1-ny, x1+nx, y1+ny)
}

// shapeOf returns what draws a glyph that is no letter: box drawing (U+2500), block elements (U+2580), braille (U+2800) and the marks
// of [UnicodeGlyphs]; nil for others.
func shapeOf(g rune) func(*pen) {
	switch {
	case g >= 0x2800 && g <= 0x28ff:
		return func(p *pen) { braille(p, int(g-0x2800)) }
	case g >= 0x2580 && g <= 0x259f:
		return func(p *pen) { block(p, int(g-0x2580)) }
	}
	if arms, ok := boxArms[g]; ok {
		return func(p *pen) { box(p, arms) }
	}
	return marks[g]
}

// missing stands for a glyph that no font here has.
func missing(p *pen) {
	const inset, thick = 2, 1
	x, y := p.w-inset, p.h-inset-2
	p.rect(inset, inset+2, x, inset+2+thick)
	p.rect(inset, y-thick, x, y)
	p.rect(inset, inset+2+thick, inset+thick, y-thick)
	p.rect(x-thick, inset+2+thick, x, y-thick)
}

// boxArms are lines from the middle of the cell to its edges: up, right, down, left; 1 light, 2 heavy.
var boxArms = map[rune][4]int{
	'─': {0, 1, 0, 1}, '│': {1, 0, 1, 0}, '━': {0, 2, 0, 2}, '┃': {2, 0, 2, 0},
	'┌': {0, 1, 1, 0}, '┐': {0, 0, 1, 1}, '└': {1, 1, 0, 0}, '┘': {1, 0, 0, 1},
	'├': {1, 1, 1, 0}, '┤': {1, 0, 1, 1}, '┬': {0, 1, 1, 1}, '┴': {1, 1, 0, 1}, '┼': {1, 1, 1, 1},
	'╴': {0, 0, 0, 1}, '╵': {1, 0, 0, 0}, '╶': {0, 1, 0, 0}, '╷': {0, 0, 1, 0},
}

// thin is half a light line.
const thin = 1

func box(p *pen, arms [4]int) {
	x, y := p.w/2, p.h/2
	half := func(weight int) float32 { return float32(weight) * thin }
	if n := half(arms[0]); n > 0 {
		p.rect(x-n, 0, x+n, y+thin)
	}
	if n := half(arms[2]); n > 0 {
		from := y - thin
		if arms[0] > 0 {
			from = y + thin
		}
		p.rect(x-n, from, x+n, p.h)
	}
	side := half(max(arms[0], arms[2])) // where the upright line ends and those to the sides begin
	if n := half(arms[1]); n > 0 {
		p.rect(x+side, y-n, p.w, y+n)
	}
	if n := half(arms[3]); n > 0 {
		p.rect(0, y-n, x-side, y+n)
	}
}

// round draws a corner whose lines leave the cell at the right or left and at the bottom or top.
func round(p *pen, right, down bool) {
	x, y := p.w/2, p.h/2
	far, low := p.w, p.h
	dx, dy := float32(thin), float32(thin)
	if !right {
		far, dx = 0, -thin
	}
	if !down {
		low, dy = 0, -thin
	}
	p.raster.MoveTo(far, y-dy)
	p.raster.QuadTo(x-dx, y-dy, x-dx, low)
	p.raster.LineTo(x+dx, low)
	p.raster.QuadTo(x+dx, y+dy, far, y+dy)
	p.raster.ClosePath()
}

// block draws U+2580 and those behind it.
func block(p *pen, i int) {
	w, h := p.w, p.h
	quadrants := func(list ...int) { // upper left, upper right, lower left, lower right
		for _, q := range list {
			x, y := float32(q%2)*w/2, float32(q/2)*h/2
			p.rect(x, y, x+w/2, y+h/2)
		}
	}
	switch {
	case i == 0:
		p.rect(0, 0, w, h/2)
	case i <= 8: // lower eighths
		p.rect(0, h-h*float32(i)/8, w, h)
	case i < 0x10: // left eighths
		p.rect(0, 0, w*float32(0x10-i)/8, h)
	case i == 0x10:
		p.rect(w/2, 0, w, h)
	case i <= 0x13: // shades
		p.rect(0, 0, w, h)
		p.alpha = float64(i-0x10) / 4
	case i == 0x14:
		p.rect(0, 0, w, h/8)
	case i == 0x15:
		p.rect(w-w/8, 0, w, h)
	default:
		quadrants([][]int{{2}, {3}, {0}, {0, 2, 3}, {0, 3}, {0, 1, 2}, {0, 1, 3}, {1}, {1, 2}, {1, 2, 3}}[i-0x16]...)
	}
}

// braille draws dots: three rows of two, and one below.
func braille(p *pen, dots int) {
	for i, at := range [8][2]float32{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if dots>>i&1 == 1 {
			p.disc(p.w*(1+2*at[0])/4, p.h*(1+2*at[1])/8, p.w/7)
		}
	}
}

// marks are drawn by glyph.
var marks = map[rune]func(*pen){
	'╭': func(p *pen) { round(p, true, true) },
	'╮': func(p *pen) { round(p, false, true) },
	'╰': func(p *pen) { round(p, true, false) },
	'╯': func(p *pen) { round(p, false, false) },
	'┊': func(p *pen) {
		for i := range 4 {
			y := p.h * (float32(i) + 0.25) / 4
			p.rect(p.w/2-thin, y, p.w/2+thin, y+p.h/8)
		}
	},
	'▲': func(p *pen) { p.polygon(p.w/2, p.h*0.25, p.w, p.h*0.75, 0, p.h*0.75) },
	'▼': func(p *pen) { p.polygon(0, p.h*0.25, p.w, p.h*0.25, p.w/2, p.h*0.75) },
	'▸': func(p *pen) { p.polygon(p.w*0.2, p.h*0.3, p.w*0.85, p.h*0.5, p.w*0.2, p.h*0.7) },
	'◂': func(p *pen) { p.polygon(p.w*0.15, p.h*0.5, p.w*0.8, p.h*0.3, p.w*0.8, p.h*0.7) },
	'●': func(p *pen) { p.disc(p.w/2, p.h/2, p.w*0.42) },
	'‖': func(p *pen) {
		p.rect(p.w*0.25, p.h*0.2, p.w*0.25+2, p.h*0.8)
		p.rect(p.w*0.75-2, p.h*0.2, p.w*0.75, p.h*0.8)
	},
	'▤': func(p *pen) { stripes(p, false) },
	'▥': func(p *pen) { stripes(p, true) },
	'✓': func(p *pen) {
		p.stroke(p.w*0.1, p.h*0.55, p.w*0.4, p.h*0.72, 2.2)
		p.stroke(p.w*0.36, p.h*0.72, p.w*0.95, p.h*0.3, 2.2)
	},
	'✗': func(p *pen) {
		p.stroke(p.w*0.12, p.h*0.3, p.w*0.88, p.h*0.7, 2.2)
		p.stroke(p.w*0.88, p.h*0.3, p.w*0.12, p.h*0.7, 2.2)
	},
}

// stripes fills the cell with lines, side by side or below each other.
func stripes(p *pen, upright bool) {
	const every, thick = 4, 2
	if upright {
		for x := float32(1); x < p.w; x += every {
			p.rect(x, 0, x+thick, p.h)
		}
		return
	}
	for y := float32(1); y < p.h; y += every {
		p.rect(0, y, p.w, y+thick)
	}
}
