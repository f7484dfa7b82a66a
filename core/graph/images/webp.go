package images

import "image"

// webpPixels are the pixels of a lossy WebP, as libwebp has them: each colour is between those of the four nearest samples, and is
// converted in integers.
func webpPixels(m *image.YCbCr) Image {
	p := Image{m.Rect.Dy(), m.Rect.Dx(), make([]byte, m.Rect.Dy()*m.Rect.Dx()*3)}
	rows, columns := (p.Rows+1)/2, (p.Columns+1)/2
	at := 0
	for y := range p.Rows {
		near, far := neighbours(y, rows)
		for x := range p.Columns {
			here, there := neighbours(x, columns)
			a, b, c, d := near*m.CStride+here, near*m.CStride+there, far*m.CStride+here, far*m.CStride+there
			between := func(s []byte) int { return (9*int(s[a]) + 3*int(s[b]) + 3*int(s[c]) + int(s[d]) + 8) >> 4 }
			l, u, v := int(m.Y[y*m.YStride+x])*19077>>8, between(m.Cb), between(m.Cr)
			p.RGB[at] = clamp((l + v*26149>>8 - 14234) >> 6)
			p.RGB[at+1] = clamp((l - u*6419>>8 - v*13320>>8 + 8708) >> 6)
			p.RGB[at+2] = clamp((l + u*33050>>8 - 17685) >> 6)
			at += 3
		}
	}
	return p
}

// neighbours are the sample that place i lies in, of which each has two, and the one on the other side of i, or the same at an end.
func neighbours(i, samples int) (near, far int) {
	near = i / 2
	return near, max(0, min(samples-1, near-1+i%2*2))
}
