package products

import (
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// pixelOfRow returns the output pixel of a row of the tile, and whether there is one; nil: there always is.
type pixelOfRow func(row ptx.Uint) (ptx.Uint, *ptx.Cond)

// finisher computes the outputs of a tile, of so many channels in a group.
type finisher func(out *emit.RowOutput, channels int, pixelOf pixelOfRow)

// finish computes the outputs of the tile from its sums in shared memory. A thread has one vector of channels and every so many
// rows of the tile.
func (m *block) finish(out *emit.RowOutput, channels int, pixelOf pixelOfRow) {
	n, threads := out.Vector, m.t.threads()
	perRow := m.t.BN / n // which divides the threads: no tile has more columns than threads
	row, piece := m.DivRem(m.thread, perRow)
	column := m.Mul(piece, ptx.U(n))
	sums := m.OffsetShared(m.ring, m.Mad(row, ptx.U(m.t.sumPitch()), m.sumPlace(column)), 4)
	step := threads / perRow // rows
	m.finishRows(out, m.vectorPlace(out, channels, column), n, emit.CeilDiv(m.t.BM, step), emit.ReadRegisters, pixelOf, func(i int) (ptx.Uint, func() []ptx.Word) {
		return m.Add(row, ptx.U(i*step)), func() []ptx.Word { return m.loadSums(sums.At(4*i*step*m.t.sumPitch()), n) }
	})
}

// finish computes the outputs of the tile from the sums in registers. Of each of its rows a lane has a vector of channels in every
// so many.
func (e *tensor) finish(out *emit.RowOutput, channels int, pixelOf pixelOfRow) {
	const others = 120 // registers: tables, addresses, what computes
	per, n := e.vector/2, e.vector
	free := e.t.mostRegisters() - e.t.BM*e.t.BN/e.t.threads() - others
	row := e.Add(e.row, e.Shr(e.lane, 2))
	first := e.firstColumn()
	for j := 0; j < e.columns/8; j += per {
		e.finishRows(out, e.vectorPlace(out, channels, e.Add(first, ptx.U(e.columnOf(j)))), n, 2*len(e.acc), free, pixelOf, func(i int) (ptx.Uint, func() []ptx.Word) {
			return e.Add(row, ptx.U(8*i)), func() (sums []ptx.Word) {
				for _, c := range e.acc[i/2][j : j+per] {
					sums = append(sums, c[i%2*2:i%2*2+2]...)
				}
				return sums
			}
		})
	}
}

// vectorPlace finds the channel of a column of the tile.
func (m *block) vectorPlace(out *emit.RowOutput, channels int, column ptx.Uint) rowPlace {
	place := rowPlace{channel: m.Add(m.column, column)}
	if limit := emit.RoundUp(channels, m.t.BN); limit != out.Channels {
		inside := m.Lt(place.channel, ptx.U(out.Channels))
		place.channel, place.inside = m.Select(inside, place.channel, ptx.U(0)), &inside
	}
	place.channel = m.Mad(m.group, ptx.U(channels), place.channel)
	return place
}

// finishRows computes vectors of n channels in so many rows; rowOf returns a row and what reads its sums. Where other tensors are
// read, those of several rows are asked for before the first is computed, as there are registers: as many bytes are under way as the
// memory's latency needs.
func (m *block) finishRows(out *emit.RowOutput, place rowPlace, n, rows, registers int, pixelOf pixelOfRow, rowOf func(i int) (ptx.Uint, func() []ptx.Word)) {
	tables := out.Tables(m.K, place.channel, n)
	together := out.RowsTogether(n, registers)
	for first := 0; first < rows; first += together {
		var list []outputRow
		for i := first; i < min(rows, first+together); i++ {
			r := outputRow{rowPlace: place}
			row, sums := rowOf(i)
			pixel, inside := pixelOf(row)
			if r.pixel, r.sums = pixel, sums; inside != nil {
				r.pixel = m.Select(*inside, pixel, ptx.U(0)) // which may be read
				r.inside = m.both(r.inside, *inside)
			}
			r.values = out.Fetch(m.K, r.pixel, r.channel, n)
			list = append(list, r)
		}
		for _, r := range list {
			body := func() { out.Finish(m.K, r.pixel, r.channel, r.sums(), tables, r.values) }
			if r.inside == nil {
				body()
			} else {
				m.If(*r.inside, body)
			}
		}
	}
}

// rowPlace is a vector of channels of an output pixel; inside says whether it is one, nil: it is.
type rowPlace struct {
	pixel, channel ptx.Uint
	inside         *ptx.Cond
}

// outputRow is one that is about to be computed.
type outputRow struct {
	rowPlace
	sums   func() []ptx.Word
	values [][]ptx.Float
}

func (m *block) loadSums(from ptx.SharedPtr, n int) []ptx.Word {
	var list []ptx.Word
	for i := 0; i < n; i += 4 {
		list = append(list, m.LoadShared(from.At(4*i), min(4, n-i))...)
	}
	return list
}
