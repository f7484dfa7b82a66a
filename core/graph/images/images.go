// Package images decodes images as files hold them: JPEG, PNG, WebP, BMP, TIFF and the portable formats. Pixels are those that the
// libraries give by which models are trained, libjpeg-turbo and libwebp, to the last bit.
package images

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// Image is rows of pixels from the top, each of red, green and blue. Whatever is said of opacity is left out.
type Image struct {
	Rows, Columns int
	RGB           []byte
}

// TooLarge is the error of an image with more rows or columns than may be: none of it was decoded.
type TooLarge struct {
	Rows, Columns int
	Most          int // of either
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("an image of %d rows and %d columns; %d of either are planned for", e.Rows, e.Columns, e.Most)
}

// Unsupported is the error of an image in a format, or with a feature of it, that is not decoded here; others may.
type Unsupported struct{ What string }

func (e *Unsupported) Error() string { return "an image in " + e.What + ", which is not supported" }

// errFormat is the error of bytes that are no image, or a damaged one.
var errFormat = errors.New("no image, or a damaged one")

// format is one of the formats: how a file of it begins, where ? stands for any byte, and what is in it.
type format struct {
	name   string
	begin  string
	extent func(data []byte) (columns, rows int, err error) // nil for one that is not supported
	decode func(data []byte) (Image, error)
}

var formats = []format{
	{"JPEG", "\xff\xd8\xff", jpegExtent, decodeJPEG},
	{"PNG", "\x89PNG\r\n\x1a\n", pngExtent, decodePNG},
	{"WebP", "RIFF????WEBPVP8", webpExtent, decodeWebP},
	{"BMP", "BM", bmpExtent, decodeBMP},
	{"TIFF", "II*\x00", tiffExtent, decodeTIFF},
	{"TIFF", "MM\x00*", tiffExtent, decodeTIFF},
	{"a portable format", "P?", pnmExtent, decodePNM},
	{name: "JPEG 2000", begin: "\x00\x00\x00\x0cjP  \r\n\x87\n"},
	{name: "JPEG 2000", begin: "\xff\x4f\xff\x51"},
}

// begins reports whether data begin as files of the format do.
func (f format) begins(data []byte) bool {
	if len(data) < len(f.begin) {
		return false
	}
	for i, c := range []byte(f.begin) {
		if c != '?' && c != data[i] {
			return false
		}
	}
	return true
}

// Decode returns the image in a file. One of more rows or columns than most is refused before memory is taken for it. An error that is
// neither a [*TooLarge] nor an [*Unsupported] is that of bytes that are no image, or a damaged one.
func Decode(data []byte, most int) (Image, error) {
	for _, f := range formats {
		if !f.begins(data) {
			continue
		}
		if f.decode == nil {
			return Image{}, &Unsupported{f.name}
		}
		columns, rows, err := f.extent(data)
		if err != nil {
			return Image{}, f.refused(err)
		}
		if rows < 1 || columns < 1 {
			return Image{}, errFormat
		}
		if rows > most || columns > most {
			return Image{}, &TooLarge{rows, columns, most}
		}
		m, err := f.decode(data)
		if err != nil {
			return Image{}, f.refused(err)
		}
		if m.Rows != rows || m.Columns != columns {
			return Image{}, errFormat
		}
		return m, nil
	}
	return Image{}, errFormat
}

// refused is a library's error as one of ours.
func (f format) refused(err error) error {
	var ours *Unsupported
	var p png.UnsupportedError
	var t tiff.UnsupportedError
	switch {
	case errors.As(err, &ours):
		return err
	case errors.As(err, &p):
		return &Unsupported{fmt.Sprintf("%s with %s", f.name, string(p))}
	case errors.As(err, &t):
		return &Unsupported{fmt.Sprintf("%s with %s", f.name, string(t))}
	case errors.Is(err, bmp.ErrUnsupported):
		return &Unsupported{f.name + " of that kind"}
	}
	return fmt.Errorf("%w: %w", errFormat, err)
}

func extentOf(c image.Config, err error) (columns, rows int, _ error) { return c.Width, c.Height, err }

func pngExtent(data []byte) (columns, rows int, err error) {
	return extentOf(png.DecodeConfig(bytes.NewReader(data)))
}

func decodePNG(data []byte) (Image, error) { return pixels(png.Decode(bytes.NewReader(data))) }

func bmpExtent(data []byte) (columns, rows int, err error) {
	return extentOf(bmp.DecodeConfig(bytes.NewReader(data)))
}

func decodeBMP(data []byte) (Image, error) { return pixels(bmp.Decode(bytes.NewReader(data))) }

// webpExtent refuses a file that says it is longer than it is: the library takes memory for what a file says.
func webpExtent(data []byte) (columns, rows int, err error) {
	said := uint64(data[4]) | uint64(data[5])<<8 | uint64(data[6])<<16 | uint64(data[7])<<24
	if said > uint64(len(data)-8) {
		return 0, 0, errFormat
	}
	return extentOf(webp.DecodeConfig(bytes.NewReader(data)))
}

func decodeWebP(data []byte) (Image, error) {
	m, err := webp.Decode(bytes.NewReader(data))
	if err != nil {
		return Image{}, err
	}
	switch m := m.(type) {
	case *image.YCbCr:
		return webpPixels(m), nil
	case *image.NYCbCrA:
		return webpPixels(&m.YCbCr), nil
	}
	return pixels(m, nil)
}

// pixels are those of an image of Go's.
func pixels(m image.Image, err error) (Image, error) {
	if err != nil {
		return Image{}, err
	}
	r := m.Bounds()
	p := Image{r.Dy(), r.Dx(), make([]byte, r.Dy()*r.Dx()*3)}
	switch m := m.(type) {
	case *image.RGBA: // of a file without opacity, else premultiplied
		if m.Opaque() {
			p.quads(m.Pix, m.Stride)
			return p, nil
		}
	case *image.NRGBA:
		p.quads(m.Pix, m.Stride)
		return p, nil
	}
	at := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			p.RGB[at], p.RGB[at+1], p.RGB[at+2] = c.R, c.G, c.B
			at += 3
		}
	}
	return p, nil
}

// quads sets pixels to the first three of four bytes each.
func (m Image) quads(pix []byte, stride int) {
	at := 0
	for y := range m.Rows {
		for x := range m.Columns {
			at += copy(m.RGB[at:at+3], pix[y*stride+4*x:])
		}
	}
}

// clamp is a number as a byte.
func clamp(v int) byte { return byte(max(0, min(255, v))) }
