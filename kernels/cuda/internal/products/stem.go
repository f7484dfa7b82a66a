package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// stemTactics are the convolutions of a network's first layer on tensor cores: few channels, every other column.
func stemTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, u := range []emit.Unit{emit.TensorI8, emit.TensorF16} {
		for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
			for _, lines := range []int{16, 8} {
				list = append(list, stemTactic(u, f, lines))
			}
		}
	}
	return list
}

func stemTactic(u emit.Unit, f kernels.Format, lines int) emit.Tactic {
	return emit.Tactic{
		Name: fmt.Sprintf("conv_stem_%s_%s_%dx%d", f, u, lines, stemColumns), Op: graph.Conv, In: f, Out: kernels.NHWC,
		Variant: shape(fmt.Sprintf("conv_stem_%s_%s", f, u), lines, stemColumns),
		Match: func(b kernels.Binding) error {
			if _, err := stemOf(b, u, lines); err != nil {
				return err
			}
			return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			s, err := stemOf(b, u, lines)
			if err != nil {
				return nil, err
			}
			return s.emit(b)
		},
		Cost: func(b kernels.Binding) []emit.Job {
			s, err := stemOf(b, u, lines)
			if err != nil {
				return nil
			}
			return s.jobs(b)
		},
	}
}

// stem is such a convolution. A block computes lines of stemColumns output pixels. It has the input under them in shared
// memory, stemPixel bytes a pixel, and all weights of its channels:
//
//	      columns (16-1)*2 + taps                taps * rows of taps * 8 bytes, 16 more
//	     +-----------------------+              +--------------------------+
//	rows | pixels of 8 bytes     |     channels | weights                  |
//	     +-----------------------+              +--------------------------+
//
// Two taps of a row of the kernel are 16 bytes that lie side by side, and the same two of the next output pixel 16 bytes
// further on: these are the rows that ldmatrix takes, so that nothing is copied once more, tap by tap, and eight of them
// fill the banks. The number of taps in a row is padded to the four that an instruction multiplies, with weights of zero.
type stem struct {
	*product
	t       Tile
	planar  bool // the input is Linear
	lines   int
	taps    int    // in a row of the kernel, padded
	rows    int    // of the input, under a block's lines
	columns int    // of the input, under a block's columns
	outside uint32 // four bytes, or two halves, of a pixel outside the image
}

const (
	stemColumns = 16 // output pixels of an instruction's rows
	stemPixel   = 8  // bytes of a pixel in shared memory
	stemTaps    = 4  // that an instruction multiplies
)

// maxStemTaps bounds what is unrolled.
const maxStemTaps = 11 * 12

func stemOf(b kernels.Binding, u emit.Unit, lines int) (*stem, error) {
	p, err := productOf(b)
	if err != nil {
		return nil, err
	}
	s := &stem{product: p, planar: b.In[0].Format == kernels.Linear, lines: lines}
	if p.typ != u.Type() && !(u == emit.TensorI8 && p.typ.Size() == 1) {
		return nil, fmt.Errorf("elements are %s, the kernel multiplies %s", p.typ, u.Type())
	}
	if most := stemPixel / p.typ.Size(); p.c > most || p.groups > 1 {
		return nil, fmt.Errorf("%d channels in %d groups, the kernel takes up to %d in one", p.c, p.groups, most)
	}
	if p.stride[1] != 2 || p.dilation[1] != 1 {
		return nil, fmt.Errorf("columns are %d apart and taps %d, the kernel takes 2 and 1", p.stride[1], p.dilation[1])
	}
	s.taps = emit.RoundUp(p.s, stemTaps)
	if p.zeroW != 0 || p.zeros != nil || p.r*s.taps > maxStemTaps {
		return nil, fmt.Errorf("weights have a zero point, or more than %d taps", maxStemTaps)
	}
	s.rows = (lines-1)*p.stride[0] + (p.r-1)*p.dilation[0] + 1
	s.columns = (stemColumns-1)*p.stride[1] + s.taps
	if p.typ.Size() == 1 {
		s.outside = uint32(byte(p.zeroX)) * 0x01010101
	}
	s.t = Tile{Unit: u, BM: lines * stemColumns, BN: 64, WarpsM: lines / 2, WarpsN: 1, Split: 1}
	if p.k <= 32 {
		s.t.BN = 32
	}
	if err := weightsFit(emit.RoundUp(p.k, s.t.BN), s.pitchW()); err != nil {
		return nil, err
	}
	const most = 96 << 10 // two blocks an SM on the largest, one on the smallest
	if s.shared() > most {
		return nil, fmt.Errorf("the input under a tile and the weights take %d bytes, the kernel has %d", s.shared(), most)
	}
	return s, nil
}

