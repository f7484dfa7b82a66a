package products

import (
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// join makes the sums of the last of a tile's blocks whole; the other blocks end. Each writes its part thread by thread as the
// sums lie in registers:
//
//	[tile][part][4 sums of a thread][thread] vectors of 4 words
func (m *block) join(sums []ptx.Word, p emit.Parts, tile, part ptx.Uint) {
	t := m.t
	size := t.partBytes()
	first := m.Offset(m.Offset(p.Sums, tile, t.Split*size), m.thread, 16)
	vector := func(part ptx.GlobalPtr, i int) ptx.GlobalPtr { return part.At(16 * i * t.threads()) }
	own := m.Offset(first, part, size)
	for i := range len(sums) / 4 {
		m.Store(vector(own, i), sums[4*i:4*i+4]...)
	}

	place := m.Array("place", 4, 16)
	m.Barrier()
	m.If(m.Eq(m.thread, ptx.U(0)), func() {
		m.StoreShared(place, m.CountUp(m.Offset(p.Counters, tile, 4), ptx.U(t.Split-1)).Word())
	})
	m.Barrier()
	m.Exit(m.Ne(m.LoadShared(place, 1)[0].Uint(), ptx.U(t.Split-1)))

	vectors, together := t.joinsTogether()
	for at := 0; at < len(sums); at += 4 * vectors {
		m.addParts(sums[at:at+4*vectors], vector(first, at/4), together)
	}
}

// addParts makes sums those of all parts, whose vectors of these sums begin at the address in part 0: parts one after the
// other, the loads of together of them at a time.
func (m *block) addParts(sums []ptx.Word, from ptx.GlobalPtr, together int) {
	t := m.t
	for _, s := range sums {
		m.setSum(s, ptx.W(0))
	}
	at := m.VarGlobal(from)
	m.ForRolled(ptx.U(0), ptx.U(t.Split), ptx.U(together), func(ptx.Uint) {
		var parts [][]ptx.Word
		for j := range together {
			var part []ptx.Word
			for i := range len(sums) / 4 {
				part = append(part, m.Load(at.At(j*t.partBytes()+16*i*t.threads()), 4)...)
			}
			parts = append(parts, part)
		}
		for _, part := range parts {
			for i, w := range part {
				m.addSum(sums[i], w)
			}
		}
		m.SetGlobal(at, at.At(together*t.partBytes()))
	})
}

// joinsTogether returns how many of a thread's vectors of sums are added up in one loop over the parts, and of how many parts
// at a time: as many loads are under way as there are registers for, beside the sums.
func (t Tile) joinsTogether() (vectors, parts int) {
	const others = 40 // registers
	sums := t.BM * t.BN / t.threads()
	free := (t.mostRegisters() - sums - others) / 4
	for vectors = sums / 4; vectors > max(1, free); {
		vectors /= 2
	}
	for parts = t.Split; parts > 1 && parts*vectors > free; {
		parts /= 2
	}
	if 4*vectors < sums && parts == t.Split { // what is no loop would be loaded at once with what follows
		parts /= 2
	}
	return vectors, parts
}

// addSum adds a sum from memory to one in a register.
func (m *block) addSum(sum, w ptx.Word) {
	if m.t.Unit == emit.TensorI8 {
		m.SetS(sum.Int(), m.AddS(sum.Int(), w.Int()))
	} else {
		m.SetF(sum.FloatRegister(), m.AddF(sum.FloatRegister(), m.FloatOf(w)))
	}
}

// setSum sets a sum in a register to a word.
func (m *block) setSum(sum, w ptx.Word) {
	if m.t.Unit == emit.TensorI8 {
		m.SetS(sum.Int(), w.Int())
	} else {
		m.SetF(sum.FloatRegister(), m.FloatOf(w))
	}
}

// partBytes returns the memory of a block's part of a sum.
func (t Tile) partBytes() int { return 4 * t.BM * t.BN }

// workspace returns the bytes of the parts of split sums.
func (t Tile) workspace(p *product) int {
	if t.Split == 1 {
		return 0
	}
	g := t.grid(p)
	return g[0] * g[1] * g[2] * t.partBytes()
}
