package images

// codes are Huffman codes: of each length the first, and where its values begin.
type codes struct {
	values []byte
	first  [17]int // code of each length
	behind [17]int // the last one of it
	place  [17]int // of the first one's value
	short  [256]uint16
}

// huffman reads codes.
func (j *jpeg) huffman(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 {
			return errFormat
		}
		class, to := b[0]>>4, b[0]&15
		c, code, n := &codes{}, 0, 0
		for length := 1; length <= 16; length++ {
			many := int(b[length])
			c.first[length], c.place[length] = code, n
			code, n = code+many, n+many
			if c.behind[length] = code; code > 1<<length {
				return errFormat
			}
			code <<= 1
		}
		if class > 1 || to > 3 || n > 256 || len(b) < 17+n {
			return errFormat
		}
		c.values, b = b[17:17+n], b[17+n:]
		for length := 1; length <= 8; length++ {
			for code := c.first[length]; code < c.behind[length]; code++ {
				v := c.values[c.place[length]+code-c.first[length]]
				for i := range 1 << (8 - length) {
					c.short[code<<(8-length)+i] = uint16(length)<<8 | uint16(v)
				}
			}
		}
		j.codes[class][to] = c
	}
	return nil
}

// scan is the coefficients of some components, or a part of them, that are being read.
type scan struct {
	*jpeg
	parts      []*component
	from, to   int  // coefficients, in the order of the zigzag
	low        uint // bits below those that are read
	refines    bool // what earlier scans have read by a bit
	left       int  // blocks yet of which nothing comes but corrections
	bits       uint32
	have       uint // of bits
	missing    uint // of these, which the data do not have
	overflowed bool // some of them were taken
}

// scan reads one.
func (j *jpeg) scan(b []byte) error {
	if len(b) < 1 || len(b) != 4+2*int(b[0]) {
		return errFormat
	}
	s := scan{jpeg: j}
	n := int(b[0])
	for b = b[1:]; len(s.parts) < n; b = b[2:] {
		c := j.component(b[0])
		if c == nil || b[1]>>4 > 3 || b[1]&15 > 3 {
			return errFormat
		}
		for _, other := range s.parts {
			if other == c {
				return errFormat
			}
		}
		c.code = [2]*codes{j.codes[0][b[1]>>4], j.codes[1][b[1]&15]}
		s.parts = append(s.parts, c)
	}
	s.from, s.to = int(b[0]), int(b[1])
	s.low, s.refines = uint(b[2]&15), b[2]>>4 != 0
	if !j.progressive {
		s.from, s.to, s.low, s.refines = 0, 63, 0, false
	}
	if n < 1 || s.from > s.to || s.to > 63 || s.low > 13 || j.progressive && (s.from == 0 && s.to != 0 || s.from > 0 && n > 1) {
		return errFormat
	}
	for _, c := range s.parts {
		first := s.from == 0 && !s.refines // its differences have codes
		if first && c.code[0] == nil || s.to > 0 && c.code[1] == nil {
			return errFormat
		}
		if !c.scanned {
			q := j.quant[c.table]
			if q == nil {
				return errFormat
			}
			for i, v := range q {
				c.quant[i] = int32(v)
			}
			c.scanned = true
		}
	}
	return s.units()
}

// units reads all of them: of several components as many blocks as each has in one, of a single component one that has samples.
func (s *scan) units() error {
	across, down := s.unitsX, s.unitsY
	if len(s.parts) == 1 {
		across, down = (s.parts[0].columns+7)/8, (s.parts[0].rows+7)/8
	}
	s.begin()
	for i := range across * down {
		if s.restart > 0 && i > 0 && i%s.restart == 0 {
			if err := s.restarted(i/s.restart - 1); err != nil {
				return err
			}
		}
		x, y := i%across, i/across
		if len(s.parts) == 1 {
			s.block(s.parts[0], x, y)
		} else {
			for _, c := range s.parts {
				for k := range c.h * c.v {
					s.block(c, x*c.h+k%c.h, y*c.v+k/c.h)
				}
			}
		}
		if s.overflowed {
			return errFormat
		}
	}
	return nil
}

// begin forgets what came before.
func (s *scan) begin() {
	s.bits, s.have, s.missing, s.left = 0, 0, 0, 0
	for _, c := range s.parts {
		c.before = 0
	}
}