// pitchW is the bytes from one channel's weights to the next: an odd number of pieces of 16 bytes, so that eight of them lie
// in different banks.
func (s *stem) pitchW() int { return s.r*s.taps*stemPixel + 16 }

// haloBytes returns the shared memory of the input.
func (s *stem) haloBytes() int { return emit.RoundUp(s.rows*s.columns*stemPixel, 16) }

// shared returns the shared memory of a block: input and weights, then the sums.
func (s *stem) shared() int {
	return max(s.haloBytes()+s.t.BN*s.pitchW(), s.t.BM*s.t.sumPitch()*4)
}

// pack returns the weights as they lie in shared memory, for all output channels.
func (s *stem) pack() []byte {
	size := s.typ.Size()
	out := make([]byte, emit.RoundUp(s.k, s.t.BN)*s.pitchW())
	var halves []float32
	if s.typ == numeric.F16 {
		halves = s.weight.Floats()
	}
	for o := range s.k {
		for tap := range s.r * s.s {
			for c := range s.c {
				at := o*s.pitchW() + (tap/s.s*s.taps+tap%s.s)*stemPixel + c*size
				if src := s.source(o, c, tap); halves == nil {
					out[at] = s.weight.Data[src]
				} else {
					h := numeric.F32ToF16(halves[src])
					out[at], out[at+1] = byte(h), byte(h>>8)
				}
			}
		}
	}
	return out
}

// grid returns the blocks: tiles of an image, channels, images.
func (s *stem) grid() [3]int {
	return [3]int{emit.CeilDiv(s.p, s.lines) * emit.CeilDiv(s.q, stemColumns), emit.CeilDiv(s.k, s.t.BN), s.n}
}

func (s *stem) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	w.Constants = s.pack()
	out, err := emit.NewRowOutput(b, s.sums(), w)
	if err != nil {
		return nil, err
	}
	k := w.Module.Kernel("stem", s.t.threads())
	k.Resident(2)
	l := emit.Launch{Kernel: "stem", Block: [3]int{s.t.threads(), 1, 1}, Shared: s.shared(), Args: []emit.Arg{emit.InArg(0), emit.ConstArg(0)}}
	c := &stemBlock{stem: s, x: k.Pointer("x"), w: k.Pointer("w")}
	out.Parameters(k, &l)
	c.block = newBlock(k, s.t)
	l.Grid = c.place()
	c.copyWeights()
	c.copyInput()
	k.WaitGroup(0)
	k.Barrier()
	e := &tensor{warpTile: newWarpTile(c.block), vector: 2, operands: s.operands(ptx.GlobalPtr{})}
	e.zero()
	e.left, e.right = c.fragments(e)
	for i := range s.r * s.taps / stemTaps { // straight code, in which the assembler moves reads ahead as registers allow
		e.read(slice{index: i})
		e.multiply(i, nil, nil)
	}
	k.Barrier()
	e.spill(c.ring)
	k.Barrier()
	c.place() // read again: nothing of it is kept while the sums take all registers
	c.finish(out, s.k, c.pixelOf)
	k.End()
	w.Launches = []emit.Launch{l}
	return w, nil
}

// stemBlock is the code of one block.
type stemBlock struct {
	*stem
	*block
	x, w              ptx.GlobalPtr
	channels          ptx.Uint // its place among the tiles of channels
	image, line, left ptx.Uint // of its first output pixel
}

