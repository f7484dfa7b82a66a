package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// skinny is a product of a few rows with constant weights, which takes as long as its weights take to be read. These are packed as
// fragments of the tensor cores' left side, 16 bytes for each lane, so that a warp reads 512 bytes at a time and multiplies them
// without shared memory; the rows are the right side. Floats lie so that each lane multiplies four by four of a row.
// Warps of a block share the sum: each has every so many pieces of it.
//
//	[16 channels][64 bytes of the sum][2 products][lane][16 bytes]
//	[8 channels][512 bytes of the sum][channel][lane][16 bytes]
type skinny struct {
	*product
	binding kernels.Binding
	unit    emit.Unit
	warps   int
}

// skinnyTile is the rows for which tactics are named.
const skinnyTile = 16

// rowsMost returns how many rows are taken.
func (s *skinny) rowsMost() int {
	switch {
	case s.unit != emit.SimtF32:
		return 16
	case s.warps > 8: // more have no registers for their sums
		return 4
	}
	return 8
}

// channels returns how many a block has.
func (s *skinny) channels() int {
	if s.unit == emit.SimtF32 {
		return 8
	}
	return 16
}

// piece returns the bytes of a row of the sum that a warp multiplies at a time.
func (s *skinny) piece() int {
	if s.unit == emit.SimtF32 {
		return 512
	}
	return 64
}

// pieceBytes returns what all channels have of it.
func (s *skinny) pieceBytes() int { return s.channels() * s.piece() }

// ahead returns of how many pieces the loads are under way together, where a warp has many.
func (s *skinny) ahead() int {
	switch {
	case s.unit != emit.SimtF32:
		return 4
	case s.pixels() > 2: // whose sums take the registers
		return 1
	}
	return 2
}

// straight reports whether a warp's pieces are read all at once.
func (s *skinny) straight() bool {
	if s.unit == emit.SimtF32 {
		return s.turns() <= s.ahead()
	}
	return s.turns() <= 2*s.ahead()
}

// pitch returns the words from one row of sums in shared memory to the next.
func (s *skinny) pitch() int { return s.channels() + 4 }

// skinnyTactics are these products, of f16 and of bytes, with so many warps to a block.
func skinnyTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.Gemm, graph.MatMul} {
		for _, f := range []kernels.Format{kernels.Linear, kernels.NHWC} {
			for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8, emit.SimtF32} {
				for _, warps := range []int{8, 16, 4} {
					list = append(list, skinnyTactic(op, f, u, warps))
				}
			}
		}
	}
	return list
}

func skinnyTactic(op *graph.Op, f kernels.Format, u emit.Unit, warps int) emit.Tactic {
	of := func(b kernels.Binding) (*skinny, error) {
		p, err := productOf(b)
		if err != nil {
			return nil, err
		}
		s := &skinny{p, b, u, warps}
		return s, s.fits()
	}
	family := "gemm_" + f.String() + "_skinny_" + u.String()
	return emit.Tactic{
		Name: fmt.Sprintf("%s_%dx%d", family, skinnyTile, warps), Op: op, Variant: shape(family, skinnyTile, warps), In: f, Out: f, Strided: f == kernels.NHWC,
		Match: func(b kernels.Binding) error {
			if _, err := of(b); err != nil {
				return err
			}
			return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			s, err := of(b)
			if err != nil {
				return nil, err
			}
			return s.emit()
		},
		Cost: func(b kernels.Binding) []emit.Job {
			s, err := of(b)
			if err != nil {
				return nil
			}
			return s.jobs()
		},
	}
}

// fits returns why the kernel does not compute the product.
func (s *skinny) fits() error {
	size := s.typ.Size()
	switch {
	case s.typ != s.unit.Type() && !(s.unit == emit.TensorI8 && size == 1):
		return fmt.Errorf("elements are %s, the kernel multiplies %s", s.typ, s.unit.Type())
	case s.pixels() > s.rowsMost():
		return fmt.Errorf("%d rows, the kernel takes up to %d", s.pixels(), s.rowsMost())
	case s.weightsHaveZeros():
		return fmt.Errorf("zero points of weights")
	case s.pitchIn*size%16 != 0:
		return fmt.Errorf("rows of %d elements do not begin at multiples of 16 bytes", s.pitchIn)
	}
	return weightsFit(emit.RoundUp(s.k, s.channels()), s.pieces()*s.piece())
}

