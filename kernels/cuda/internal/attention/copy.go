package attention

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// copier copies rows of a matrix to a tile in shared memory, zeros behind their ends and behind the last row. What the products
// take as it is stored is copied without registers, up to 16 bytes at a time; the rest is read as numbers.
type copier struct {
	*block
	*matrix
	rows  int // of the tile
	width int // elements of a row there
	pitch int // bytes there
	limit ptx.Uint
	query bool // rows are the head's, queries by heads

	to     ptx.SharedPtr
	from   ptx.GlobalPtr // of matrices of keys and values: this thread's first row of the next tile
	row    ptx.Uint      // that row; of queries the tile's first
	lanes  int           // that share a row
	apart  int           // rows that the block copies at once
	mine   ptx.Uint      // this thread's among them
	lane   ptx.Uint
	active *ptx.Cond // the thread has a row; nil: each has
}

// unit returns the bytes, 4, 8 or 16, that may be copied at a time wherever a row begins; 2 where rows begin between two words.
func (m *matrix) unit() int {
	size := m.Type.Size()
	return size * emit.VectorOf(size, m.size|m.row|m.head|m.batch)
}

// asynchronous reports whether rows are copied as they are stored.
func (s *copier) asynchronous() bool { return s.Type == s.t.Unit.Type() && s.unit() >= 4 }

// begin finds what the thread copies: rows from one on.
func (s *copier) begin(to ptx.SharedPtr, row ptx.Uint) {
	s.to = to
	if !s.asynchronous() {
		s.row = s.Var(row)
		return
	}
	units := s.width * s.Type.Size() / s.unit()
	s.lanes = min(8, 1<<bits.TrailingZeros(uint(units)))
	s.apart = s.t.threads() / s.lanes
	s.mine, s.lane = s.DivRem(s.thread, s.lanes)
	s.mine = s.spread(s.mine)
	if s.apart > s.rows {
		live := s.Lt(s.mine, ptx.U(s.rows))
		s.active, s.apart = &live, s.rows
	}
	s.to = s.OffsetShared(s.OffsetShared(to, s.mine, s.pitch), s.lane, s.unit())
	s.row = s.Add(row, s.mine)
	if s.query {
		return
	}
	at := s.Mad(s.row, ptx.U(s.matrix.row), s.Mad(s.batchAt, ptx.U(s.batch), s.Mul(s.headAt, ptx.U(s.head))))
	s.from = s.VarGlobal(s.Offset(s.Offset(s.Base, at, s.Type.Size()), s.lane, s.unit()))
	s.row = s.Var(s.row)
}

// spread puts rows that eight lanes copy together as far apart in eight rows as they go: neighbours would meet in a bank, as they
// are an odd number of pieces apart. It turns the lowest three bits around by those of a row's lanes.
func (s *copier) spread(row ptx.Uint) ptx.Uint {
	by := bits.TrailingZeros(uint(s.lanes))
	if s.lanes == 8 {
		return row
	}
	low := s.And(row, ptx.U(7))
	turned := s.Or(s.And(s.Shl(low, by), ptx.U(7)), s.Shr(low, 3-by))
	return s.Or(s.Sub(row, low), turned)
}

// advance goes on to the next tile of keys.
func (s *copier) advance() {
	if s.asynchronous() {
		s.SetGlobal(s.from, s.Advanced(s.from, s.rows*s.matrix.row*s.Type.Size()))
	}
	s.Set(s.row, s.Add(s.row, ptx.U(s.rows)))
}

// copy starts the copies of a tile, into the stage that begins so many bytes on.
func (s *copier) copy(stage ptx.Uint) {
	if !s.asynchronous() {
		s.copyNumbers(stage)
		return
	}
	to := s.OffsetShared(s.to, stage, 1)
	for i := range s.rows / s.apart {
		row := s.Add(s.row, ptx.U(i*s.apart))
		from := s.from.At(i * s.apart * s.matrix.row * s.Type.Size())
		if s.query {
			from = s.Offset(s.rowAt(row), s.lane, s.unit())
		}
		s.copyRow(to.At(i*s.apart*s.pitch), from, row)
	}
}

// rowAt is where a row of queries lies; of one that there is not, where another does.
func (s *copier) rowAt(row ptx.Uint) ptx.GlobalPtr {
	head, query := s.headOf(row)
	at := s.Mad(query, ptx.U(s.matrix.row), s.Mad(s.batchAt, ptx.U(s.batch), s.Mul(head, ptx.U(s.head))))
	return s.Offset(s.Base, at, s.Type.Size())
}

// copyRow starts the copies of the thread's part of a row.
func (s *copier) copyRow(to ptx.SharedPtr, from ptx.GlobalPtr, row ptx.Uint) {
	length := ptx.U(s.unit())
	if n, known := s.limit.Constant(); !known || int(n)%s.rows != 0 {
		length = s.Select(s.Lt(row, s.limit), length, ptx.U(0))
	}
	each := s.lanes * s.unit()
	for at := 0; at < s.width*s.Type.Size(); at += each {
		length, left := length, s.size*s.Type.Size()-at // bytes of the row
		switch {
		case left <= 0:
			length = ptx.U(0)
		case left < each:
			length = s.Select(s.Lt(s.lane, ptx.U(left/s.unit())), length, ptx.U(0))
		}
		one := func() { s.CopyAsyncOf(s.unit(), to.At(at), from.At(at), length) }
		if s.active != nil {
			s.When(*s.active, one)
		} else {
			one()
		}
	}
}

// copyNumbers reads a tile's rows as numbers: floats, which other types are made, or halves that begin between two words.
func (s *copier) copyNumbers(stage ptx.Uint) {
	n := min(4, s.unit()/s.Type.Size())
	to := s.OffsetShared(s.to, stage, 1)
	perRow := s.width / n
	s.ForRolled(s.thread, ptx.U(s.rows*perRow), ptx.U(s.t.threads()), func(i ptx.Uint) {
		at, piece := s.DivRem(i, perRow)
		row, column := s.Add(s.row, at), s.Mul(piece, ptx.U(n))
		values := make([]ptx.Float, n)
		for j := range values {
			values[j] = s.VarF(ptx.F(0))
		}
		inside := s.Lt(row, s.limit)
		if s.width > s.size {
			inside = s.Both(inside, s.Lt(column, ptx.U(s.size)))
		}
		s.If(inside, func() {
			var from ptx.GlobalPtr
			if s.query {
				from = s.rowAt(row)
			} else {
				from = s.Offset(s.Base, s.Mad(row, ptx.U(s.matrix.row), s.Mad(s.batchAt, ptx.U(s.batch), s.Mul(s.headAt, ptx.U(s.head)))), s.Type.Size())
			}
			source := s.Storage
			source.Base = from
			for j, v := range source.Load(s.K, column, n, nil) {
				s.SetF(values[j], v)
			}
		})
		s.StoreSharedF(s.OffsetShared(s.OffsetShared(to, at, s.pitch), column, 4), values...)
	})
}