// place finds where the block's tile begins, and returns the grid.
func (c *stemBlock) place() (grid [3]int) {
	s := c.stem
	var place ptx.Uint
	place, c.channels, c.image, grid = emit.BlockIndices(c.K, s.grid())
	line, column := c.DivRem(place, emit.CeilDiv(s.q, stemColumns))
	c.line, c.left = c.Mul(line, ptx.U(s.lines)), c.Mul(column, ptx.U(stemColumns))
	c.column = c.Mul(c.channels, ptx.U(s.t.BN))
	return grid
}

// weights is where they begin in shared memory.
func (c *stemBlock) weights() ptx.SharedPtr { return c.ring.At(c.haloBytes()) }

// copyWeights starts the copies of the weights, which lie in memory as they will in shared memory.
func (c *stemBlock) copyWeights() {
	size, threads := c.stem.t.BN*c.pitchW(), c.stem.t.threads()
	from := c.Offset(c.Offset(c.w, c.channels, size), c.thread, 16)
	to := c.OffsetShared(c.weights(), c.thread, 16)
	for at := 0; at < size/16; at += threads {
		one := func() { c.CopyAsync(to.At(16*at), from.At(16*at), ptx.U(16)) }
		if rest := size/16 - at; rest < threads {
			c.If(c.Lt(c.thread, ptx.U(rest)), one)
		} else {
			one()
		}
	}
	c.CommitGroup()
}

// stemAtOnce is how many pixels of the input a thread loads before it stores them.
const stemAtOnce = 8

// copyInput writes the input under the tile to shared memory.
func (c *stemBlock) copyInput() {
	s := c.stem
	total, threads := s.rows*s.columns, s.t.threads()
	top := c.Sub(c.Mul(c.line, ptx.U(s.stride[0])), ptx.U(s.pad[0]))
	left := c.Sub(c.Mul(c.left, ptx.U(s.stride[1])), ptx.U(s.pad[1]))
	for first := 0; first < total; first += stemAtOnce * threads {
		var pixels [][]ptx.Word
		last := min(total, first+stemAtOnce*threads)
		for at := first; at < last; at += threads {
			index := c.Add(c.thread, ptx.U(at))
			row, column := c.DivRem(index, s.columns)
			y, x := c.Add(top, row), c.Add(left, column)
			inside := c.Both(c.Lt(y, ptx.U(s.h)), c.Lt(x, ptx.U(s.product.w)))
			if at+threads > total {
				inside = c.Both(inside, c.Lt(index, ptx.U(total)))
			}
			pixels = append(pixels, c.pixelAt(y, x, inside))
		}
		for i, words := range pixels {
			at := first + i*threads
			store := func() { c.StoreShared(c.OffsetShared(c.ring, c.thread, stemPixel).At(at*stemPixel), words...) }
			if at+threads > total {
				c.If(c.Lt(c.thread, ptx.U(total-at)), store)
			} else {
				store()
			}
		}
	}
}

// pixelAt is the two words of an input pixel.
func (c *stemBlock) pixelAt(y, x ptx.Uint, inside ptx.Cond) []ptx.Word {
	s, size := c.stem, c.typ.Size()
	if !s.planar {
		at := c.Mad(c.Mad(c.image, ptx.U(s.h), y), ptx.U(s.product.w), x)
		return c.LoadOr(inside, c.Offset(c.x, c.Mul(at, ptx.U(s.pitchIn)), size), stemPixel/4, ptx.W(s.outside))
	}
	first := c.Mad(c.Mad(c.Mul(c.image, ptx.U(s.c)), ptx.U(s.h), y), ptx.U(s.product.w), x)
	var list []ptx.Word
	for channel := range stemPixel / size {
		if channel >= s.c {
			list = append(list, ptx.W(0))
			continue
		}
		v := c.Var(ptx.U(int(s.outside & (1<<(8*size) - 1))))
		from := c.Offset(c.x, first, size).At(channel * s.h * s.product.w * size)
		c.When(inside, func() { c.Set(v, emit.LoadElement(c.K, from, size)) })
		list = append(list, v.Word())
	}
	for ; size < 4; size *= 2 { // two neighbours become one
		selector := uint32(0x5410)
		if size == 1 {
			selector = 0x0040
		}
		var joined []ptx.Word
		for i := 0; i < len(list); i += 2 {
			joined = append(joined, c.joined(list[i], list[i+1], selector))
		}
		list = joined
	}
	return list
}

