package products

import "github.com/trtui/trtui/kernels/cuda/ptx"

// weights is the source of packed weights: rows of output channels.
type weights struct {
	*block
	p     *product
	w     ptx.GlobalPtr
	from  ptx.GlobalPtr // this thread's first row, at the next step
	sizes []ptx.Uint    // bytes to copy of each row, 16 or 0
}

// begin finds what the thread copies: a piece, from one on, of every so many rows.
func (s *weights) begin(start, row ptx.Uint, phase phaseOfBlock) {
	t, p := s.t, s.p
	channel := s.Add(s.column, row)
	weightRow := s.Mad(s.group, ptx.U(p.k), channel)
	if p.subpixel != nil {
		weightRow = s.Add(phase.row, channel)
	}
	at := s.Offset(s.w, weightRow, p.depth()*p.typ.Size())
	s.from = s.VarGlobal(s.Offset(at, start, 16))
	for r := 0; r < t.BN; r += t.rowsAtOnce() {
		size := ptx.U(16)
		if p.k%t.BN != 0 {
			size = s.Select(s.Lt(s.Add(channel, ptx.U(r)), ptx.U(p.k)), ptx.U(16), ptx.U(0))
		}
		s.sizes = append(s.sizes, size)
	}
}

// copy starts the copies of the next step.
func (s *weights) copy(to ptx.SharedPtr) {
	for i, size := range s.sizes {
		r := i * s.t.rowsAtOnce()
		s.CopyAsync(to.At(r*s.t.BK), s.from.At(r*s.p.depth()*s.p.typ.Size()), size)
	}
	s.SetGlobal(s.from, s.from.At(s.t.BK))
}
