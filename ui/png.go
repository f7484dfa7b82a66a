package ui

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	fixedpoint "golang.org/x/image/math/fixed"
)

// The measures of a PNG, in pixels.
const (
	pngCellWidth  = 12
	pngCellHeight = 24
	pngMargin     = 12
	pngBaseline   = 18 // of a cell
	pngFontSize   = 20 // at which letters of Go Mono are as wide as a cell
)

// PNG draws the picture as pixels: letters in Go Mono, lines, blocks, braille and marks as shapes that fill their cells. What the font
// does not have is an empty box.
func (p Picture) PNG() ([]byte, error) {
	ground, ink := p.Theme.sheet()
	lines, cells := p.lines()
	c, err := newPixels(cells, len(lines), ground)
	if err != nil {
		return nil, err
	}
	for y, line := range lines {
		for _, r := range styledRuns(line) {
			fg, bg := r.style.colours(ink, ground)
			c.run(r, y, rgb(fg), rgb(bg))
		}
	}
	var b bytes.Buffer
	err = png.Encode(&b, c.image)
	return b.Bytes(), err
}

// rgb reads a colour as #rrggbb.
func rgb(text string) color.RGBA {
	n, _ := strconv.ParseUint(text[1:], 16, 32)
	return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 0xff}
}

// pixels is a picture that is being drawn.
type pixels struct {
	image   *image.RGBA
	letters [2]typeface // plain and bold
	buffer  sfnt.Buffer
}

// typeface is a font at the size of the cells.
type typeface struct {
	font *opentype.Font
	face font.Face
}

func newPixels(cells, lines int, ground string) (*pixels, error) {
	c := &pixels{image: image.NewRGBA(image.Rect(0, 0, 2*pngMargin+cells*pngCellWidth, 2*pngMargin+lines*pngCellHeight))}
	draw.Draw(c.image, c.image.Rect, image.NewUniform(rgb(ground)), image.Point{}, draw.Src)
	for i, data := range [][]byte{gomono.TTF, gomonobold.TTF} {
		f, err := opentype.Parse(data)
		if err != nil {
			return nil, err
		}
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: pngFontSize, DPI: 72})
		if err != nil {
			return nil, err
		}
		c.letters[i] = typeface{f, face}
	}
	return c, nil
}

// run draws cells that look the same.
func (c *pixels) run(r styledRun, y int, fg, bg color.RGBA) {
	at := image.Pt(pngMargin+r.column*pngCellWidth, pngMargin+y*pngCellHeight)
	box := image.Rect(0, 0, r.width*pngCellWidth, pngCellHeight).Add(at)
	draw.Draw(c.image, box, image.NewUniform(bg), image.Point{}, draw.Src)
	if r.style.underline {
		line := image.Rect(box.Min.X, at.Y+pngBaseline+3, box.Max.X, at.Y+pngBaseline+4)
		draw.Draw(c.image, line, image.NewUniform(fg), image.Point{}, draw.Src)
	}
	letters := c.letters[0]
	if r.style.bold {
		letters = c.letters[1]
	}
	for _, g := range r.text {
		n := glyphWidth(g)
		c.glyph(g, image.Rect(0, 0, n*pngCellWidth, pngCellHeight).Add(at), fg, letters)
		at.X += n * pngCellWidth
	}
}

// glyph draws one in its cells.
func (c *pixels) glyph(g rune, cell image.Rectangle, fg color.RGBA, letters typeface) {
	if g == ' ' || cell.Empty() {
		return
	}
	if shape := shapeOf(g); shape != nil {
		p := newPen(cell.Dx(), cell.Dy())
		shape(p)
		p.paint(c.image, cell, fg)
		return
	}
	if i, err := letters.font.GlyphIndex(&c.buffer, g); err != nil || i == 0 {
		p := newPen(cell.Dx(), cell.Dy())
		missing(p)
		p.paint(c.image, cell, fg)
		return
	}
	d := font.Drawer{Dst: c.image, Src: image.NewUniform(fg), Face: letters.face, Dot: fixedpoint.P(cell.Min.X, cell.Min.Y+pngBaseline)}
	d.DrawString(string(g))
}
