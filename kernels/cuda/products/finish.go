package products

import (
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// finish computes the outputs of the tile, of so many channels in a group, from its sums in shared memory. A thread has one vector of channels and every so
// many rows of the tile, and where it reads other tensors, it asks for those of several rows before it computes the first:
// as many bytes are under way as the memory's latency needs. pixelOf returns the output pixel of a row of the tile, and
// whether there is one; nil: there always is.
func (m *block) finish(out *emit.RowOutput, channels int, pixelOf func(row ptx.Uint) (ptx.Uint, *ptx.Cond)) {
	n, threads := out.Vector, m.t.threads()
	perRow := m.t.BN / n // which divides the threads: no tile has more columns than threads
	row, piece := m.DivRem(m.thread, perRow)
	column := m.Mul(piece, ptx.U(n))
	sums := m.OffsetShared(m.ring, m.Mad(row, ptx.U(m.t.sumPitch()), m.sumPlace(column)), 4)

	place := rowPlace{channel: m.Add(m.column, column)}
	if limit := emit.RoundUp(channels, m.t.BN); limit != out.Channels {
		inside := m.Lt(place.channel, ptx.U(out.Channels))
		place.channel, place.inside = m.Select(inside, place.channel, ptx.U(0)), &inside
	}
	place.channel = m.Mad(m.group, ptx.U(channels), place.channel)
	tables := out.Tables(m.K, place.channel, n)

	step := threads / perRow // rows
	together := out.RowsTogether()
	for first := 0; first < m.t.BM; first += together * step {
		var list []outputRow
		for at := first; at < min(m.t.BM, first+together*step); at += step {
			r := outputRow{rowPlace: place, sums: sums.At(4 * at * m.t.sumPitch())}
			pixel, inside := pixelOf(m.Add(row, ptx.U(at)))
			if r.pixel = pixel; inside != nil {
				r.pixel = m.Select(*inside, pixel, ptx.U(0)) // which may be read
				r.inside = m.both(r.inside, *inside)
			}
			r.values = out.Fetch(m.K, r.pixel, r.channel, n)
			list = append(list, r)
		}
		for _, r := range list {
			body := func() { out.Finish(m.K, r.pixel, r.channel, m.loadSums(r.sums, n), tables, r.values) }
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
	sums   ptx.SharedPtr
	values [][]ptx.Float
}

func (m *block) loadSums(from ptx.SharedPtr, n int) []ptx.Word {
	var list []ptx.Word
	for i := 0; i < n; i += 4 {
		list = append(list, m.LoadShared(from.At(4*i), min(4, n-i))...)
	}
	return list
}
