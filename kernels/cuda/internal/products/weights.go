package products

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// weights is the source of packed weights: of a tile's they lie in memory as they will in a stage, step after step. Each warp
// copies neighbouring bytes, so that all its copies are a few bytes from one address.
type weights struct {
	*block
	packed
	w    ptx.GlobalPtr
	from ptx.Uint      // this thread's first piece, at the next step
	slot ptx.SharedPtr // of it in stage 0
}

// each is how many pieces a thread copies.
func (s *weights) each() int { return s.stepBytes() / (16 * s.block.t.threads()) }

// begin finds what the thread copies of a tile, from a step on.
func (s *weights) begin(tile, step ptx.Uint) {
	warp, lane := s.DivRem(s.thread, 32)
	at := s.Mad(warp, ptx.U(512*s.each()), s.Shl(lane, 4))
	s.slot = s.OffsetShared(s.ring, at, 1).At(s.block.t.BM * s.block.t.BK)
	first := s.Mad(s.Mad(tile, ptx.U(s.steps), step), ptx.U(s.stepBytes()/16), s.Shr(at, 4))
	s.from = s.Var(s.Add(first, ptx.U(middle/16)))
}

// middle is where a pointer stands among what is copied: an instruction reaches as far before it as behind it.
const middle = 2048

// copies returns the copies of the step so many turns on.
func (s *weights) copies(stage ptx.Uint, turn int, more *ptx.Cond) (list []func()) {
	w := s.Advanced(s.w, turn*s.stepBytes())
	to, from := s.OffsetShared(s.slot, stage, 1), s.Offset(w, s.from, 16)
	for i := range s.each() {
		list = append(list, func() {
			s.when(more, func() { s.CopyAsync(to.At(512*i), from.At(512*i-middle), ptx.U(16)) })
		})
	}
	return list
}

// advance goes on by so many steps.
func (s *weights) advance(turns int) { s.Set(s.from, s.Add(s.from, ptx.U(turns*s.stepBytes()/16))) }
