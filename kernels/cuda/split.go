package cuda

import "github.com/trtui/trtui/kernels/cuda/ptx"

// parts is where the blocks that share a tile's sum meet. Each writes its part, thread by thread as the sums lie in
// registers:
//
//	[tile][part][4 sums of a thread][thread] vectors of 4 words
//
// and counts itself. The last one adds all parts up, always in their order, and goes on alone.
type parts struct {
	sums     ptx.GlobalPtr
	counters ptx.GlobalPtr // by tile, 0 before and after
}

// join makes the sums of the last of a tile's blocks whole; the other blocks end.
func (m *implicit) join(sums []ptx.Word, p parts) {
	t := m.t
	size := t.partBytes()
	tile := m.Mad(m.blockN, ptx.U(t.grid(m.p)[0]), m.blockM)
	first := m.Offset(m.Offset(p.sums, tile, t.split*size), m.thread, 16)
	vector := func(part ptx.GlobalPtr, i int) ptx.GlobalPtr { return part.At(16 * i * t.threads()) }
	own := m.Offset(first, m.part, size)
	for i := range len(sums) / 4 {
		m.Store(vector(own, i), sums[4*i:4*i+4]...)
	}

	place := m.Array("place", 8, 16)
	m.Barrier()
	m.If(m.Eq(m.thread, ptx.U(0)), func() {
		m.StoreShared(place, m.CountUp(m.Offset(p.counters, tile, 4), ptx.U(t.split-1)).Word(), ptx.W(1))
	})
	m.Barrier()
	told := m.LoadShared(place, 2)
	m.Exit(m.Ne(told[0].Uint(), ptx.U(t.split-1)))
	one := told[1].Int()

	together := t.vectorsTogether()
	for i := range len(sums) / 4 {
		if i > 0 && i%together == 0 {
			m.Barrier()
		}
		whole := m.Load(vector(first, i), 4)
		for part := range t.split - 1 {
			for e, w := range m.Load(vector(first.At((part+1)*size), i), 4) {
				whole[e] = m.addWords(whole[e], w, one)
			}
		}
		for e, w := range whole {
			m.setSum(sums[4*i+e], w)
		}
	}
}

// vectorsTogether returns of how many vectors of sums all parts are loaded at a time: as many as there are registers for,
// beside the sums. The assembler would ask for more, and spill.
func (t tile) vectorsTogether() int {
	const others = 40 // registers
	free := min(255, registersPerSM/(t.threads()*t.resident())) - t.bm*t.bn/t.threads() - others
	return max(1, free/(4*t.split))
}

// addWords adds two sums that came from memory: integers, or floats in words. One is a 1 that the assembler does not know:
// integers that are only added it adds in any order, which is to load all of them first, and to spill.
func (m *implicit) addWords(a, b ptx.Word, one ptx.Int) ptx.Word {
	if m.t.unit == tensorI8 {
		return m.MadS(b.Int(), one, a.Int()).Word()
	}
	return m.Bits(m.AddF(m.FloatOf(a), m.FloatOf(b)))
}

// setSum sets a sum in a register to one from memory.
func (m *implicit) setSum(sum, w ptx.Word) {
	if m.t.unit == tensorI8 {
		m.SetS(sum.Int(), w.Int())
	} else {
		m.SetF(sum.FloatRegister(), m.FloatOf(w))
	}
}

// partBytes returns the memory of a block's part of a sum.
func (t tile) partBytes() int { return 4 * t.bm * t.bn }

// workspace returns the bytes of the parts of split sums.
func (t tile) workspace(p *product) int {
	if t.split == 1 {
		return 0
	}
	g := t.grid(p)
	return g[0] * g[1] * g[2] * t.partBytes()
}
