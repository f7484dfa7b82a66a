package reductions

import (
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// pixelBlocks is how blocks divide the sums over all pixels of images in NHWC. A block's threads are rows of neighbouring
// vectors of channels; each row takes every rows-th pixel of the block's part of the image, and their partial sums meet in
// shared memory. Where images and channels make few blocks, several share an image's pixels, in equal parts, and the last
// one to end adds these up.
type pixelBlocks struct {
	n            int // channels of a vector
	vectors      int // of a pixel
	across, rows int
	tiles        int // blocks along the channels
	parts        int // of the pixels
}

const (
	vectorsAtOnce = 32  // a warp's load
	manyBlocks    = 128 // that keep a large GPU's multiprocessors busy
	mostParts     = 32  // that are added up one after another
	pixelsAtOnce  = 8   // that a thread loads before it adds the first
)

// pixelBlocks divides the work: first by channels, as long as a row of threads reads whole sectors of memory, then by pixels.
func (r *reduction) pixelBlocks(b kernels.Binding) pixelBlocks {
	size, p := r.x.Type.Size(), pixelBlocks{n: 1}
	if out, err := emit.PlainOutput(b, new(emit.Work)); err == nil {
		p.n = min(16/size, out.Vector, 4)
	}
	p.vectors = emit.CeilDiv(emit.LayoutOf(b.Out[0]).Width, p.n)
	p.across = min(vectorsAtOnce, p.vectors)
	blocks := func() int { return emit.CeilDiv(p.vectors, p.across) * r.outer }
	const sectors = 64 // bytes
	for p.across%2 == 0 && p.across/2*p.n*size >= sectors && blocks() < manyBlocks {
		p.across /= 2
	}
	p.rows = max(1, min(emit.BlockThreads/p.across, r.length))
	p.tiles, p.parts = emit.CeilDiv(p.vectors, p.across), 1
	for parts := 2; parts <= mostParts && blocks()*p.parts < manyBlocks && blocks() <= emit.MaxCounters; parts++ {
		if r.length%parts == 0 && r.length/parts >= 2*p.rows {
			p.parts = parts
		}
	}
	return p
}

// workspace returns the bytes of the parts' sums.
func (p pixelBlocks) workspace(images int) int {
	if p.parts == 1 {
		return 0
	}
	return images * p.tiles * p.parts * p.partBytes()
}

// partBytes returns what a block writes of its part.
func (p pixelBlocks) partBytes() int { return 4 * p.across * p.n }

// pixelSums is the code of a block.
type pixelSums struct {
	*reduction
	*ptx.K
	pixelBlocks
	out          *emit.RowOutput
	thread, lane ptx.Uint
	row          ptx.Uint // of threads
	image, part  ptx.Uint
	tile         ptx.Uint // the block's among those that share no pixels
	channel      ptx.Uint
	partial      ptx.SharedPtr
	sums         []ptx.Word
}

// emitPixels emits the kernel.
func (r *reduction) emitPixels(b kernels.Binding, w *emit.Work, out *emit.RowOutput) {
	p := r.pixelBlocks(b)
	count := p.across * p.rows
	k := w.Module.Kernel("reduce", count)
	l := &emit.Launch{Kernel: "reduce", Block: [3]int{count, 1, 1}}
	r.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	var shared emit.Parts
	if p.parts > 1 {
		shared = emit.Parts{Sums: l.Scratch(k, "parts", 0), Counters: k.Pointer("counters")}
		l.Args = append(l.Args, emit.CountersArg())
	}
	c := &pixelSums{reduction: r, K: k, pixelBlocks: p, out: out, thread: k.Thread(), partial: k.Array("partial", count*p.n*4, 16)}
	var piece ptx.Uint
	piece, c.image, c.part, l.Grid = emit.BlockIndices(k, [3]int{p.tiles, r.outer, p.parts})
	c.tile = k.Mad(c.image, ptx.U(p.tiles), piece)
	c.row, c.lane = k.DivRem(c.thread, p.across)
	c.channel = k.Mul(k.Mad(piece, ptx.U(p.across), c.lane), ptx.U(p.n))
	for range p.n {
		c.sums = append(c.sums, r.partial(k))
	}
	k.If(k.Lt(c.channel, ptx.U(min(r.width, emit.RoundUp(out.Width, p.n)))), c.add)
	c.meet()
	if p.parts > 1 {
		c.join(shared)
	} else {
		k.Exit(k.Ge(c.thread, ptx.U(p.across)))
	}
	k.Exit(k.Ge(c.channel, ptx.U(out.Width)))
	values := make([]ptx.Float, p.n)
	for i, s := range c.sums {
		values[i] = r.result(k, s)
	}
	out.Store(k, c.image, c.channel, values)
	w.End(k, l)
}

// add adds the pixels of the thread's row: as many as every row has in groups that are loaded at once, then one that only
// the first rows have.
func (c *pixelSums) add() {
	length := c.length / c.parts
	first := c.Add(c.Mad(c.image, ptx.U(c.length), c.Mul(c.part, ptx.U(length))), c.row)
	group := func(begin ptx.Uint, n int) {
		var loaded [][]ptx.Word
		for i := range n {
			at := c.Mad(c.Add(begin, ptx.U(i*c.rows)), ptx.U(c.pitch), c.channel)
			loaded = append(loaded, c.x.Words(c.K, at, c.n, nil, ptx.W(0)))
		}
		for _, words := range loaded {
			c.reduction.add(c.K, c.sums, words)
		}
	}
	whole := length / c.rows
	step := pixelsAtOnce * c.rows
	if whole >= 2*pixelsAtOnce {
		c.For(ptx.U(0), ptx.U(whole/pixelsAtOnce*step), ptx.U(step), func(i ptx.Uint) { group(c.Add(first, i), pixelsAtOnce) })
	} else if whole >= pixelsAtOnce {
		group(first, pixelsAtOnce)
	}
	done := whole / pixelsAtOnce * pixelsAtOnce
	group(c.Add(first, ptx.U(done*c.rows)), whole-done)
	if rest := length % c.rows; rest > 0 {
		c.If(c.Lt(c.row, ptx.U(rest)), func() { group(c.Add(first, ptx.U(whole*c.rows)), 1) })
	}
}

// meet adds up the sums of the block's rows: they are whole in its first row of threads.
func (c *pixelSums) meet() {
	own := c.OffsetShared(c.partial, c.thread, 4*c.n)
	c.StoreShared(own, c.words()...)
	c.Barrier()
	c.If(c.Lt(c.thread, ptx.U(c.across)), func() {
		for i := 1; i < c.rows; i++ {
			c.merge(c.LoadShared(own.At(4*c.n*c.across*i), c.n))
		}
	})
}

// join makes the sums of the last of the blocks that share an image's pixels whole: the parts are added in their order. All
// other blocks end, and all threads behind the first row.
func (c *pixelSums) join(p emit.Parts) {
	first := c.Offset(c.Offset(p.Sums, c.tile, c.parts*c.partBytes()), c.thread, 4*c.n)
	c.If(c.Lt(c.thread, ptx.U(c.across)), func() { c.Store(c.Offset(first, c.part, c.partBytes()), c.words()...) })
	place := c.Array("place", 4, 16)
	c.Barrier()
	c.If(c.Eq(c.thread, ptx.U(0)), func() {
		c.StoreShared(place, c.CountUp(c.Offset(p.Counters, c.tile, 4), ptx.U(c.parts-1)).Word())
	})
	c.Barrier()
	c.Exit(c.Ne(c.LoadShared(place, 1)[0].Uint(), ptx.U(c.parts-1)))
	c.Exit(c.Ge(c.thread, ptx.U(c.across)))
	for i := 0; i < c.parts; i += pixelsAtOnce {
		var loaded [][]ptx.Word
		for part := i; part < min(c.parts, i+pixelsAtOnce); part++ {
			loaded = append(loaded, c.Load(first.At(part*c.partBytes()), c.n))
		}
		for j, words := range loaded {
			if i+j > 0 {
				c.merge(words)
				continue
			}
			for e, w := range words {
				c.set(c.sums[e], c.float(c.K, w))
			}
		}
	}
}

// words returns the sums as words.
func (c *pixelSums) words() []ptx.Word {
	list := make([]ptx.Word, len(c.sums))
	for i, s := range c.sums {
		if list[i] = s; !c.integers {
			list[i] = c.Bits(s.FloatRegister())
		}
	}
	return list
}

// merge adds sums that come from memory.
func (c *pixelSums) merge(words []ptx.Word) {
	for i, w := range words {
		c.set(c.sums[i], c.reduction.join(c.K, c.sums[i], c.float(c.K, w)))
	}
}

func (c *pixelSums) set(sum, v ptx.Word) {
	if c.integers {
		c.SetS(sum.Int(), v.Int())
	} else {
		c.SetF(sum.FloatRegister(), v.FloatRegister())
	}
}

// pixelsJob estimates the launch: loads that are under way together, then the rows' sums one after another.
func (r *reduction) pixelsJob(b kernels.Binding) emit.Job {
	p := r.pixelBlocks(b)
	blocks := p.tiles * r.outer * p.parts
	j := emit.ThreadJob(blocks*emit.BlockThreads, 12*emit.CeilDiv(r.length/p.parts, p.rows)+8*p.rows+60, emit.Traffic(b)+float64(2*p.workspace(r.outer)))
	if p.parts > 1 {
		j.Latency += emit.JoinLatency
	}
	return j
}
