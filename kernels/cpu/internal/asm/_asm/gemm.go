package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gemmShape is a family of register tiles: up to rows x 16*blocks accumulators, of a panel of elements of so many bytes.
type gemmShape struct {
	isa     *isa
	blocks  int
	rows    int
	element int
}

var gemmShapes = []gemmShape{{avx512, 1, 14, 4}, {avx512, 2, 14, 4}, {avx2, 1, 6, 4}, {avx512, 1, 14, 2}, {avx512, 2, 14, 2}, {avx2, 1, 6, 2}}

// step is the bytes of a panel for one k.
func (s gemmShape) step() int { return 16 * s.blocks * s.element }

// gemm emits one function for each shape.
func gemm(c *build.Context) {
	bits := dwords(c, "gemmBits", func(i int) uint32 { return 1 << i })
	for _, s := range gemmShapes {
		name := fmt.Sprintf("gemm%d%s", 16*s.blocks, s.isa.name)
		if s.element == 2 {
			name = fmt.Sprintf("gemm%dHalf%s", 16*s.blocks, s.isa.name)
		}
		framed(c, name,
			"func(rows, tiles int, a *float32, lda, k int, b, bias, out *float32, ldout int, res *float32, ldres int, ahead *float32, aheadStep int, lo, hi float32, mask uint32, inTurn bool)",
			fmt.Sprintf("%s computes tiles of 1 to %d rows x %d columns; see GemmCall.", name, s.rows, 16*s.blocks))
		rows := c.Load(c.Param("rows"), c.GP64())
		if s.isa == avx512 {
			mask := c.Load(c.Param("mask"), c.GP32())
			c.KMOVW(mask, reg.K1)
			c.SHRL(operand.Imm(16), mask)
			c.KMOVW(mask, reg.K2)
		}
		for p := s.rows; p > 1; p-- {
			c.CMPQ(rows, operand.U32(uint32(p)))
			c.JEQ(operand.LabelRef(fmt.Sprintf("r%d", p)))
		}
		room := c.AllocLocal(64 + s.rows*s.blocks*lane + lane)
		for p := 1; p <= s.rows; p++ {
			t := gemmTile{c: c, shape: s, p: p, bits: bits, whole: room, left: room.Offset(8), rest: room.Offset(16),
				fetch: [2]rowFetch{{room.Offset(24), room.Offset(32)}, {room.Offset(40), room.Offset(48)}}, rows: room.Offset(56), sums: room.Offset(64)}
			t.emit()
		}
	}
}

// rowFetch is where the row lies that is asked for next, and what is from row to row, in bytes.
type rowFetch struct{ at, step operand.Mem }

// gemmTile emits the loops for one number of rows. With few rows the steps of k take turns on several sets
// of accumulators, so that the latency of the multiply-add does not bound them.
type gemmTile struct {
	c     *build.Context
	shape gemmShape
	p     int
	bits  operand.Mem // table of 1<<i

	acc    [][][]reg.VecPhysical // [set][row][vector]
	weight []reg.VecPhysical
	spare  []reg.VecPhysical
	a, lda reg.GPVirtual
	out    reg.GPVirtual
	res    reg.GPVirtual
	ahead  reg.GPVirtual

	whole, left operand.Mem // steps of k that are done part by part, and those of them behind the part
	rows        operand.Mem // that are still to be asked for
	rest        operand.Mem // steps of the part that do not make a quad
	fetch       [2]rowFetch // of the output and of the residual
	sums        operand.Mem // room for the accumulators, and for what is before the first line of it
}

func (t *gemmTile) label(s string) string { return fmt.Sprintf("r%d%s", t.p, s) }

func (t *gemmTile) gp(param string) reg.GPVirtual {
	return t.c.Load(t.c.Param(param), t.c.GP64()).(reg.GPVirtual)
}

