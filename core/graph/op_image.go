package graph

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/core/graph/images"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// The forms of an ImageDecoder's pixels.
const (
	PixelsRGB  = "RGB"
	PixelsBGR  = "BGR"
	PixelsGrey = "Grayscale"
)

// ImageDecoderAttrs are the attributes of ImageDecoder.
type ImageDecoderAttrs struct {
	Pixels        string // their form
	Most          int    // rows, and columns, that an image may have
	Rows, Columns string // the symbols of how many it has, where that does not follow from constants; "" if it must
}

// ImageDecoder decodes an image of which the bytes of the file are U8 [N]: to U8 [rows, columns, 3], or 1 of grey, from the top. Bytes
// that are no image, and those of a damaged one, are one without rows and columns. How many these are is counted on outputs 1 and 2,
// lists of that length, where it does not follow from constants.
var ImageDecoder = &Op{
	Name:  "ImageDecoder",
	Attrs: ImageDecoderAttrs{},
	Reals: AsStored,
	Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Counted: func(l *Layer) []Counting {
		a := l.Attrs.(ImageDecoderAttrs)
		if a.Rows == "" || a.Columns == "" || len(l.Outputs) < 3 || l.Inputs[0] == nil {
			return nil
		}
		if _, err := l.Inputs[0].determined(); err == nil {
			return nil
		}
		most := symbolic.Const(a.Most)
		return []Counting{{Symbol: a.Rows, Output: 1, Most: most}, {Symbol: a.Columns, Output: 2, Most: most}}
	},
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a := l.Attrs.(ImageDecoderAttrs)
		switch {
		case x.Type != numeric.U8 || len(x.Dims) != 1:
			return fmt.Errorf("input %s: want the bytes of a file, a list of u8", x)
		case a.channels() == 0:
			return fmt.Errorf("pixels of %q; they are %s, %s or %s", a.Pixels, PixelsRGB, PixelsBGR, PixelsGrey)
		case a.Most < 1 || a.Most > maxExtent:
			return fmt.Errorf("images of %d rows and columns at most", a.Most)
		}
		rows, columns := symbolic.Symbol(a.Rows), symbolic.Symbol(a.Columns)
		if !l.Counts() {
			v, err := l.determined(0)
			if err != nil {
				return err
			}
			m, err := a.decode(v)
			if err != nil {
				return err
			}
			rows, columns = symbolic.Const(m.Rows), symbolic.Const(m.Columns)
		}
		types := []numeric.DataType{numeric.U8, numeric.I64, numeric.I64}
		for i, dims := range [][]symbolic.Dim{{rows, columns, symbolic.Const(a.channels())}, {rows}, {columns}} {
			if i < len(l.Outputs) {
				l.Outputs[i].Type, l.Outputs[i].Dims = types[i], dims
			}
		}
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a := l.Attrs.(ImageDecoderAttrs)
		m, err := a.decode(in[0])
		if err != nil {
			return err
		}
		for i, n := range []int{m.Rows, m.Columns} {
			if i+1 >= len(out) {
				break
			}
			places := make([]int64, n)
			for k := range places {
				places[k] = int64(k)
			}
			if err := writeCounted(l, out[i+1], places); err != nil {
				return err
			}
		}
		if m.Rows*m.Columns*a.channels() > len(out[0].Data) {
			return fmt.Errorf("the image has %d rows and %d columns, the shape of the result is %v", m.Rows, m.Columns, out[0].Dims)
		}
		a.write(out[0].Data, m.RGB)
		return nil
	},
	Export: func(e *Exporter) error {
		decode := OnnxNode{Op: "ImageDecoder", Since: 20, Inputs: e.Inputs(), Outputs: e.outputs[:1:1], Attrs: Attributes{"pixel_format": e.Layer.Attrs.(ImageDecoderAttrs).Pixels}}
		e.Nodes = append(e.Nodes, decode)
		for axis, list := range e.outputs[1:] { // its places along the axis
			extent := e.Step("Gather", nil, e.Step("Shape", nil, e.outputs[0]), e.scalar("axis", axis))
			if err := e.add(OldestExport, "Range", nil, []string{e.scalar("first", 0), extent, e.scalar("step", 1)}, []string{list}); err != nil {
				return err
			}
		}
		return nil
	},
}

// channels is how many bytes a pixel has; 0 of a form that there is not.
func (a ImageDecoderAttrs) channels() int {
	switch a.Pixels {
	case PixelsRGB, PixelsBGR:
		return 3
	case PixelsGrey:
		return 1
	}
	return 0
}

// decode returns the image in a file, one without pixels where there is none.
func (a ImageDecoderAttrs) decode(v numeric.Value) (images.Image, error) {
	m, err := images.Decode(v.Data, a.Most)
	var other *images.Unsupported
	switch {
	case errors.As(err, &other):
		return images.Image{}, &UnsupportedError{"ImageDecoder", other.Error()}
	case errors.As(err, new(*images.TooLarge)):
		return images.Image{}, err
	}
	return m, nil // what is no image has no pixels
}

// write writes pixels in their form.
func (a ImageDecoderAttrs) write(dst, rgb []byte) {
	for i := range len(rgb) / 3 {
		r, g, b := rgb[3*i], rgb[3*i+1], rgb[3*i+2]
		switch a.Pixels {
		case PixelsGrey: // the brightness of ITU-R 601, in so many 2^16ths
			dst[i] = byte((19595*int(r) + 38470*int(g) + 7471*int(b) + 1<<15) >> 16)
		case PixelsBGR:
			dst[3*i], dst[3*i+1], dst[3*i+2] = b, g, r
		default:
			dst[3*i], dst[3*i+1], dst[3*i+2] = r, g, b
		}
	}
}

// defaultImage is how many rows and columns an image may have where who imports a model does not say it.
const defaultImage = 2048

// importImageDecoder adds an ImageDecoder that counts.
func importImageDecoder(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	a := ImageDecoderAttrs{Pixels: n.String("pixel_format", PixelsRGB), Most: defaultImage}
	if n.MaxExtent > 0 {
		a.Most = n.MaxExtent
	}
	a.Rows, a.Columns = imageSymbols(n.Name)
	return result(d.ImageDecoder(n.Input(0), a))
}

// imageSymbols returns the symbols of the rows and columns that a node counts.
func imageSymbols(node string) (rows, columns string) {
	s := countSymbol(node)
	return s + "_rows", s + "_columns"
}