// restarted reads the marker between two intervals.
func (s *scan) restarted(number int) error {
	for s.at < len(s.data) && s.data[s.at] == 0xff {
		s.at++
	}
	if s.at >= len(s.data) || s.data[s.at-1] != 0xff || int(s.data[s.at]) != markerRST0+number%8 {
		return errFormat
	}
	s.at++
	s.begin()
	return nil
}

// fill makes n bits ready, at most 16. Where a marker ends the data they are zeros, which nothing may be made of.
func (s *scan) fill(n uint) {
	for s.have < n {
		var c byte
		switch {
		case s.at >= len(s.data) || s.data[s.at] == 0xff && (s.at+1 >= len(s.data) || s.data[s.at+1] != 0):
			s.missing += 8
		case s.data[s.at] == 0xff: // a zero behind it says that it is no marker
			c = 0xff
			s.at += 2
		default:
			c = s.data[s.at]
			s.at++
		}
		s.bits, s.have = s.bits<<8|uint32(c), s.have+8
	}
}

// take returns the next n bits, of 16 at most.
func (s *scan) take(n uint) int {
	s.fill(n)
	s.have -= n
	s.overflowed = s.overflowed || s.have < s.missing
	return int(s.bits>>s.have) & (1<<n - 1)
}

// value returns what a code stands for.
func (s *scan) value(c *codes) byte {
	s.fill(8)
	if e := c.short[byte(s.bits>>(s.have-8))]; e != 0 {
		s.take(uint(e >> 8))
		return byte(e)
	}
	code := s.take(8)
	for length := 9; length <= 16; length++ {
		if code = code<<1 | s.take(1); code < c.behind[length] {
			if at := c.place[length] + code - c.first[length]; at >= 0 && at < len(c.values) {
				return c.values[at]
			}
		}
	}
	s.overflowed = true
	return 0
}

// signed returns a number of n bits, of which those that begin with 0 are negative.
func (s *scan) signed(n uint) int {
	v := s.take(n)
	if n > 0 && v < 1<<(n-1) {
		v -= 1<<n - 1
	}
	return v
}

// block reads what the scan has of one block.
func (s *scan) block(c *component, x, y int) {
	b := c.coefficients[64*(y*c.across+x):][:64]
	if s.refines {
		if s.from == 0 {
			b[0] |= int16(s.take(1) << s.low)
		} else {
			s.refine(b, c.code[1])
		}
		return
	}
	at := s.from
	if at == 0 {
		c.before += s.signed(uint(s.value(c.code[0]) & 15))
		b[0] = int16(c.before << s.low)
		at++
	}
	if s.left > 0 {
		s.left--
		return
	}
	for ; at <= s.to; at++ {
		v := s.value(c.code[1])
		run, size := int(v>>4), uint(v&15)
		if size == 0 && run < 15 {
			if run > 0 && s.progressive {
				s.left = 1<<run + s.take(uint(run)) - 1
			}
			return
		}
		if at += run; size == 0 { // sixteen zeros
			continue
		}
		value := s.signed(size)
		if at > s.to {
			s.overflowed = true
			return
		}
		b[zigzag[at]] = int16(value << s.low)
	}
}

// refine reads a bit more of the coefficients of a block that are not 0, and those that become so by it.
func (s *scan) refine(b []int16, codes *codes) {
	bit := int16(1) << s.low
	correct := func(p *int16) {
		if s.take(1) != 0 && *p&bit == 0 {
			if *p >= 0 {
				*p += bit
			} else {
				*p -= bit
			}
		}
	}
	at := s.from
	for ; s.left == 0 && at <= s.to; at++ {
		v := s.value(codes)
		run, size := int(v>>4), v&15
		var fresh int16
		switch {
		case size != 0:
			if fresh = bit; s.take(1) == 0 {
				fresh = -bit
			}
		case run < 15:
			s.left = 1<<run + s.take(uint(run))
		}
		if s.left > 0 || s.overflowed {
			break
		}
		for ; at <= s.to; at++ { // run zeros, the nonzero ones between them aside
			if p := &b[zigzag[at]]; *p != 0 {
				correct(p)
			} else if run--; run < 0 {
				*p = fresh
				break
			}
		}
	}
	if s.left > 0 {
		for ; at <= s.to; at++ {
			if p := &b[zigzag[at]]; *p != 0 {
				correct(p)
			}
		}
		s.left--
	}
}
