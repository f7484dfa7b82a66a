package images

// The inverse transform is libjpeg's accurate one in integers, the algorithm of Loeffler, Ligtenberg and Moschytz, its factors as so
// many 2^13ths. Between the two passes numbers have 2 bits more.
const (
	factorBits = 13
	extraBits  = 2

	f0298 = 2446
	f0390 = 3196
	f0541 = 4433
	f0765 = 6270
	f0899 = 7373
	f1175 = 9633
	f1501 = 12299
	f1847 = 15137
	f1961 = 16069
	f2053 = 16819
	f2562 = 20995
	f3072 = 25172
)

// transform1 transforms 8 numbers that lie step apart, and drops so many bits of the results.
func transform1(v *[64]int, from, step int, drop uint) {
	at := func(i int) *int { return &v[from+i*step] }
	e := (*at(2) + *at(6)) * f0541
	e2, e3 := e-*at(6)*f1847, e+*at(2)*f0765
	e0, e1 := (*at(0)+*at(4))<<factorBits, (*at(0)-*at(4))<<factorBits
	even := [4]int{e0 + e3, e1 + e2, e1 - e2, e0 - e3}

	o0, o1, o2, o3 := *at(7), *at(5), *at(3), *at(1)
	z := (o0 + o2 + o1 + o3) * f1175
	z1, z2, z3, z4 := -(o0+o3)*f0899, -(o1+o2)*f2562, z-(o0+o2)*f1961, z-(o1+o3)*f0390
	odd := [4]int{o3*f1501 + z1 + z4, o2*f3072 + z2 + z3, o1*f2053 + z2 + z4, o0*f0298 + z1 + z3}

	half := 1 << (drop - 1)
	for i := range 4 {
		*at(i), *at(7 - i) = (even[i]+odd[i]+half)>>drop, (even[i]-odd[i]+half)>>drop
	}
}

// transform makes samples of a component's coefficients.
func (c *component) transform() {
	width := 8 * c.across
	c.samples = make([]byte, 8*c.down*width)
	for i := range c.across * c.down {
		var v [64]int
		for k, q := range c.quant {
			v[k] = int(c.coefficients[64*i+k]) * int(q)
		}
		for k := range 8 {
			transform1(&v, k, 8, factorBits-extraBits)
		}
		for k := range 8 {
			transform1(&v, 8*k, 1, factorBits+extraBits+3)
		}
		first := i/c.across*8*width + i%c.across*8
		for k, s := range v {
			c.samples[first+k/8*width+k%8] = clamp(s + 128)
		}
	}
	c.coefficients = nil
}

// plane returns a component's samples, one for each pixel of the rows and columns that the image has. Where it has half as many
// along an axis, each lies a quarter and three quarters of the way between two, and halves are rounded down and up in turn.
func (j *jpeg) plane(c *component) []byte {
	c.transform()
	p := make([]byte, j.rows*j.columns)
	width, wide, tall := 8*c.across, j.h/c.h, j.v/c.v
	// libjpeg-turbo takes the nearest sample where there are one or two in a row only, but for halves of the rows alone.
	between := wide == 2 && tall <= 2 && c.columns > 2
	sums := make([]int, c.columns) // a row's samples, times 4 where it is between two
	for y := range j.rows {
		row := c.samples[y/tall*width:][:c.columns]
		out := p[y*j.columns:][:j.columns]
		switch {
		case tall == 2 && (between || wide == 1):
			near, far := neighbours(y, c.rows)
			here, there := c.samples[near*width:][:c.columns], c.samples[far*width:][:c.columns]
			for x := range sums {
				sums[x] = 3*int(here[x]) + int(there[x])
			}
			if wide == 1 {
				for x := range out {
					out[x] = byte((sums[x] + 1 + y%2) >> 2)
				}
				continue
			}
			for x := range out {
				near, far := neighbours(x, c.columns)
				out[x] = byte((3*sums[near] + sums[far] + 8 - x%2) >> 4)
			}
		case between:
			for x := range out {
				near, far := neighbours(x, c.columns)
				out[x] = byte((3*int(row[near]) + int(row[far]) + 1 + x%2) >> 2)
			}
		default:
			for x := range out {
				out[x] = row[x/wide]
			}
		}
	}
	c.samples = nil
	return p
}

// image returns the pixels.
func (j *jpeg) image() (Image, error) {
	var planes [][]byte
	for _, c := range j.parts {
		if !c.scanned {
			return Image{}, errFormat
		}
		planes = append(planes, j.plane(c))
	}
	m := Image{j.rows, j.columns, make([]byte, 3*j.rows*j.columns)}
	for i := range j.rows * j.columns {
		p := m.RGB[3*i : 3*i+3]
		if len(planes) == 1 {
			p[0], p[1], p[2] = planes[0][i], planes[0][i], planes[0][i]
			continue
		}
		r, g, b := planes[0][i], planes[1][i], planes[2][i]
		if j.differences() {
			r, g, b = colours(int(r), int(g)-128, int(b)-128)
		}
		if len(planes) == 4 { // inks, which Adobe's programs keep as what is left of the light
			k := planes[3][i]
			if j.adobe == 2 { // converted, they are as they are printed
				r, g, b = 255-r, 255-g, 255-b
			}
			r, g, b = printed(r, k), printed(g, k), printed(b, k)
		}
		p[0], p[1], p[2] = r, g, b
	}
	return m, nil
}

// differences reports whether the first three components are brightness and two differences of colour.
func (j *jpeg) differences() bool {
	if len(j.parts) == 4 {
		return j.adobe == 2
	}
	ids := [3]byte{j.parts[0].id, j.parts[1].id, j.parts[2].id}
	switch {
	case j.jfif:
		return true
	case j.adobe >= 0:
		return j.adobe != 0
	}
	return ids != [3]byte{'R', 'G', 'B'}
}

// colours are those of a brightness and two differences, whose factors are so many 2^16ths.
func colours(y, blue, red int) (r, g, b byte) {
	const half = 1 << 15
	return clamp(y + (91881*red+half)>>16), clamp(y + (half-22554*blue-46802*red)>>16), clamp(y + (116130*blue+half)>>16)
}

// printed is the light that an ink leaves of what black leaves.
func printed(light, black byte) byte {
	v := int(255-light)*int(black) + 128
	return clamp(int(black) - (v>>8+v)>>8)
}