// joined is two bytes, or two halves, in one word.
func (c *stemBlock) joined(low, high ptx.Word, selector uint32) ptx.Word {
	if _, ok := low.Constant(); ok { // there is none behind it either
		return low
	}
	return c.Prmt(low, high, selector)
}

// fragments finds the engine's operands: the output pixels' inputs and the weights, slice by slice four taps of a row.
func (c *stemBlock) fragments(e *tensor) (pixels, weights stemFragments) {
	s := c.stem
	// Lanes 0 to 15 give the addresses of the output pixels' first two taps, the others of the next two.
	line := c.Mul(c.Shr(e.row, 4), ptx.U(s.stride[0]*s.columns*stemPixel))
	a := c.OffsetShared(c.ring, c.Add(line, c.Shl(e.lane, 4)), 1)
	a.Uint = c.Sub(a.Uint, c.Mul(c.Shr(e.lane, 4), ptx.U(16*16-16)))
	rowB := c.Add(c.And(e.lane, ptx.U(7)), c.Shl(c.Shr(e.lane, 4), 3))
	halfB := c.And(c.Shr(e.lane, 3), ptx.U(1))
	b := c.OffsetShared(c.OffsetShared(c.weights(), rowB, s.pitchW()), halfB, 16)
	perRow := s.taps / stemTaps
	pixels = stemFragments{a, func(slice, i int) int {
		r, tap := slice/perRow, slice%perRow*stemTaps
		return ((i*s.stride[0]+r*s.dilation[0])*s.columns + tap) * stemPixel
	}}
	weights = stemFragments{b, func(slice, j int) int { return 16*j*s.pitchW() + slice*stemTaps*stemPixel }}
	return pixels, weights
}

// stemFragments are an operand that lies in shared memory as a whole.
type stemFragments struct {
	first ptx.SharedPtr          // this lane's piece of the first slice
	bytes func(slice, i int) int // from there
}

func (f stemFragments) place(_ ptx.Uint, slice, i int) (ptx.SharedPtr, bool) {
	return f.first.At(f.bytes(slice, i)), false
}

// pixelOf returns the output pixel of a row of the tile.
func (c *stemBlock) pixelOf(row ptx.Uint) (ptx.Uint, *ptx.Cond) {
	s := c.stem
	y, x := c.Add(c.line, c.Shr(row, 4)), c.Add(c.left, c.And(row, ptx.U(stemColumns-1)))
	pixel := c.Mad(c.Mad(c.image, ptx.U(s.p), y), ptx.U(s.q), x)
	if s.p%s.lines == 0 && s.q%stemColumns == 0 {
		return pixel, nil
	}
	inside := c.Both(c.Lt(y, ptx.U(s.p)), c.Lt(x, ptx.U(s.q)))
	return pixel, &inside
}

// jobs estimates the launch.
func (s *stem) jobs(b kernels.Binding) []emit.Job {
	t := s.t
	depth := s.r * s.taps * stemPixel // bytes
	read := float64((t.BM+t.BN*t.WarpsM)*depth) / emit.SharedBytesPerCycle
	fill := float64(s.haloBytes()+t.BN*s.pitchW()) / 32
	g := s.grid()
	return []emit.Job{{
		Blocks: g[0] * g[1] * g[2], Resident: max(1, min(2048/t.threads(), emit.RegistersPerSM/(t.threads()*t.registers()))), Shared: s.shared(),
		Unit: t.Unit, Multiplied: float64(t.BM * t.BN * depth / s.typ.Size()), Beside: read, Cycles: fill,
		Longest: 1, Latency: fill + tileLatency, Bytes: emit.Traffic(b),
	}}
}