func (t *gemmTile) emit() {
	c := t.c
	next := 0
	take := func(n int) []reg.VecPhysical { next += n; return t.shape.isa.regs[next-n : next] }
	sets := max(1, min(4, 12/(t.p*t.vectors())))
	for s := range sets {
		t.acc = append(t.acc, nil)
		for range t.p {
			t.acc[s] = append(t.acc[s], take(t.vectors()))
		}
	}
	t.weight = take(t.vectors())
	t.spare = t.shape.isa.regs[next:]

	c.Label(t.label(""))
	tiles, err := c.Param("tiles").Resolve()
	if err != nil {
		panic(err)
	}
	t.a, t.lda, t.out, t.res, t.ahead = t.gp("a"), t.gp("lda"), t.gp("out"), t.gp("res"), t.gp("ahead")
	c.SHLQ(operand.Imm(2), t.lda)
	c.Label(t.label("tile"))
	t.start()
	t.multiply()
	t.finish()
	c.SUBQ(operand.Imm(1), tiles.Addr)
	c.JNE(operand.LabelRef(t.label("tile")))
	c.VZEROUPPER()
	c.RET()
}

// vectors is the number of registers that hold the columns of a row.
func (t *gemmTile) vectors() int { return t.shape.blocks * t.shape.isa.parts() }

// masks returns the masks of the columns of each vector; those of AVX2 are made in the registers of the weights.
func (t *gemmTile) masks() []reg.Register {
	c := t.c
	if t.shape.isa == avx512 {
		return []reg.Register{reg.K1, reg.K2}[:t.vectors()]
	}
	var masks []reg.Register
	for v, m := range t.weight {
		bits := t.bits.Offset(v * t.shape.isa.width)
		broadcastParam(c, "mask", m)
		c.VPAND(bits, m, m)
		c.VPCMPEQD(bits, m, m)
		masks = append(masks, m)
	}
	return masks
}

// load reads the columns of mask, the others as zero.
func (t *gemmTile) load(from operand.Mem, mask reg.Register, to reg.VecPhysical) {
	if t.shape.isa == avx512 {
		t.c.VMOVUPS_Z(from, mask, to)
	} else {
		t.c.VMASKMOVPS(from, mask, to)
	}
}

// store writes the columns of mask, or all where it is nil.
func (t *gemmTile) store(v reg.VecPhysical, mask reg.Register, to operand.Mem) {
	switch {
	case mask == nil:
		t.c.VMOVUPS(v, to)
	case t.shape.isa == avx512:
		t.c.VMOVUPS(v, mask, to)
	default:
		t.c.VMASKMOVPS(v, mask, to)
	}
}

// start fills the first set of accumulators with the bias, the others with zeros.
func (t *gemmTile) start() {
	c := t.c
	clearSets(c, t.shape.isa, t.acc[1:])
	t.startFetch()
	bias := t.gp("bias")
	for v, first := range t.acc[0][0] {
		c.VMOVUPS(operand.Mem{Base: bias, Disp: v * t.shape.isa.width}, first)
		for p := 1; p < t.p; p++ {
			c.VMOVAPS(first, t.acc[0][p][v])
		}
	}
}

// startFetch begins with the rows of the tile that fetchRows asks for.
func (t *gemmTile) startFetch() {
	if t.few() {
		return
	}
	c, step := t.c, t.gp("ldout")
	c.SHLQ(operand.Imm(2), step)
	for i := range t.fetch {
		c.MOVQ(t.out, t.fetch[i].at)
		c.MOVQ(step, t.fetch[i].step)
	}
	c.TESTQ(t.res, t.res)
	c.JEQ(operand.LabelRef(t.label("fetch")))
	step = t.gp("ldres")
	c.SHLQ(operand.Imm(2), step)
	c.MOVQ(t.res, t.fetch[1].at)
	c.MOVQ(step, t.fetch[1].step)
	c.Label(t.label("fetch"))
	c.MOVQ(operand.U32(uint32(t.p)), t.rows)
}

