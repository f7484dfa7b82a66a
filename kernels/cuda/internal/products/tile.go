package products

import (
	"fmt"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Tile is how a block of threads computes a part of a product: BM output pixels by BN output channels, BK bytes of the
// sum at a time, through a ring of Stages in shared memory. Warps divide the tile among them, WarpsM by WarpsN. With
// Split above 1, so many blocks share one tile's sum, and the last of them adds their parts up.
type Tile struct {
	Unit           emit.Unit
	BM, BN, BK     int
	WarpsM, WarpsN int
	Stages, Split  int
}

// Variant returns what tells tactics apart that compute alike on tiles, of the family whose names begin with the prefix.
func (t Tile) Variant(prefix string) kernels.Variant {
	return kernels.Variant{Family: prefix + t.Unit.String(), Tile: fmt.Sprintf("%dx%dx%d", t.BM, t.BN, t.BK), Split: t.Split}
}

// String returns the tile as tactics name it: unit, extents, stages and, of split sums, parts.
func (t Tile) String() string {
	s := fmt.Sprintf("%s_%dx%dx%d_s%d", t.Unit, t.BM, t.BN, t.BK, t.Stages)
	if t.Split > 1 {
		s += fmt.Sprintf("_k%d", t.Split)
	}
	return s
}

// threads returns the threads of a block.
func (t Tile) threads() int { return 32 * t.WarpsM * t.WarpsN }

// stageBytes returns the shared memory of one stage: rows of pixels, then rows of weights.
func (t Tile) stageBytes() int { return (t.BM + t.BN) * t.BK }

// sumPitch is the distance in words between two rows of sums in shared memory: an odd multiple of 8, so that the four rows
// that half a warp writes lie in different banks.
func (t Tile) sumPitch() int { return 8 * (emit.CeilDiv(sumPlace(t.BN), 8) | 1) }

// sumPlace is where the sum of a column lies in its row. Four words are left free behind each 32, so that threads that read
// 4 words each, 8 or 16 words apart as they have 8 or 16 columns, do it in different banks.
func sumPlace(column int) int { return column + column/32*4 }

// sumPlace is the same of a column that is not known yet.
func (b *block) sumPlace(column ptx.Uint) ptx.Uint {
	return b.Add(column, b.Shl(b.Shr(column, 5), 2))
}

// ringBytes returns the shared memory of all stages.
func (t Tile) ringBytes() int { return t.Stages * t.stageBytes() }

// shared returns the bytes of shared memory of a block whose sums are of so many steps at most: as much of the ring as they use.
// Where outputs do not leave from registers, the sums take it over when it has run dry.
func (t Tile) shared(steps int, staged bool) int {
	n := min(steps, t.Stages) * t.stageBytes()
	if staged {
		n = max(n, t.BM*t.sumPitch()*4)
	}
	return n
}

// laneVector returns how many channels of a pixel a lane of tensor cores has side by side, and writes at a time, if rows are
// written so many elements of a size at a time; 0 where the four lanes that share a pixel would write less than a sector of 32
// bytes: then outputs are made of rows of sums in shared memory.
func (t Tile) laneVector(vector, size int) int {
	v := min(vector, t.BN/t.WarpsN/4)
	if t.Unit == emit.SimtF32 || v < 2 || 4*v*size < 32 {
		return 0
	}
	return v
}

// laneVectorOf is the same for a layer.
func (t Tile) laneVectorOf(b kernels.Binding, p *product) int {
	vector, err := emit.RowVector(b, p.sums())
	if err != nil {
		return 0 // so the layer is refused
	}
	if p.weightsHaveZeros() { // beside the largest sums there are no registers for what 16 channels add to them
		vector = min(vector, 8)
	}
	return t.laneVector(vector, b.Out[0].Type.Size())
}

// Tiles is the table of tile shapes by unit, the best guess for large products first.
func Tiles(u emit.Unit) []Tile {
	shapes := map[emit.Unit][]Tile{
		emit.SimtF32: {
			{BM: 128, BN: 128, BK: 64, WarpsM: 4, WarpsN: 2},
			{BM: 128, BN: 64, BK: 64, WarpsM: 4, WarpsN: 2},
			{BM: 64, BN: 64, BK: 64, WarpsM: 2, WarpsN: 2},
			{BM: 32, BN: 64, BK: 64, WarpsM: 1, WarpsN: 2},
			{BM: 32, BN: 32, BK: 64, WarpsM: 1, WarpsN: 1},
		},
		emit.TensorF16: tensorTiles,
		emit.TensorI8:  tensorTiles,
	}
	var list []Tile
	for _, s := range shapes[u] {
		for _, stages := range []int{3, 4} {
			for _, split := range s.Splits() {
				s.Unit, s.Stages, s.Split = u, stages, split
				list = append(list, s)
			}
		}
	}
	return list
}

// Splits returns into how many parts a tile's sums may be cut. Large tiles are for large products.
func (t Tile) Splits() []int {
	if t.BM*t.BN > 64*128 {
		return []int{1, 2, 4}
	}
	return []int{1, 2, 4, 8, 16}
}

var tensorTiles = []Tile{
	{BM: 128, BN: 128, BK: 128, WarpsM: 2, WarpsN: 2},
	{BM: 128, BN: 128, BK: 64, WarpsM: 2, WarpsN: 4},
	{BM: 128, BN: 256, BK: 64, WarpsM: 2, WarpsN: 4},
	{BM: 128, BN: 64, BK: 128, WarpsM: 4, WarpsN: 1},
	{BM: 64, BN: 128, BK: 128, WarpsM: 2, WarpsN: 2},
	{BM: 64, BN: 64, BK: 128, WarpsM: 2, WarpsN: 2},
	{BM: 32, BN: 64, BK: 128, WarpsM: 1, WarpsN: 2},
	{BM: 64, BN: 64, BK: 64, WarpsM: 2, WarpsN: 2},
}

// fits returns why the tile cannot compute the product.
func (t Tile) fits(p *product) error {
	if size := p.typ.Size(); p.typ != t.Unit.Type() && !(t.Unit == emit.TensorI8 && size == 1) {
		return fmt.Errorf("elements are %s, the kernel multiplies %s", p.typ, t.Unit.Type())
	}
	v := p.vector()
	if p.groups > 1 && (p.c%v != 0 || p.k%4 != 0 || p.widthOut != p.k*p.groups) {
		return fmt.Errorf("groups of %d to %d channels do not fill vectors of 16 bytes", p.c, p.k)
	}
	if p.n*p.h*p.w*p.pitchIn*p.typ.Size() > emit.MaxElements {
		return fmt.Errorf("the input has more than %d bytes", emit.MaxElements)
	}
	if err := t.packed(p, 0).fits(); err != nil {
		return err
	}
	if p.subpixel == nil && max((p.r-1)*p.dilation[0], (p.s-1)*p.dilation[1]) >= farAway {
		return fmt.Errorf("the taps reach over more than %d pixels", farAway)
	}
	if p.pitchIn%v != 0 {
		return fmt.Errorf("rows of %d elements do not begin at multiples of 16 bytes", p.pitchIn)
	}
	steps := p.steps(t.BK)
	if t.Split > 1 && steps < 2*t.Split {
		return fmt.Errorf("a sum of %d steps is too short for %d parts", steps, t.Split)
	}
	if g := t.grid(p); t.Split > 1 && g[0]*g[1] > emit.MaxCounters {
		return fmt.Errorf("%d tiles are too many to share sums", g[0]*g[1])
	}
	return nil
}

// grid returns the blocks: pixels, channels by groups or phases, parts.
func (t Tile) grid(p *product) [3]int {
	return [3]int{emit.CeilDiv(p.pixels(), t.BM), emit.CeilDiv(p.k, t.BN) * p.parts(), t.Split}
}

// Cycles of a block that do not grow with its work: to fill the ring and to write the result, and a step's barrier.
const (
	tileLatency = 2500
	stepLatency = 60
	joinBytes   = 64 // of the parts that a block reads in a cycle
)

// jobs estimates the launches.
func (t Tile) jobs(p *product, b kernels.Binding) []emit.Job {
	steps := float64(emit.CeilDiv(p.steps(t.BK), t.Split))
	busy := steps
	if p.subpixel != nil {
		busy *= p.subpixel.share(p, t.BK)
	}
	multiplied := float64(t.BM * t.BN * t.BK / p.typ.Size())
	// Each warp reads its rows of pixels and of weights.
	read := float64((t.BM*t.WarpsN+t.BN*t.WarpsM)*t.BK) / emit.SharedBytesPerCycle
	write := float64(t.stageBytes()) / 64
	latency := 2*steps*stepLatency + tileLatency
	if t.Split > 1 { // the last block counts, and reads all parts
		latency += emit.JoinLatency + float64(t.Split*t.partBytes())/joinBytes
	}
	g := t.grid(p)
	return []emit.Job{{
		Blocks: g[0] * g[1] * g[2], Warps: t.threads() / 32, Resident: max(1, min(2048/t.threads(), emit.RegistersPerSM/(t.threads()*t.registers()))), Shared: t.shared(emit.CeilDiv(p.steps(t.BK), t.Split), t.laneVectorOf(b, p) == 0),
		Unit: t.Unit, Multiplied: busy * multiplied, Beside: busy * (read + write), Cycles: busy * stepLatency,
		Longest: steps / max(busy, 1), Latency: latency, Bytes: emit.Traffic(b) + float64(2*t.workspace(p)),
	}}
}

// resident returns how many blocks are to share an SM of the largest kind: two where memory and registers allow, so that one
// multiplies while the other begins or ends. A block that adds parts up loads as many of them at a time as it has registers
// for: small ones get joinRegisters a thread.
func (t Tile) resident() int {
	const shared = 228 << 10
	sums, most := t.BM*t.BN/t.threads(), shared/(t.ringBytes()+emit.SharedReserved)
	switch {
	case sums > 64 || t.Unit == emit.SimtF32 && sums > 32 || most < 2:
		return 1
	case t.threads() <= 128 && t.Unit != emit.SimtF32 && sums <= 32:
		return min(most, emit.RegistersPerSM/(t.threads()*joinRegisters))
	}
	return 2
}

const joinRegisters = 160

// mostRegisters returns how many registers a thread may have where as many blocks as are to share an SM do.
func (t Tile) mostRegisters() int { return min(255, emit.RegistersPerSM/(t.threads()*t.resident())) }

// tight reports whether as many blocks as are to share an SM leave a thread too few registers for its sums, two sets of
// operands, and the addresses of all stages.
func (t Tile) tight() bool {
	const others = 80
	return t.mostRegisters() < t.BM*t.BN/t.threads()+others
}

// registers estimates what the assembler gives a thread: its sums, two sets of operands, addresses; no more than the blocks that
// are to share an SM leave it.
func (t Tile) registers() int {
	sums := t.BM * t.BN / t.threads()
	most := t.mostRegisters()
	switch {
	case t.Unit == emit.SimtF32 && t.resident() == 1:
		return 255 // it is given more operands at a time
	case sums <= 32 && t.Unit != emit.SimtF32:
		return min(most, sums+64)
	}
	return min(most, sums+94)
}
