package dataset

import (
	"bytes"
	"fmt"
	"math"
)

// maxPixels bounds one image.
const maxPixels = 100 << 20

// fit brings the picture to a size; one that is smaller than what is to be cut from it stays smaller.
func (p picture) fit(s Size, how Resize) (picture, error) {
	at := how.place(Size{p.height, p.width}, s)
	p, err := p.resize(at.size.Height, at.size.Width)
	switch {
	case err != nil || how.Stretch:
		return p, err
	case how.Letterbox:
		return p.surrounded(s, at, how.Grey), nil
	}
	return p.cut(s, at), nil
}

// placing is where a picture is that was resized: its size, and by how much it lies below and to the right of the corner.
type placing struct {
	size      Size
	top, left int
}

// place returns where an image is in a size; one that has the size stays as it is.
func (how Resize) place(from, s Size) placing {
	if how.Stretch || from == s {
		return placing{size: s}
	}
	if how.Letterbox {
		scale := min(float64(s.Height)/float64(from.Height), float64(s.Width)/float64(from.Width))
		side := func(n, most int) int { return min(most, max(1, int(math.RoundToEven(float64(n)*scale)))) }
		size := Size{side(from.Height, s.Height), side(from.Width, s.Width)}
		return placing{size, (s.Height - size.Height) / 2, (s.Width - size.Width) / 2}
	}
	size := Size{how.Shorter, how.Shorter}
	if from.Height < from.Width {
		size.Width = how.Shorter * from.Width / from.Height
	} else {
		size.Height = how.Shorter * from.Height / from.Width
	}
	before := func(have, want int) int {
		if have <= want {
			return (want - have) / 2
		}
		return -int(math.RoundToEven(float64(have-want) / 2))
	}
	return placing{size, before(size.Height, s.Height), before(size.Width, s.Width)}
}

// resize returns the picture at another height and width: a bilinear filter that widens where it shrinks (antialiasing),
// first along rows, then along columns, each rounded to bytes. It is what PIL's resize with BILINEAR computes, but for PIL's
// fixed-point rounding.
func (p picture) resize(h, w int) (picture, error) {
	if h == p.height && w == p.width {
		return p, nil
	}
	if w > maxSide || h > maxSide || p.height > maxPixels/w {
		return p, fmt.Errorf("an image of %dx%d cannot be resized to %dx%d", p.width, p.height, w, h)
	}
	wide := picture{p.channels, p.height, w, make([]byte, p.channels*p.height*w)}
	for x, f := range filters(p.width, w) {
		for row := range p.channels * p.height {
			wide.pix[row*w+x] = f.apply(p.pix[row*p.width:], 1)
		}
	}
	out := picture{p.channels, h, w, make([]byte, p.channels*h*w)}
	for y, f := range filters(p.height, h) {
		for c := range p.channels {
			for x := range w {
				out.pix[(c*h+y)*w+x] = f.apply(wide.pix[c*p.height*w+x:], w)
			}
		}
	}
	return out, nil
}

// filter is the weighted mean of some neighbours.
type filter struct {
	first   int
	weights []float64
}

func (f filter) apply(pix []byte, stride int) byte {
	sum := 0.5
	for i, w := range f.weights {
		sum += w * float64(pix[(f.first+i)*stride])
	}
	return byte(max(0, min(255, sum)))
}

// filters returns the triangle filter of each of n places over from places.
func filters(from, n int) []filter {
	scale := float64(from) / float64(n)
	support := max(1, scale)
	list := make([]filter, n)
	for i := range list {
		centre := (float64(i) + 0.5) * scale
		first := max(0, int(centre-support+0.5))
		last := min(from, int(centre+support+0.5))
		f := filter{first, make([]float64, last-first)}
		var sum float64
		for k := range f.weights {
			f.weights[k] = max(0, 1-math.Abs((float64(first+k)-centre+0.5)/support))
			sum += f.weights[k]
		}
		for k := range f.weights {
			f.weights[k] /= sum
		}
		list[i] = f
	}
	return list
}

// cut cuts a size from the picture; one that is smaller stays as it is along that axis.
func (p picture) cut(s Size, at placing) picture {
	h, w := min(s.Height, p.height), min(s.Width, p.width)
	top, left := max(0, -at.top), max(0, -at.left)
	out := picture{p.channels, h, w, make([]byte, p.channels*h*w)}
	for c := range p.channels {
		for y := range h {
			from := (c*p.height+top+y)*p.width + left
			copy(out.pix[(c*h+y)*w:(c*h+y+1)*w], p.pix[from:from+w])
		}
	}
	return out
}

// surrounded puts the picture on grey of a size.
func (p picture) surrounded(s Size, at placing, grey byte) picture {
	out := picture{p.channels, s.Height, s.Width, bytes.Repeat([]byte{grey}, p.channels*s.Height*s.Width)}
	for c := range p.channels {
		for y := range p.height {
			copy(out.pix[(c*s.Height+at.top+y)*s.Width+at.left:], p.pix[(c*p.height+y)*p.width:(c*p.height+y+1)*p.width])
		}
	}
	return out
}