// fetchRows asks for the cache lines of a row of the output, and of one of the residual, with each of the first quads: when they are
// written and read they are there, and in between these are asked for one by one, the sums do not wait for room to ask. Where rows do not
// begin with a line, the panel before has the first one. A tile of few rows is over too soon.
func (t *gemmTile) fetchRows(at reg.GPVirtual) {
	if t.few() {
		return
	}
	c := t.c
	c.CMPQ(t.rows, operand.Imm(0))
	c.JEQ(operand.LabelRef(t.label("fetched")))
	for _, row := range t.fetch {
		c.MOVQ(row.at, at)
		for b := range t.shape.blocks {
			c.PREFETCHT1(operand.Mem{Base: at, Disp: (b+1)*lane - 4})
		}
		c.ADDQ(row.step, at)
		c.MOVQ(at, row.at)
	}
	c.SUBQ(operand.Imm(1), t.rows)
	c.Label(t.label("fetched"))
}

// partSteps is how many steps of k are summed up in the accumulators before these are added to what the parts before gave: a sum of
// numbers that are about as large loses by rounding as its terms are many, one of sums far less. A multiple of four.
const partSteps = 256

// multiply runs over k part by part, four steps at a time, then one; few rows may take most of it from several streams. Three rows share
// an address register. Four steps of many rows ask for as many cache lines ahead as they read of b.
func (t *gemmTile) multiply() {
	c := t.c
	var bases []reg.GPVirtual
	for p := 0; p < t.p; p += 3 {
		base := c.GP64().(reg.GPVirtual)
		if p == 0 {
			c.MOVQ(t.a, base)
		} else {
			c.LEAQ(operand.Mem{Base: bases[len(bases)-1], Index: t.lda, Scale: 2}, base)
			c.ADDQ(t.lda, base)
		}
		bases = append(bases, base)
	}
	at := func(p, k int) operand.Mem {
		m := operand.Mem{Base: bases[p/3], Disp: 4 * k}
		if p%3 > 0 {
			m.Index, m.Scale = t.lda, uint8(p%3)
		}
		return m
	}
	w, k, quads, aheadStep := t.gp("b"), t.gp("k"), c.GP64().(reg.GPVirtual), t.gp("aheadStep")
	steps := func(n int) {
		if t.few() && (t.p > 2 || t.shape.element == 2) {
			for at := 0; at < n*t.shape.step(); at += lane {
				c.PREFETCHT0(operand.Mem{Base: w, Disp: fewAhead + at})
			}
		}
		for i := range n {
			for range t.lookAhead(i) * n / 4 {
				c.PREFETCHT1(operand.Mem{Base: t.ahead})
				c.ADDQ(aheadStep, t.ahead)
			}
			t.step(w, i, func(p int) operand.Mem { return at(p, i) })
		}
		for _, base := range bases {
			c.ADDQ(operand.Imm(uint64(4*n)), base)
		}
		c.ADDQ(operand.U32(uint32(n*t.shape.step())), w)
	}
	if t.few() {
		inTurn := c.Load(c.Param("inTurn"), c.GP8())
		c.TESTB(inTurn, inTurn)
		c.JEQ(operand.LabelRef(t.label("rest")))
		t.streams(k, quads, w, bases, func() {
			for i := range 4 {
				t.step(w, i, func(p int) operand.Mem { return at(p, i) })
			}
		})
	}
	c.MOVQ(k, t.whole)
	c.MOVQ(k, t.left)
	c.Label(t.label("next"))
	c.MOVQ(operand.U32(partSteps), quads)
	c.CMPQ(k, quads)
	c.CMOVQGT(quads, k)
	c.SUBQ(k, t.left)
	c.MOVQ(k, quads)
	c.ANDQ(operand.Imm(3), k)
	c.SHRQ(operand.Imm(2), quads)
	c.JEQ(operand.LabelRef(t.label("ones")))
	c.MOVQ(k, t.rest)
	c.Label(t.label("quad"))
	t.fetchRows(k)
	steps(4)
	c.SUBQ(operand.Imm(1), quads)
	c.JNE(operand.LabelRef(t.label("quad")))
	c.MOVQ(t.rest, k)
	c.Label(t.label("ones"))
	c.TESTQ(k, k)
	c.JEQ(operand.LabelRef(t.label("sum")))
	c.Label(t.label("one"))
	steps(1)
	c.SUBQ(operand.Imm(1), k)
	c.JNE(operand.LabelRef(t.label("one")))
	c.Label(t.label("sum"))
	t.addParts(k, quads)
	addSets(c, t.acc)
}

