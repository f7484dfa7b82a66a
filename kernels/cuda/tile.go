package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// tile is how a block of threads computes a part of a product: bm output pixels by bn output channels, bk bytes of the
// sum at a time, through a ring of stages in shared memory. Warps divide the tile among them, warpsM by warpsN. With
// split above 1, so many blocks share one tile's sum, and the last of them adds their parts up.
type tile struct {
	unit           unit
	bm, bn, bk     int
	warpsM, warpsN int
	stages, split  int
}

// unit is what multiplies.
type unit uint8

// The units: 32-bit multiply-adds, and tensor cores on halves and on bytes.
const (
	simtF32 unit = iota
	tensorF16
	tensorI8
)

var units = [...]struct {
	name string
	typ  graph.DataType
}{
	simtF32:   {"f32_simt", graph.F32},
	tensorF16: {"f16_mma", graph.F16},
	tensorI8:  {"i8_mma", graph.I8},
}

func (t tile) String() string {
	s := fmt.Sprintf("%s_%dx%dx%d_s%d", units[t.unit].name, t.bm, t.bn, t.bk, t.stages)
	if t.split > 1 {
		s += fmt.Sprintf("_k%d", t.split)
	}
	return s
}

// threads returns the threads of a block.
func (t tile) threads() int { return 32 * t.warpsM * t.warpsN }

// stageBytes returns the shared memory of one stage: rows of pixels, then rows of weights.
func (t tile) stageBytes() int { return (t.bm + t.bn) * t.bk }

// sumPitch is the distance in words between two rows of sums in shared memory: an odd multiple of 8, so that the four rows
// that half a warp writes lie in different banks.
func (t tile) sumPitch() int { return 8 * (ceilDiv(sumPlace(t.bn), 8) | 1) }

// sumPlace is where the sum of a column lies in its row. Four words are left free behind each 32, so that threads that read
// 4 words each, 8 or 16 words apart as they have 8 or 16 columns, do it in different banks.
func sumPlace(column int) int { return column + column/32*4 }

// sumPlace is the same of a column that is not known yet.
func (m *implicit) sumPlace(column ptx.Uint) ptx.Uint {
	return m.Add(column, m.Shl(m.Shr(column, 5), 2))
}

// shared returns the bytes of shared memory of a block: the ring, which the sums take over when it has run dry.
func (t tile) shared() int { return max(t.stages*t.stageBytes(), t.bm*t.sumPitch()*4) }

// tiles is the table of tile shapes by unit, the best guess for large products first.
func tiles(u unit) []tile {
	shapes := map[unit][]tile{
		simtF32: {
			{bm: 128, bn: 128, bk: 64, warpsM: 4, warpsN: 2},
			{bm: 128, bn: 64, bk: 64, warpsM: 4, warpsN: 2},
			{bm: 64, bn: 64, bk: 64, warpsM: 2, warpsN: 2},
			{bm: 32, bn: 64, bk: 64, warpsM: 1, warpsN: 2},
			{bm: 32, bn: 32, bk: 64, warpsM: 1, warpsN: 1},
		},
		tensorF16: tensorTiles,
		tensorI8:  tensorTiles,
	}
	var list []tile
	for _, s := range shapes[u] {
		for _, stages := range []int{3, 4} {
			for _, split := range s.splits() {
				s.unit, s.stages, s.split = u, stages, split
				list = append(list, s)
			}
		}
	}
	return list
}

// splits returns into how many parts a tile's sums may be cut. Large tiles are for large products.
func (t tile) splits() []int {
	if t.bm*t.bn > 64*128 {
		return []int{1, 2, 4}
	}
	return []int{1, 2, 4, 8, 16}
}

var tensorTiles = []tile{
	{bm: 128, bn: 128, bk: 128, warpsM: 2, warpsN: 2},
	{bm: 128, bn: 128, bk: 64, warpsM: 2, warpsN: 4},
	{bm: 128, bn: 256, bk: 64, warpsM: 2, warpsN: 4},
	{bm: 128, bn: 64, bk: 128, warpsM: 4, warpsN: 1},
	{bm: 64, bn: 128, bk: 128, warpsM: 2, warpsN: 2},
	{bm: 64, bn: 64, bk: 128, warpsM: 2, warpsN: 2},
	{bm: 32, bn: 64, bk: 128, warpsM: 1, warpsN: 2},
	{bm: 64, bn: 64, bk: 64, warpsM: 2, warpsN: 2},
}

