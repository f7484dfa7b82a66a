package attention

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// maskRows finds where the mask of each of the thread's rows begins, one for all where they have the same.
func (c *block) maskRows() {
	m := c.mask
	if m == nil {
		return
	}
	for i := range c.mine {
		if i > 0 && c.oneMask() {
			break
		}
		row := c.Min(c.rowOf(i), ptx.U(c.rows()-1))
		head, query := c.headOf(row)
		at := c.Mad(query, ptx.U(m.row), c.Mad(c.batchAt, ptx.U(m.batch), c.Mul(head, ptx.U(m.head))))
		c.maskAt = append(c.maskAt, c.Mad(c.laneKey, ptx.U(m.key), at))
	}
}

// fetched returns how many registers the masks of a tile take where they are read before the products, 0 where there are too few
// registers for that.
func (t Tile) fetched(p *problem) int {
	const most = 190 // registers, by our estimate
	if p.mask == nil {
		return 0
	}
	n := t.BM * t.BN / t.threads()
	if p.oneMask() {
		n = t.BN / t.rowLanes()
	}
	if t.sumRegisters(p)+n > most {
		return 0
	}
	return n
}

// oneMask reports whether all rows have the same mask.
func (p *problem) oneMask() bool { return p.mask.row == 0 && (p.mask.head == 0 || p.group() == 1) }

// apart reports whether the masks of two neighbouring keys are not read as one word: rows begin at any element.
func (m *mask) apart() bool { return m.key != 0 && (m.row|m.head|m.batch|m.length)%2 != 0 }

// fetchMasks reads the masks of the keys from start on, by row, where there are registers for them.
func (c *block) fetchMasks(start ptx.Uint) (list [][]ptx.Float) {
	if c.t.fetched(c.problem) == 0 {
		return nil
	}
	for i := range c.maskAt {
		list = append(list, c.readMask(i, start, 0, len(c.laneKeys)))
	}
	return list
}

// masksTogether is how many of a row's masks are under way at a time where they are not fetched: the assembler would have all.
const masksTogether = 8

// masked applies masks to scores, those that were fetched or are now.
func (c *block) masked(s scores, start ptx.Uint, masks [][]ptx.Float) {
	for i, row := range s {
		at := min(i, len(c.maskAt)-1)
		if masks != nil {
			c.apply(row, masks[at])
			continue
		}
		for j := 0; j < len(row); j += masksTogether {
			n := min(masksTogether, len(row)-j)
			c.WarpBarrier()
			c.apply(row[j:j+n], c.readMask(at, start, j, n))
		}
	}
}

// apply applies masks to scores.
func (c *block) apply(scores, masks []ptx.Float) {
	for j, v := range scores {
		switch {
		case !c.added():
			c.SetF(v, c.SelectF(c.EqF(masks[j], ptx.F(0)), v, negativeInfinity))
		case c.cap != 0: // it is scaled
			c.SetF(v, c.AddF(v, masks[j]))
		default:
			c.SetF(v, c.Fma(v, ptx.F(c.scale), masks[j]))
		}
	}
}

// readMask reads the masks of so many of a row's scores: what is added to them; of truth values 0 where the key counts. Keys behind
// the mask's last do not count.
func (c *block) readMask(i int, start ptx.Uint, first, count int) []ptx.Float {
	m := c.mask
	at := c.Offset(m.Base, c.Add(c.maskAt[i], c.Mul(start, ptx.U(m.key))), m.Type.Size())
	left := c.SubS(ptx.I(m.length), c.AddS(start.Int(), c.laneKey.Int())) // keys that it has from the thread's first on
	var list []ptx.Float
	n := 1
	if c.laneKeys[1] == 1 && m.key == 1 && !m.apart() {
		n = 2
	}
	for j := 0; j < count; j += n {
		key := c.laneKeys[first+j]
		var inside *ptx.Cond
		if m.key != 0 && (m.length%c.t.BN != 0 || m.length < c.keys) {
			p := c.GeS(left, ptx.I(key+1))
			inside = &p
		}
		list = append(list, c.unpackMasks(c.readMasks(at.At(key*m.key*m.Type.Size()), n, inside), n)...)
	}
	return list
}

// readMasks reads one mask, or two neighbours, as words; where inside does not hold, what takes keys out.
func (c *block) readMasks(at ptx.GlobalPtr, n int, inside *ptx.Cond) []ptx.Word {
	out := map[numeric.DataType]ptx.Word{numeric.Bool: ptx.W(0), numeric.F16: ptx.W(0xfc00fc00), numeric.F32: ptx.W(0xff800000)}[c.mask.Type]
	bytes := n * c.mask.Type.Size()
	switch {
	case bytes >= 4 && inside == nil:
		return c.Load(at, bytes/4)
	case bytes >= 4:
		return c.LoadOr(*inside, at, bytes/4, out)
	case inside == nil:
		return []ptx.Word{emit.LoadElement(c.K, at, bytes).Word()}
	}
	v := c.Var(out.Uint())
	c.When(*inside, func() { c.Set(v, emit.LoadElement(c.K, at, bytes)) })
	return []ptx.Word{v.Word()}
}

// unpackMasks makes numbers of words.
func (c *block) unpackMasks(words []ptx.Word, n int) (list []ptx.Float) {
	for i := range n {
		switch c.mask.Type {
		case numeric.F32:
			list = append(list, c.FloatOf(words[i]))
		case numeric.F16:
			lo, hi := c.UnpackHalves(words[0])
			list = append(list, [...]ptx.Float{lo, hi}[i])
		default:
			counts := c.Ne(c.Bfe(words[0], 8*i, 8), ptx.U(0))
			list = append(list, c.SelectF(counts, ptx.F(0), negativeInfinity))
		}
	}
	return list
}