// addParts keeps the sums of a part and goes on with the next one, or adds up those of all; k becomes what is left of it.
func (t *gemmTile) addParts(k, sums reg.GPVirtual) {
	c := t.c
	each := func(do func(v reg.VecPhysical, kept operand.Mem)) {
		c.LEAQ(t.sums.Offset(lane-1), sums)
		c.ANDQ(operand.I8(-lane), sums)
		at := operand.Mem{Base: sums}
		for _, set := range t.acc {
			for _, row := range set {
				for _, v := range row {
					do(v, at)
					at.Disp += t.shape.isa.width
				}
			}
		}
	}
	add := func(v reg.VecPhysical, kept operand.Mem) { c.VADDPS(kept, v, v) }
	c.MOVQ(t.left, k)
	c.TESTQ(k, k)
	c.JEQ(operand.LabelRef(t.label("last")))
	c.LEAQ(operand.Mem{Base: k, Disp: partSteps}, sums)
	c.CMPQ(sums, t.whole)
	c.JEQ(operand.LabelRef(t.label("first")))
	each(add)
	c.Label(t.label("first"))
	each(func(v reg.VecPhysical, kept operand.Mem) { c.VMOVUPS(v, kept) })
	clearSets(c, t.shape.isa, t.acc)
	c.JMP(operand.LabelRef(t.label("next")))
	c.Label(t.label("last"))
	c.CMPQ(t.whole, operand.U32(partSteps))
	c.JLE(operand.LabelRef(t.label("summed")))
	each(add)
	c.Label(t.label("summed"))
}

// fewAhead is how many bytes ahead few rows ask for b where a line turns into so many instructions that a processor does not see far
// enough ahead: those of three rows, and halves, which are converted.
const fewAhead = 8192

// streams is at how many places memory is read in turn where it is waited for: what a processor asks for by itself lies in the page that
// is read, so from several pages more lines are under way.
const streams = 8

// streams computes what of k makes whole quads in every stream, and leaves the pointers behind it, in k what is left, and in quads
// nothing: quad computes four steps where the pointers are.
func (t *gemmTile) streams(k, quads, w reg.GPVirtual, bases []reg.GPVirtual, quad func()) {
	c := t.c
	left, stepA, stepW := c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual), c.GP64().(reg.GPVirtual) // steps from stream to stream
	shift := func(by int, r reg.GPVirtual) { c.SHLQ(operand.Imm(uint64(bits.TrailingZeros(uint(by)))), r) }
	all := func(step func(at, by reg.GPVirtual)) {
		for _, base := range bases {
			step(base, stepA)
		}
		step(w, stepW)
	}
	c.MOVQ(k, quads)
	c.ANDQ(operand.Imm(4*streams-1), k)
	c.SHRQ(operand.Imm(uint64(bits.TrailingZeros(4*streams))), quads)
	c.JEQ(operand.LabelRef(t.label("rest")))
	c.MOVQ(quads, stepA)
	shift(4*4, stepA)
	c.MOVQ(stepA, stepW)
	shift(t.shape.step()/4, stepW)
	c.Label(t.label("turn"))
	c.MOVQ(operand.U32(streams), left)
	c.Label(t.label("stream"))
	quad()
	all(func(at, by reg.GPVirtual) { c.ADDQ(by, at) })
	c.SUBQ(operand.Imm(1), left)
	c.JNE(operand.LabelRef(t.label("stream")))
	all(func(at, by reg.GPVirtual) { // back to the first stream, behind its quad
		c.MOVQ(by, left)
		shift(streams, left)
		c.SUBQ(left, at)
		if at == w {
			c.ADDQ(operand.U32(uint32(4*t.shape.step())), at)
		} else {
			c.ADDQ(operand.Imm(4*4), at)
		}
	})
	c.SUBQ(operand.Imm(1), quads)
	c.JNE(operand.LabelRef(t.label("turn")))
	for n := 1; n < streams; n *= 2 { // to the end of the last stream from that of the first
		all(func(at, by reg.GPVirtual) { c.LEAQ(operand.Mem{Base: at, Index: by, Scale: uint8(n)}, at) })
	}
	c.Label(t.label("rest"))
}

