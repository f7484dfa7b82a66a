package attention

import (
	"fmt"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// Tile is how a block of threads computes the output of BM rows of queries: BN keys at a time, whose tiles go through a ring
// of Stages in shared memory. Warps divide the rows. With Split above 1, so many blocks share the keys of a tile.
type Tile struct {
	Unit          emit.Unit
	BM, BN, Warps int
	Stages, Split int
	// Most is the largest head size, of keys or values, for which there are registers, and Apart that where masks are read one by
	// one, which the assembler schedules worse; no more than 64 with parts.
	Most, Apart int
}

// String returns the tile as tactics name it: unit, extents, warps and, where blocks share keys, parts.
func (t Tile) String() string {
	s := fmt.Sprintf("%s_%dx%d_w%d", t.Unit, t.BM, t.BN, t.Warps)
	if t.Split > 1 {
		s += fmt.Sprintf("_k%d", t.Split)
	}
	return s
}

// variant returns what tells the tiles' tactics apart.
func (t Tile) variant() kernels.Variant {
	return kernels.Variant{Family: "attention_" + t.Unit.String(), Tile: fmt.Sprintf("%dx%d_w%d", t.BM, t.BN, t.Warps), Split: t.Split}
}

// threads returns the threads of a block.
func (t Tile) threads() int { return 32 * t.Warps }

// tiles is the table, the best guess for many queries first. Those of 16 rows, or 8, are for a few queries over many keys.
func tiles() []Tile {
	var list []Tile
	for _, s := range []struct {
		Tile
		splits []int
	}{
		{Tile{Unit: emit.TensorF16, BM: 128, BN: 64, Warps: 4, Stages: 2, Most: 64, Apart: 32}, []int{1}},
		{Tile{Unit: emit.TensorF16, BM: 128, BN: 32, Warps: 4, Stages: 2, Most: 128, Apart: 64}, []int{1}},
		{Tile{Unit: emit.TensorF16, BM: 128, BN: 64, Warps: 8, Stages: 2, Most: 128, Apart: 64}, []int{1}},
		{Tile{Unit: emit.TensorF16, BM: 64, BN: 64, Warps: 4, Stages: 2, Most: 256, Apart: 256}, []int{1, 2, 4}},
		{Tile{Unit: emit.TensorF16, BM: 32, BN: 64, Warps: 2, Stages: 2, Most: 256, Apart: 64}, []int{1, 2, 4}},
		{Tile{Unit: emit.TensorF16, BM: 16, BN: 64, Warps: 1, Stages: 3, Most: 256, Apart: 64}, []int{1, 2, 4, 8, 16, 32}},
		{Tile{Unit: emit.SimtF32, BM: 64, BN: 32, Warps: 4, Stages: 2, Most: 128, Apart: 128}, []int{1}},
		{Tile{Unit: emit.SimtF32, BM: 32, BN: 32, Warps: 4, Stages: 2, Most: 256, Apart: 256}, []int{1, 2, 4}},
		{Tile{Unit: emit.SimtF32, BM: 8, BN: 16, Warps: 2, Stages: 2, Most: 512, Apart: 512}, []int{1, 4, 16}},
	} {
		for _, split := range s.splits {
			t := s.Tile
			if t.Split = split; split > 1 && t.Unit == emit.TensorF16 {
				t.Apart = min(t.Apart, 64)
			}
			list = append(list, t)
		}
	}
	return list
}

// What a row of a tile is padded to, so that the products need no bounds; and what lies between two, so that neighbours begin
// in different banks.
const (
	tensorDepth = 16 // elements of the sum that an instruction multiplies
	tensorGap   = 8  // halves: rows are an odd multiple of 16 bytes apart
	simtGap     = 4  // floats: rows of multiples of 128 bytes are 16 bytes more apart
)

// widths returns the elements of a row of queries and keys, and of one of values, as shared memory has them.
func (t Tile) widths(p *problem) (keys, values int) {
	if t.Unit == emit.TensorF16 {
		return emit.RoundUp(p.size, tensorDepth), emit.RoundUp(p.sizeV, tensorDepth)
	}
	return emit.RoundUp(p.size, simtDepth), emit.RoundUp(p.sizeV, 4*simtLanes)
}

// pitch returns the bytes from one row of so many elements to the next.
func (t Tile) pitch(width int) int {
	if t.Unit == emit.TensorF16 {
		return 2 * (width + tensorGap)
	}
	return 4 * (emit.RoundUp(width, 32) + simtGap)
}

// stageBytes returns the shared memory of a tile of keys and one of values.
func (t Tile) stageBytes(p *problem) int {
	keys, values := t.widths(p)
	return t.BN * (t.pitch(keys) + t.pitch(values))
}

// queryBytes returns the shared memory of the queries.
func (t Tile) queryBytes(p *problem) int {
	keys, _ := t.widths(p)
	return t.BM * t.pitch(keys)
}

// shared returns the bytes of shared memory of a block: queries, the ring, and where products are no registers', the shares.
func (t Tile) shared(p *problem) int {
	n := t.queryBytes(p) + t.Stages*t.stageBytes(p)
	if t.Unit == emit.SimtF32 {
		n += t.BM * t.sharePitch()
	}
	return n
}

// fits returns why the tile does not compute the problem.
func (t Tile) fits(p *problem) error {
	if n := max(p.size, p.sizeV); n > t.Most {
		return fmt.Errorf("heads of %d, the tile has registers for %d", n, t.Most)
	}
	if n := max(p.size, p.sizeV); n > t.Apart && p.mask != nil && p.mask.apart() {
		return fmt.Errorf("heads of %d, the tile has registers for %d beside masks that are read one by one", n, t.Apart)
	}
	if t.Split > 1 && p.keyTiles(t) < t.Split {
		return fmt.Errorf("%d tiles of keys are too few for %d parts", p.keyTiles(t), t.Split)
	}
	if t.Unit == emit.TensorF16 {
		for _, m := range []*matrix{&p.q, &p.k, &p.v} {
			if m.Type != t.Unit.Type() {
				return fmt.Errorf("%s is %s, the kernel multiplies %s", m.name, m.Type, t.Unit.Type())
			}
			if m.unit() < 4 {
				return fmt.Errorf("rows of %s begin between two words", m.name)
			}
		}
	}
	g := t.grid(p)
	return emit.ThreadsFit(g[0] * g[1] * g[2])
}

// grid returns the blocks: tiles of rows by parts, heads of keys, batches.
func (t Tile) grid(p *problem) [3]int {
	return [3]int{emit.CeilDiv(p.rows(), t.BM) * t.Split, p.kvHeads, p.batch}
}
