package moves

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// rows are what concatenations and splits copy: a row of the whole holds one of each part, one behind the other. A row is what a
// tensor has for an index of the axes before the one along which it is divided.
type rows struct {
	axis, batch, inner int // inner: rows of an item of the batch
	whole              rowsOf
	parts              []rowsOf
	pieces             []piece // of a row
	unit               int     // rows that are copied at a time
	apart              bool    // a unit is a piece, since rows are long
	job                *work.Job[rowsLaunch]
}

// rowsOf is where a tensor has its rows: the bytes between items of the batch, and those of a row.
type rowsOf struct {
	desc      kernels.Desc
	item, row int
	data      []byte // a constant's; else nil
}

// piece is bytes that follow each other in a row of the whole and in one of a part.
type piece struct{ part, whole, at, size int }

// A unit is some rows, of so many bytes together, or a piece of one that is longer than that.
const (
	rowsUnit  = 16 << 10
	pieceUnit = 64 << 10
)

// newRows takes the data of the parts that are constants; nil where none is.
func newRows(whole kernels.Desc, parts []kernels.Desc, constants [][]byte, axis int) *rows {
	r := &rows{axis: axis, batch: 1, inner: 1, whole: newRowsOf(whole, axis)}
	if axis > 0 {
		r.batch, r.inner = whole.Dims[0], numeric.Count(whole.Dims[1:axis])
	}
	end := 0
	for i, d := range parts {
		p := newRowsOf(d, axis)
		if constants != nil {
			p.data = constants[i]
		}
		r.parts = append(r.parts, p)
		for at := 0; at < p.row; at += pieceUnit {
			r.pieces = append(r.pieces, piece{i, end + at, at, min(pieceUnit, p.row-at)})
		}
		end += p.row
	}
	r.apart = r.whole.row > pieceUnit
	r.unit = 1
	if !r.apart {
		r.unit = max(1, rowsUnit/max(1, r.whole.row))
	}
	r.job = work.NewJob((*rowsLaunch).do)
	return r
}

func newRowsOf(d kernels.Desc, axis int) rowsOf {
	return rowsOf{desc: d, item: d.BatchStride() * d.Type.Size(), row: rowBytes(d, axis)}
}

// rowsLaunch is the state of one launch.
type rowsLaunch struct {
	rows  *rows
	join  bool // parts become the whole
	whole []byte
	parts []kernels.Mem
}

// part returns the bytes of a part.
func (l *rowsLaunch) part(i int) []byte {
	if data := l.rows.parts[i].data; data != nil {
		return data
	}
	return l.parts[i].Host
}

// launch makes the whole of its parts, or the parts of the whole.
func (r *rows) launch(st kernels.Stream, l rowsLaunch) {
	if r.axis == 0 {
		l.items()
		return
	}
	units := work.CeilDiv(r.batch*r.inner, r.unit)
	if r.apart {
		units *= len(r.pieces)
	}
	r.job.Each(work.LoopOver(st, r.whole.desc.Bytes()), units, l)
}

// items copies parts that are items of the batch.
func (l *rowsLaunch) items() {
	whole := l.whole
	for i, p := range l.rows.parts {
		if l.join {
			copyItems(whole, l.rows.whole.desc, l.part(i), p.desc)
		} else {
			copyItems(l.part(i), p.desc, whole, l.rows.whole.desc)
		}
		whole = whole[min(len(whole), p.desc.Dims[0]*l.rows.whole.item):]
	}
}

// do copies the pieces of a unit, each of all rows before the next: rows stay in the L1 cache meanwhile.
func (l *rowsLaunch) do(u, _ int) {
	r := l.rows
	pieces := r.pieces
	if r.apart {
		pieces, u = pieces[u%len(pieces):][:1], u/len(pieces)
	}
	first := u * r.unit
	for last := min(first+r.unit, r.batch*r.inner); first < last; {
		item, at := first/r.inner, first%r.inner
		n := min(last-first, r.inner-at)
		for _, p := range pieces {
			of := r.parts[p.part]
			whole, part := l.whole[item*r.whole.item+at*r.whole.row+p.whole:], l.part(p.part)[item*of.item+at*of.row+p.at:]
			if l.join {
				copyRows(whole, part, n, r.whole.row, of.row, p.size)
			} else {
				copyRows(part, whole, n, of.row, r.whole.row, p.size)
			}
		}
		first += n
	}
}

// copyRows copies so many bytes of each of n rows, which are over bytes apart in dst and under in src.
func copyRows(dst, src []byte, n, over, under, size int) {
	for i := range n {
		copy(dst[i*over:][:size], src[i*under:])
	}
}