// few reports whether the rows wait for b alone: they read it at several places. Others ask for the next panel.
func (t *gemmTile) few() bool { return 2*t.p <= t.shape.rows }

// lookAhead is for how many lines of the next panel step i of four asks.
func (t *gemmTile) lookAhead(i int) int {
	if t.few() || i*t.shape.element%4 != 0 {
		return 0
	}
	return t.shape.blocks
}

// step is the outer product of one k.
func (t *gemmTile) step(w reg.GPVirtual, k int, at func(p int) operand.Mem) {
	c, vectors := t.c, t.vectors()
	for v := range vectors {
		at := operand.Mem{Base: w, Disp: (k*vectors + v) * t.shape.isa.width * t.shape.element / 4}
		if t.shape.element == 2 {
			c.VCVTPH2PS(at, t.weight[v])
		} else {
			c.VMOVUPS(at, t.weight[v])
		}
	}
	acc := t.acc[k%len(t.acc)]
	for p := range t.p {
		if vectors == 1 {
			c.VFMADD231PS_BCST(at(p), t.weight[0], acc[p][0])
			continue
		}
		x := t.spare[p%2]
		c.VBROADCASTSS(at(p), x)
		for v := range vectors {
			c.VFMADD231PS(x, t.weight[v], acc[p][v])
		}
	}
}

// finish adds the residual, clamps (NaN passes, as in conv) and stores the columns of the mask. Masked stores of AVX2
// are slow on some processors: whole vectors are stored without.
func (t *gemmTile) finish() {
	c := t.c
	c.TESTQ(t.res, t.res)
	c.JEQ(operand.LabelRef(t.label("clamp")))
	masks, step := t.masks(), t.gp("ldres")
	for p := range t.p {
		for v, m := range masks {
			t.load(operand.Mem{Base: t.res, Disp: v * t.shape.isa.width}, m, t.spare[0])
			c.VADDPS(t.spare[0], t.acc[0][p][v], t.acc[0][p][v])
		}
		c.LEAQ(operand.Mem{Base: t.res, Index: step, Scale: 4}, t.res)
	}
	c.Label(t.label("clamp"))
	lo, hi := t.spare[0], t.spare[1]
	broadcastParam(c, "lo", lo)
	broadcastParam(c, "hi", hi)
	if t.shape.isa == avx512 {
		t.clampAndStore(lo, hi, t.masks())
	} else {
		mask := c.Load(c.Param("mask"), c.GP32())
		c.CMPL(mask, operand.U32(1<<(16*t.shape.blocks)-1))
		c.JNE(operand.LabelRef(t.label("part")))
		t.clampAndStore(lo, hi, nil)
		c.JMP(operand.LabelRef(t.label("stored")))
		c.Label(t.label("part"))
		t.clampAndStore(lo, hi, t.masks())
		c.Label(t.label("stored"))
	}
	for range t.p {
		c.ADDQ(t.lda, t.a)
	}
}

// clampAndStore moves out to the next tile; without masks every column is stored.
func (t *gemmTile) clampAndStore(lo, hi reg.VecPhysical, masks []reg.Register) {
	c, step := t.c, t.gp("ldout")
	for p := range t.p {
		for v, a := range t.acc[0][p] {
			c.VMAXPS(a, lo, a)
			c.VMINPS(a, hi, a)
			var m reg.Register
			if masks != nil {
				m = masks[v]
			}
			t.store(a, m, operand.Mem{Base: t.out, Disp: v * t.shape.isa.width})
		}
		c.LEAQ(operand.Mem{Base: t.out, Index: step, Scale: 4}, t.out)
	}
}