// fits returns why the tile cannot compute the product.
func (t tile) fits(p *product) error {
	if size := p.typ.Size(); p.typ != units[t.unit].typ && !(t.unit == tensorI8 && size == 1) {
		return fmt.Errorf("elements are %s, the kernel multiplies %s", p.typ, units[t.unit].typ)
	}
	v := p.vector()
	if p.groups > 1 && (p.c%v != 0 || p.k%4 != 0 || p.widthOut != p.k*p.groups) {
		return fmt.Errorf("groups of %d to %d channels do not fill vectors of 16 bytes", p.c, p.k)
	}
	if p.n*p.h*p.w*p.pitchIn*p.typ.Size() > maxElements {
		return fmt.Errorf("the input has more than %d bytes", maxElements)
	}
	if err := weightsFit(p.k*p.groups, p.depth()*p.typ.Size()); err != nil {
		return err
	}
	if p.subpixel == nil && max((p.r-1)*p.dilation[0], (p.s-1)*p.dilation[1]) >= farAway {
		return fmt.Errorf("the taps reach over more than %d pixels", farAway)
	}
	if p.pitchIn%v != 0 {
		return fmt.Errorf("rows of %d elements do not begin at multiples of 16 bytes", p.pitchIn)
	}
	steps := p.steps(t.bk)
	if t.split > 1 && steps < 2*t.split {
		return fmt.Errorf("a sum of %d steps is too short for %d parts", steps, t.split)
	}
	if g := t.grid(p); t.split > 1 && g[0]*g[1] > maxCounters {
		return fmt.Errorf("%d tiles are too many to share sums", g[0]*g[1])
	}
	return nil
}

// grid returns the blocks: pixels, channels by groups or phases, parts.
func (t tile) grid(p *product) [3]int {
	return [3]int{ceilDiv(p.pixels(), t.bm), ceilDiv(p.k, t.bn) * p.parts(), t.split}
}

// Cycles of a block that do not grow with its work: to fill the ring and to write the result, and a step's barrier.
const (
	tileLatency = 2500
	stepLatency = 60
	joinLatency = 2000 // to write a part, count it and see the others'
	joinBytes   = 64   // of the parts that a block reads in a cycle
)

// jobs estimates the launches.
func (t tile) jobs(p *product, b kernels.Binding) []job {
	steps := float64(ceilDiv(p.steps(t.bk), t.split))
	busy := steps
	if p.subpixel != nil {
		busy *= p.subpixel.share(p, t.bk)
	}
	multiplied := float64(t.bm * t.bn * t.bk / p.typ.Size())
	// Each warp reads its rows of pixels and of weights.
	read := float64((t.bm*t.warpsN+t.bn*t.warpsM)*t.bk) / sharedBytesPerCycle
	write := float64(t.stageBytes()) / 64
	latency := 2*steps*stepLatency + tileLatency
	if t.split > 1 { // the last block counts, and reads all parts
		latency += joinLatency + float64(t.split*t.partBytes())/joinBytes
	}
	g := t.grid(p)
	return []job{{
		blocks: g[0] * g[1] * g[2], resident: max(1, min(2048/t.threads(), registersPerSM/(t.threads()*t.registers()))), shared: t.shared(),
		unit: t.unit, multiplied: busy * multiplied, beside: busy * (read + write), cycles: busy * stepLatency,
		longest: steps / max(busy, 1), latency: latency, bytes: traffic(b) + float64(2*t.workspace(p)),
	}}
}

// resident returns how many blocks are to share an SM of the largest kind: two where memory and registers allow, so that one
// multiplies while the other begins or ends. A block that adds parts up loads as many of them at a time as it has registers
// for: small ones get joinRegisters a thread.
func (t tile) resident() int {
	const shared = 228 << 10
	sums, most := t.bm*t.bn/t.threads(), shared/(t.shared()+sharedReserved)
	switch {
	case sums > 64 || t.unit == simtF32 && sums > 32 || most < 2:
		return 1
	case t.split > 1 && t.threads() <= 128 && t.unit != simtF32 && sums <= 32:
		return min(most, registersPerSM/(t.threads()*joinRegisters))
	}
	return 2
}

const (
	registersPerSM = 65536
	joinRegisters  = 160
)

// registers estimates what a thread needs: its sums, two sets of operands, addresses.
func (t tile) registers() int {
	sums := t.bm * t.bn / t.threads()
	switch {
	case t.unit == simtF32 && t.resident() == 1:
		return 255 // it is given more operands at a time
	case t.split > 1:
		return min(registersPerSM/(t.threads()*t.resident()), max(joinRegisters, min(255, sums+64)))
	}
	return min(255, sums+64)
}
