package products

import (
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// side is the source of one matrix of a product of two. What lies side by side in memory is either along the sum, as it is in a
// row-major left side, or across it, elements of different rows of the result (columns for the right side). In a stage that
// is, of each operand, rows of BK bytes, or lines of as many elements as the tile has rows:
//
//	          BK bytes                      rows of the tile
//	     +--------------+                  +----------------+
//	rows | along        |     BK/size lines | across         |
//	     +--------------+                  +----------------+
//
// Pieces of 16 bytes are swizzled in either.
type side struct {
	*block
	*operand
	depth, extent int      // elements of the sum, and rows of the matrix
	rows          int      // of the tile
	first         ptx.Uint // of them
	at            int      // bytes from a stage's begin

	from  ptx.GlobalPtr   // this thread's first piece at the next step
	place ptx.Uint        // along: its element of the sum; across: its line's
	row   ptx.Uint        // along: its row; across: its first element's
	apart int             // rows or lines that the block copies at once
	slots []ptx.SharedPtr // where the thread does in stage 0, turn by turn
}

// along reports whether neighbours in memory are neighbours in the sum.
func (o *operand) along() bool { return o.column == 1 }

// pitch is the elements from one row or line to the next.
func (o *operand) pitch() int {
	if o.along() {
		return o.row
	}
	return o.column
}

// halves reports whether rows or lines begin between two words, so that nothing longer than a half can be copied.
func (o *operand) halves() bool { return o.Type.Size() == 2 && o.pitch()%2 != 0 }

// unit is the bytes that a thread copies at a time, 4, 8 or 16: rows that are no multiples of 16 bytes begin anywhere.
func (s *side) unit() int {
	return max(4, s.Type.Size()*emit.VectorOf(s.Type.Size(), s.pitch()))
}

// lineBytes is the length of a row or line in a stage.
func (s *side) lineBytes() int {
	if s.along() {
		return s.t.BK
	}
	return s.rows * s.Type.Size()
}

// swizzle is by what the pieces of a row or line are swizzled: eight of them fill the banks.
func (s *side) swizzle(line ptx.Uint) ptx.Uint {
	if !s.along() && s.t.Unit == emit.SimtF32 { // whose lanes read neighbouring pieces of a line
		return ptx.U(0)
	}
	if s.lineBytes() < 128 { // two lines, or rows, are 128 bytes
		return s.And(s.Shr(line, 1), ptx.U(3))
	}
	return s.And(line, ptx.U(7))
}

// begin finds what the thread copies of a matrix of the batch.
func (s *side) begin(matrix ptx.Uint) {
	units, perPiece := s.lineBytes()/s.unit(), 16/s.unit()
	line, unit := s.DivRem(s.thread, units)
	s.apart = s.t.threads() / units
	piece, rest := s.DivRem(unit, perPiece)
	in := s.Add(s.Shl(s.Xor(piece, s.swizzle(line)), 4), s.Mul(rest, ptx.U(s.unit())))
	slot := s.Add(s.Mad(line, ptx.U(s.lineBytes()), s.ring.Uint), in)
	flipped := map[int64]ptx.SharedPtr{}
	for i := range s.rows * s.t.BK / s.unit() / s.t.threads() {
		q, _ := s.swizzle(ptx.U(i * s.apart)).Constant() // the line's own bits are below those of the turn's
		if _, ok := flipped[q]; !ok {
			flipped[q] = s.flipped(slot, int(q))
		}
		s.slots = append(s.slots, flipped[q].At(s.at+i*s.apart*s.lineBytes()))
	}
	element := s.Mul(unit, ptx.U(s.unit()/s.Type.Size()))
	at := emit.RowOffset(s.K, matrix, s.batch)
	if s.along() {
		s.row, s.place = s.Add(s.first, line), element
		at = s.Add(at, s.Mad(s.row, ptx.U(s.pitch()), element))
	} else {
		s.row, s.place = s.Add(s.first, element), line
		at = s.Add(at, s.Mad(line, ptx.U(s.pitch()), s.row))
	}
	s.from = s.VarGlobal(s.Offset(s.Base, at, s.Type.Size()))
	if s.tail() {
		s.place = s.Var(s.place)
	}
}

// tail reports whether the last step is shorter than the others.
func (s *side) tail() bool { return s.depth%(s.t.BK/s.Type.Size()) != 0 }

// inside reports whether the matrix has an element of the unit of a row or line, counted from the thread's first.
func (s *side) inside(line ptx.Uint, element int) ptx.Cond {
	row, place := line, ptx.U(element)
	if !s.along() {
		row, place = place, row
	}
	inside := s.Lt(s.Add(s.row, row), ptx.U(s.extent))
	if s.tail() {
		inside = s.Both(inside, s.Lt(s.Add(s.place, place), ptx.U(s.depth)))
	}
	return inside
}

// copies returns the copies of the next step.
func (s *side) copies(stage ptx.Uint, more *ptx.Cond) (list []func()) {
	size := s.Type.Size()
	if s.halves() {
		list = append(list, func() {
			if more == nil {
				s.copyHalves(stage)
			} else {
				s.If(*more, func() { s.copyHalves(stage) })
			}
		})
	} else {
		for i, slot := range s.slots {
			to, from := s.OffsetShared(slot, stage, 1), s.from.At(i*s.apart*s.pitch()*size)
			list = append(list, func() {
				length := s.Select(s.inside(ptx.U(i*s.apart), 0), ptx.U(s.unit()), ptx.U(0))
				s.when(more, func() { s.CopyAsyncOf(s.unit(), to, from, length) })
			})
		}
	}
	step := s.t.BK
	if !s.along() {
		step *= s.pitch()
	}
	return append(list, func() {
		s.SetGlobal(s.from, s.from.At(step))
		if s.tail() {
			s.Set(s.place, s.Add(s.place, ptx.U(s.t.BK/size)))
		}
	})
}

// pairsTogether is how many pairs of halves are under way at a time. The slots of so many repeat so many rows or lines on.
const pairsTogether = 8

// copyHalves copies a step's halves, two a slot and one by one: no copy beside the thread is that short. It is a loop, since of
// straight code the assembler would have all of them in registers.
func (s *side) copyHalves(stage ptx.Uint) {
	together := min(pairsTogether, max(1, len(s.slots)/2))
	step, end := together*s.apart, len(s.slots)*s.apart
	s.ForRolled(ptx.U(0), ptx.U(end), ptx.U(step), func(line ptx.Uint) {
		from, shift := s.Offset(s.from, line, 2*s.pitch()), s.Mad(line, ptx.U(s.lineBytes()), stage)
		for i, slot := range s.slots[:together] {
			var halves [2]ptx.Word
			for h := range halves {
				v := s.Var(ptx.U(0))
				s.When(s.inside(s.Add(line, ptx.U(i*s.apart)), h), func() { s.Set(v, emit.LoadElement(s.K, from.At(2*(i*s.apart*s.pitch()+h)), 2)) })
				halves[h] = v.Word()
			}
			s.StoreShared(s.OffsetShared(slot, shift, 1), s.Prmt(halves[0], halves[1], 0x5410))
		}
	})
}

// fragments are the side's for the tensor cores, of a warp's 16 rows, or of as many columns for a right side, from row on.
func (s *side) fragments(w warpTile, row ptx.Uint, count int, right bool) fragments {
	// Lanes 8q to 8q+7 give the addresses of matrix q. Of a left side, those of the first eight rows and of the next, then the
	// same of the next 16 bytes of the sum; of a right side both halves of the sum of eight columns, then of the next eight: the
	// two registers of a fragment are neighbours then, as the instruction wants them.
	eight, low, high := w.And(w.lane, ptx.U(7)), w.And(w.Shr(w.lane, 3), ptx.U(1)), w.Shr(w.lane, 4)
	of, half := low, high // which eight rows, and which half of the sum
	if right {
		of, half = high, low
	}
	if s.along() {
		line := w.Add(row, w.Add(eight, w.Shl(of, 3)))
		first := w.Add(w.Mad(line, ptx.U(w.t.BK), w.ring.Uint), w.t.swizzled(w.K, line, half))
		f := w.rowFragments(first)
		for i := range f.first {
			f.first[i] = f.first[i].At(s.at)
		}
		return f
	}
	line := w.Add(eight, w.Shl(half, 3))
	piece := w.Xor(w.Add(w.Shr(row, 3), of), s.swizzle(line))
	f := turned{block: w.block, lineBytes: s.lineBytes()}
	first := w.Add(w.Mad(line, ptx.U(s.lineBytes()), w.ring.Uint), w.Shl(piece, 4))
	for i := range count / 16 {
		f.first = append(f.first, w.flipped(first, 2*i).At(s.at))
	}
	return f
}

// simt is the side as lanes read it that multiply themselves, from a row of the tile on.
func (s *side) simt(w warpTile, lane ptx.Uint, lanes int, row ptx.Uint) simtSide {
	if s.along() {
		return w.simtRow(lane, lanes, w.Add(ptx.U(s.at/s.t.BK), row))
	}
	first := w.Add(w.Mad(row, ptx.U(4), w.ring.Uint), ptx.U(s.at))
	return simtSide{block: w.block, lane: lane, lanes: lanes, first: w.Add(first, w.Shl(lane, 4)), lineBytes: s.lineBytes()}
}

// turned are the fragments of lines across the sum: ldmatrix transposes their 8x8 matrices.
type turned struct {
	*block
	first     []ptx.SharedPtr // addresses of this lane's first pieces in stage 0, by 16 rows
	lineBytes int
}

func (f turned) place(stage ptx.Uint, slice, i int) (ptx.SharedPtr, bool) {
	return f.OffsetShared(f.first[i], stage, 1).At(slice * mmaBytes / 2 * f.lineBytes), true
}