// pieces returns of how many pieces the sum is.
func (s *skinny) pieces() int { return emit.CeilDiv(s.c*s.typ.Size(), s.piece()) }

// turns returns of how many a warp has at most.
func (s *skinny) turns() int { return emit.CeilDiv(s.pieces(), s.warps) }

// eights returns by how many eights of rows a fragment is multiplied.
func (s *skinny) eights() int { return emit.CeilDiv(s.pixels(), 8) }

// pack returns the weights.
func (s *skinny) pack() []byte {
	size := s.typ.Size()
	out := make([]byte, emit.RoundUp(s.k, s.channels())*s.pieces()*s.piece())
	from := s.weight.Data
	switch s.typ {
	case numeric.F16:
		from = numeric.Bytes(s.halves())
	case numeric.F32:
		from = numeric.Bytes(s.weight.Floats())
	}
	for o := range s.k {
		for c := range s.c {
			copy(out[s.place(o, c*size):][:size], from[s.source(o, c, 0)*size:])
		}
	}
	return out
}

// place returns where a byte of the row of a channel lies. A lane's 16 bytes of a row of activations are its words of two products
// on tensor cores: what these take from it are the words that the fragments have there.
func (s *skinny) place(channel, b int) int {
	tile, row := channel/s.channels(), channel%s.channels()
	piece, in := b/s.piece(), b%s.piece()
	first := (tile*s.pieces() + piece) * s.pieceBytes()
	if s.unit == emit.SimtF32 {
		return first + row*s.piece() + in
	}
	lane := row%8*4 + in/16
	word := in % 16 / 4 // the first two are the first product's
	register := word%2*2 + row/8
	return first + word/2*512 + lane*16 + register*4 + b%4
}

func (s *skinny) emit() (*emit.Work, error) {
	w := emit.NewWork()
	out, err := emit.NewRowOutput(s.binding, s.sums(), w)
	if err != nil {
		return nil, err
	}
	threads := 32 * s.warps
	k := w.Module.Kernel("skinny", threads)
	k.Resident(s.resident())
	l := &emit.Launch{Kernel: "skinny", Grid: [3]int{emit.CeilDiv(s.k, s.channels()), 1, 1}, Block: [3]int{threads, 1, 1}}
	c := &skinnyBlock{skinny: s, K: k, x: l.Input(k, 0), w: l.Constant(k, "w", w.Append(s.pack()))}
	out.Parameters(k, l)
	c.place()
	c.run()
	c.finish(out)
	w.End(k, l)
	return w, nil
}

// jobs estimates the launch: an SM reads the weights as fast as the cache gives them, a few pieces at a time.
func (s *skinny) jobs() []emit.Job {
	const latency, bytesPerCycle = 700, 48
	bytes := s.pieces() * s.piece() * (s.channels() + s.pixels())
	rows := 8 * s.eights()
	if s.unit == emit.SimtF32 {
		rows = s.pixels()
	}
	return []emit.Job{{
		Blocks: emit.CeilDiv(s.k, s.channels()), Warps: s.warps, Resident: s.resident(), Unit: s.unit,
		Multiplied: float64(s.channels() * rows * s.pieces() * s.piece() / s.typ.Size()),
		Beside:     float64(bytes) / bytesPerCycle, Longest: 1,
		Latency: 1500 + latency*float64(emit.CeilDiv(s.turns(), s.ahead())), Bytes: emit.Traffic(s.binding),
	}}
}

// resident returns how many blocks are to share an SM.
func (s *skinny) resident() int {
	if s.unit == emit.SimtF32 && s.pixels() > 1 {
		return max(1, min(3, 12/s.warps))
	}
	return max(1, min(3, 24/s.warps))
}
