package ptxsim

import "math/bits"

// touched is which words of 4 bytes of an allocation a launch reads and writes, for Options.Touched.
type touched struct{ pages []*touchedPage }

// touchedPage has a bit for each of pageCells words: what is read, and what is written.
type touchedPage struct{ read, written [pageCells / 64]uint64 }

func newTouched(bytes int) *touched {
	return &touched{make([]*touchedPage, (bytes+4*pageCells-1)/(4*pageCells))}
}

// note notes an access to bytes [off, off+size).
func (t *touched) note(off, size uint64, writes bool) {
	for i := off / 4; i <= (off+size-1)/4; i++ {
		p := &t.pages[i/pageCells]
		if *p == nil {
			*p = new(touchedPage)
		}
		set := &(*p).read
		if writes {
			set = &(*p).written
		}
		set[i%pageCells/64] |= 1 << (i % 64)
	}
}

// ranges appends what was noted of an allocation at base, in order.
func (t *touched) ranges(base uint64, reads, writes []Range) ([]Range, []Range) {
	for n, p := range t.pages {
		if p == nil {
			continue
		}
		at := base + uint64(n)*4*pageCells
		reads, writes = appendWords(reads, at, &p.read), appendWords(writes, at, &p.written)
	}
	return reads, writes
}

// appendWords appends the words of a set, neighbours together.
func appendWords(list []Range, at uint64, set *[pageCells / 64]uint64) []Range {
	for i, word := range set {
		for word != 0 {
			first := bits.TrailingZeros64(word)
			n := bits.TrailingZeros64(^(word >> first))
			from := at + uint64(i*64+first)*4
			if k := len(list) - 1; k >= 0 && list[k].To == from {
				list[k].To += uint64(n) * 4
			} else {
				list = append(list, Range{from, from + uint64(n)*4})
			}
			word &^= (1<<n - 1) << first
		}
	}
	return list
}

// addTouched puts what a launch touched into its statistics, in the order of addresses.
func (l *launch) addTouched(s *Stats) {
	if !l.opt.Touched {
		return
	}
	for _, a := range l.table {
		if a != nil && a.shadow != nil {
			s.Reads, s.Writes = a.shadow.touched.ranges(a.base, s.Reads, s.Writes)
		}
	}
}
