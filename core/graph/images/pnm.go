package images

// pnm is the head of a file in one of the portable formats, P1 to P6: bits, greys or colours, as numbers that are written out or as
// bytes.
type pnm struct {
	data          []byte
	at            int // behind what was read
	kind          byte
	rows, columns int
	largest       int // of a sample
}

// Largest extents and samples that are read as numbers; larger ones are no image.
const pnmLargest = 1 << 30

// number reads the next one, white space and comments before it.
func (p *pnm) number() (int, error) {
	for ; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '#':
			for p.at < len(p.data) && p.data[p.at] != '\n' {
				p.at++
			}
		case c == ' ' || c >= '\t' && c <= '\r':
		default:
			begin, n := p.at, 0
			for ; p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9'; p.at++ {
				if n = 10*n + int(p.data[p.at]-'0'); n > pnmLargest {
					return 0, errFormat
				}
				if p.kind == '1' && p.rows > 0 { // bits may have nothing between them
					p.at++
					break
				}
			}
			if p.at == begin {
				return 0, errFormat
			}
			return n, nil
		}
	}
	return 0, errFormat
}

func pnmHead(data []byte) (p pnm, err error) {
	p = pnm{data: data, at: 2, kind: data[1], largest: 1}
	if p.kind < '1' || p.kind > '6' {
		return p, errFormat
	}
	columns, err := p.number()
	if err != nil {
		return p, err
	}
	rows, err := p.number()
	if err != nil {
		return p, err
	}
	if p.kind != '1' && p.kind != '4' {
		if p.largest, err = p.number(); err != nil || p.largest < 1 || p.largest > 65535 {
			return p, errFormat
		}
	}
	p.rows, p.columns = rows, columns
	return p, nil
}

func pnmExtent(data []byte) (columns, rows int, err error) {
	p, err := pnmHead(data)
	return p.columns, p.rows, err
}

func decodePNM(data []byte) (Image, error) {
	p, err := pnmHead(data)
	if err != nil {
		return Image{}, err
	}
	width := p.columns
	if p.kind == '3' || p.kind == '6' {
		width *= 3
	}
	size, plain := width, p.kind <= '3' // bytes of a row, of one that is written out at least
	switch {
	case p.kind == '4':
		size = (width + 7) / 8
	case !plain && p.largest > 255:
		size *= 2
	}
	if p.at++; !plain && (p.at > len(data) || !isSpace(data[p.at-1])) {
		return Image{}, errFormat
	}
	if size*p.rows > len(data)-min(p.at, len(data)) && !plain || size*p.rows > len(data) {
		return Image{}, errFormat
	}
	m := Image{p.rows, p.columns, make([]byte, p.rows*p.columns*3)}
	at := 0
	for y := range p.rows {
		for x := range width {
			var v int
			switch from := p.at + y*size; {
			case plain:
				if v, err = p.number(); err != nil {
					return Image{}, err
				}
			case p.kind == '4':
				v = int(data[from+x/8]>>(7-x%8)) & 1
			case p.largest > 255:
				v = int(data[from+2*x])<<8 | int(data[from+2*x+1])
			default:
				v = int(data[from+x])
			}
			if v > p.largest {
				return Image{}, errFormat
			}
			if v = (2*255*v + p.largest) / (2 * p.largest); p.largest == 1 && (p.kind == '1' || p.kind == '4') {
				v = 255 - v // 1 is black
			}
			if m.RGB[at] = byte(v); width == p.columns {
				m.RGB[at+1], m.RGB[at+2], at = byte(v), byte(v), at+2
			}
			at++
		}
	}
	return m, nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
