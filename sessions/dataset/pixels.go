package dataset

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// picture is an image of bytes in planes, [channels, height, width].
type picture struct {
	channels, height, width int
	pix                     []byte
}

// layout is how pictures become input values.
type layout struct {
	Options
	channels, height, width int // of the value
}

// newLayout returns the layout for pictures of the given form, which an image file does not have before it is resized.
func newLayout(o Options, channels, height, width int) (layout, error) {
	l := layout{o, channels, height, width}
	if o.Channels != 0 {
		l.channels = o.Channels
	}
	if o.Size != (Size{}) {
		l.height, l.width = o.Size.Height, o.Size.Width
	}
	if l.Scale == 0 {
		l.Scale = 1.0 / 255
	}
	for name, list := range map[string][]float32{"means": o.Mean, "standard deviations": o.Std} {
		if len(list) > 1 && len(list) != l.channels {
			return l, fmt.Errorf("%d %s for %d channels", len(list), name, l.channels)
		}
	}
	return l, nil
}

// dims returns the shape of an item.
func (l layout) dims() []int {
	if l.NHWC {
		return []int{l.height, l.width, l.channels}
	}
	return []int{l.channels, l.height, l.width}
}

// store converts a picture, which is no larger than the layout: zeros surround a smaller one, one more at the end where
// their number is odd.
func (l layout) store(p picture, dst numeric.Value) error {
	if p.height > l.height || p.width > l.width || !l.Pad && (p.height != l.height || p.width != l.width) {
		return fmt.Errorf("the image is %dx%d, want %dx%d (or smaller, with padding)", p.height, p.width, l.height, l.width)
	}
	out := dst.F32()
	top, left := (l.height-p.height)/2, (l.width-p.width)/2
	for c := range l.channels {
		mean, std := channel(l.Mean, c, 0), channel(l.Std, c, 1)
		plane := c
		if l.BGR {
			plane = l.channels - 1 - c
		}
		step, at := 1, c*l.height*l.width
		if l.NHWC {
			step, at = l.channels, c
		}
		var table [256]float32 // the value of each pixel
		for v := range table {
			table[v] = (float32(v)*l.Scale - mean) / std
		}
		for y := range l.height {
			for x := range l.width {
				var v byte
				if py, px := y-top, x-left; py >= 0 && py < p.height && px >= 0 && px < p.width {
					v = p.at(plane, l.channels, py*p.width+px)
				}
				out[at] = table[v]
				at += step
			}
		}
	}
	return nil
}

// at returns a pixel of channel c of so many: grey pictures have the same in all, and colours become grey by ITU-R
// 601-2 luma, as in PIL.
func (p picture) at(c, of, i int) byte {
	n := p.height * p.width
	switch {
	case p.channels == of:
		return p.pix[c*n+i]
	case p.channels == 1:
		return p.pix[i]
	}
	return byte((uint32(p.pix[i])*19595 + uint32(p.pix[n+i])*38470 + uint32(p.pix[2*n+i])*7471 + 0x8000) >> 16)
}

func channel(list []float32, c int, def float32) float32 {
	switch len(list) {
	case 0:
		return def
	case 1:
		return list[0]
	}
	return list[c]
}

// newPixels returns a set of pictures [N,H,W] or [N,C,H,W] of bytes.
func newPixels(name string, v numeric.Value, labels []int, o Options) (*Set, error) {
	dims := v.Dims[1:]
	if len(dims) == 2 {
		dims = append([]int{1}, dims...)
	}
	if len(dims) != 3 || dims[0] != 1 && dims[0] != 3 || v.Type != numeric.U8 {
		return nil, fmt.Errorf("%s%v are no images of 1 or 3 channels", v.Type, v.Dims)
	}
	if min(dims[1], dims[2]) < 1 || max(dims[1], dims[2]) > maxSide {
		return nil, fmt.Errorf("images of %dx%d; a side must be from 1 to %d", dims[1], dims[2], maxSide)
	}
	l, err := newLayout(o, dims[0], dims[1], dims[2])
	if err != nil {
		return nil, err
	}
	size := dims[0] * dims[1] * dims[2]
	picture := func(i int) picture { return picture{dims[0], dims[1], dims[2], v.Data[i*size : (i+1)*size]} }
	have, want := Size{dims[1], dims[2]}, Size{l.height, l.width}
	if have != want && !(o.Pad && have.Height <= want.Height && have.Width <= want.Width) {
		return nil, fmt.Errorf("images are %s, want %s (smaller ones can be padded)", have, want)
	}
	return &Set{
		Name: name, Labels: labels, length: v.Dims[0], Inputs: []Input{{"", numeric.F32, l.dims()}},
		read: func(i, _ int, dst *numeric.Value) error { return l.store(picture(i), *dst) },
	}, nil
}
