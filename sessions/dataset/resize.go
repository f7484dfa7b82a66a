package dataset

import (
	"fmt"
	"math"
)

// maxPixels bounds one image.
const maxPixels = 100 << 20

// fit brings the picture to a size; one that is smaller than what is to be cut from it stays smaller.
func (p picture) fit(s Size, how Resize) (picture, error) {
	if how.Stretch {
		return p.resize(s.Height, s.Width)
	}
	h, w := how.Shorter, how.Shorter
	if p.height < p.width {
		w = how.Shorter * p.width / p.height
	} else {
		h = how.Shorter * p.height / p.width
	}
	p, err := p.resize(h, w)
	return p.crop(s), err
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

// crop cuts a size from the middle; a picture that is smaller stays as it is along that axis.
func (p picture) crop(s Size) picture {
	h, w := min(s.Height, p.height), min(s.Width, p.width)
	top := int(math.RoundToEven(float64(p.height-h) / 2))
	left := int(math.RoundToEven(float64(p.width-w) / 2))
	out := picture{p.channels, h, w, make([]byte, p.channels*h*w)}
	for c := range p.channels {
		for y := range h {
			from := (c*p.height+top+y)*p.width + left
			copy(out.pix[(c*h+y)*w:(c*h+y+1)*w], p.pix[from:from+w])
		}
	}
	return out
}
