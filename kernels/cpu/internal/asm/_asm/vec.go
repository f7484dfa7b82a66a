package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector emits expressions on registers of 16 or 8 float32. A result is always a new register.
type vector struct {
	c    *build.Context
	isa  *isa
	pool *constantPool
	tail operand.Mem // AVX2: 16 dwords of ones, 16 of zeros

	shares [2]operand.Mem // AVX-512: the tables of GELU and of its tanh form
}

// constantPool collects the family's constants in one table, each once, read with broadcasts.
type constantPool struct {
	c     *build.Context
	base  operand.Mem
	index map[uint32]int
}

func newConstantPool(c *build.Context, name string) *constantPool {
	base := c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	return &constantPool{c: c, base: base, index: map[uint32]int{}}
}

func (p *constantPool) bits(v uint32) operand.Mem {
	i, ok := p.index[v]
	if !ok {
		i = len(p.index)
		p.index[v] = i
		p.c.AddDatum(4*i, operand.U32(v))
	}
	return p.base.Offset(4 * i)
}

func (v vector) bits(b uint32) operand.Mem   { return v.pool.bits(b) }
func (v vector) konst(f float64) operand.Mem { return v.bits(math.Float32bits(float32(f))) }

func (v vector) z() reg.VecVirtual { return v.isa.register(v.c) }

// emitter is an instruction.
type emitter func(...operand.Op)

// with emits an instruction whose first operand is a constant: embedded where there is such a form, else broadcast to
// a register first.
func (v vector) with(constant operand.Mem, embedded, plain emitter, operands ...operand.Op) {
	if v.isa == avx512 {
		embedded(append([]operand.Op{constant}, operands...)...)
		return
	}
	r := v.z()
	v.c.VBROADCASTSS(constant, r)
	plain(append([]operand.Op{r}, operands...)...)
}

// mulBy, add and xor have a constant operand.
func (v vector) mulBy(f float64, x, r reg.VecVirtual) {
	v.with(v.konst(f), v.c.VMULPS_BCST, v.c.VMULPS, x, r)
}

func (v vector) add(f float64, x, r reg.VecVirtual) {
	v.with(v.konst(f), v.c.VADDPS_BCST, v.c.VADDPS, x, r)
}

func (v vector) xor(bits uint32, x, r reg.VecVirtual) {
	v.with(v.bits(bits), v.c.VPXORD_BCST, v.c.VXORPS, x, r)
}

func (v vector) and(bits uint32, x, r reg.VecVirtual) {
	v.with(v.bits(bits), v.c.VPANDD_BCST, v.c.VANDPS, x, r)
}

// where returns the mask of the lanes in which x and y are so related.
func (v vector) where(x reg.VecVirtual, predicate uint64, y reg.VecVirtual) reg.Register {
	if v.isa == avx512 {
		k := v.c.K()
		v.c.VCMPPS(operand.Imm(predicate), y, x, k)
		return k
	}
	m := v.z()
	v.c.VCMPPS(operand.Imm(predicate), y, x, m)
	return m
}

// replace sets the lanes of r that mask selects to those of x.
func (v vector) replace(mask reg.Register, x, r reg.VecVirtual) {
	if v.isa == avx512 {
		v.c.VMOVAPS(x, mask, r)
	} else {
		v.c.VBLENDVPS(mask, x, r, r)
	}
}

// splat loads a constant into a register.
func (v vector) splat(f float64) reg.VecVirtual {
	r := v.z()
	v.c.VBROADCASTSS(v.konst(f), r)
	return r
}

func (v vector) copy(x reg.VecVirtual) reg.VecVirtual {
	r := v.z()
	v.c.VMOVAPS(x, r)
	return r
}

// polynomial evaluates coefficients, the constant one first, by Horner's rule.
func (v vector) polynomial(x reg.VecVirtual, coefficients ...float64) reg.VecVirtual {
	last := len(coefficients) - 1
	p := v.splat(coefficients[last])
	for i := last - 1; i >= 0; i-- {
		v.with(v.konst(coefficients[i]), v.c.VFMADD213PS_BCST, v.c.VFMADD213PS, x, p)
	}
	return p
}

// clampTo limits x to constants, letting NaN pass.
func (v vector) clampTo(x reg.VecVirtual, lo, hi float64) reg.VecVirtual {
	return v.clamp(x, v.splat(lo), v.splat(hi))
}

// clamp has x as the second source, which VMAXPS and VMINPS return when the operands do not compare.
func (v vector) clamp(x, lo, hi reg.VecVirtual) reg.VecVirtual {
	r := v.z()
	v.c.VMAXPS(x, lo, r)
	v.c.VMINPS(r, hi, r)
	return r
}

// unary is an element-wise function with up to two parameters.
type unary struct {
	name string
	body func(v vector, x, a, b reg.VecVirtual) reg.VecVirtual
}

// binary is an element-wise function of two operands.
type binary struct {
	name string
	body func(v vector, x, y reg.VecVirtual) reg.VecVirtual
}

// vec emits the element-wise functions and the reductions.
func vec(c *build.Context) {
	tail := c.StaticGlobal("vecTail")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 32 {
		c.AddDatum(4*i, operand.U32(map[bool]uint32{true: 1<<32 - 1}[i < 16]))
	}
	shares := [2]operand.Mem{geluTable(c, "vecGELUTable", normalShare), geluTable(c, "vecGELUTanhTable", tanhShare)}
	pool := newConstantPool(c, "vecConstants") // the last table: it grows
	for _, set := range []*isa{avx512, avx2} {
		v := vector{c: c, isa: set, pool: pool, tail: tail, shares: shares}
		for _, f := range unaries {
			emitUnary(v, f)
		}
		for _, f := range binaries {
			emitBinary(v, f)
		}
		emitSelect(v)
		emitReductions(v)
	}
}

// overVectors emits a loop on 16 elements at a time and a last, masked one: body gets the mask or nil, and how many
// bytes after the pointers its register's elements begin.
func (v vector) overVectors(n reg.GPVirtual, body func(mask reg.Register, at int), advance func()) {
	v.overVectorsOf("", n, body, advance)
}

// overVectorsOf does so in a function of several loops, whose labels begin differently.
func (v vector) overVectorsOf(label string, n reg.GPVirtual, body func(mask reg.Register, at int), advance func()) {
	c := v.c
	var mask reg.Register
	if v.isa == avx512 {
		mask = lastMask(c, n)
	}
	c.SUBQ(operand.Imm(16), n)
	c.JLT(operand.LabelRef(label + "tail"))
	c.Label(label + "loop")
	for at := 0; at < lane; at += v.isa.width {
		body(nil, at)
	}
	advance()
	c.SUBQ(operand.Imm(16), n)
	c.JGE(operand.LabelRef(label + "loop"))
	c.Label(label + "tail")
	c.ADDQ(operand.Imm(16), n)
	c.JE(operand.LabelRef(label + "done"))
	if v.isa == avx512 {
		body(mask, 0)
	} else {
		table := c.GP64().(reg.GPVirtual)
		c.NEGQ(n)
		c.LEAQ(v.tail.Offset(lane), table)
		for at := 0; at < lane; at += v.isa.width {
			part := v.z()
			c.VMOVUPS(operand.Mem{Base: table, Index: n, Scale: 4, Disp: at}, part)
			body(part, at)
		}
	}
	c.Label(label + "done")
}

// lastMask returns the mask of the n%16 elements of the last vector.
func lastMask(c *build.Context, n reg.GPVirtual) reg.Register {
	ones, rest, mask := c.GP32(), c.GP32(), c.K()
	c.MOVL(n.As32(), rest)
	c.ANDL(operand.Imm(15), rest)
	c.MOVL(operand.U32(0xffff), ones)
	c.BZHIL(rest, ones, ones)
	c.KMOVW(ones, mask)
	return mask
}

// load reads the elements that mask selects, the others as zero; nil selects all.
func (v vector) load(from operand.Mem, mask reg.Register) reg.VecVirtual {
	x := v.z()
	switch {
	case mask == nil:
		v.c.VMOVUPS(from, x)
	case v.isa == avx512:
		v.c.VMOVUPS_Z(from, mask, x)
	default:
		v.c.VMASKMOVPS(from, mask, x)
	}
	return x
}

// store writes the elements that mask selects; nil selects all.
func (v vector) store(x reg.Register, mask reg.Register, to operand.Mem) {
	switch {
	case mask == nil:
		v.c.VMOVUPS(x, to)
	case v.isa == avx512:
		v.c.VMOVUPS(x, mask, to)
	default:
		v.c.VMASKMOVPS(x, mask, to)
	}
}

func (v vector) splatParam(name string) reg.VecVirtual {
	p, err := v.c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := v.z()
	v.c.VBROADCASTSS(p.Addr, r)
	return r
}

func emitUnary(v vector, f unary) {
	c := v.c
	name := fmt.Sprintf("vec%s%s", f.name, v.isa.name)
	function(c, name, "func(dst, src *float32, n int, a, b float32)", fmt.Sprintf("%s is UnaryOp %s of n elements.", name, f.name))
	dst, src := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	a, b := v.splatParam("a"), v.splatParam("b")
	v.overVectors(n, func(mask reg.Register, at int) {
		x := v.load(operand.Mem{Base: src, Disp: at}, mask)
		v.store(f.body(v, x, a, b), mask, operand.Mem{Base: dst, Disp: at})
	}, func() {
		c.ADDQ(operand.Imm(lane), src)
		c.ADDQ(operand.Imm(lane), dst)
	})
	c.VZEROUPPER()
	c.RET()
}

// stepOf loads the bytes to advance an operand by: 64, 0 for a pattern of 16 elements, or, where the parameter
// is negative, 0 for a scalar, which room then holds 16 times.
func (v vector) stepOf(pointer, name string, room operand.Mem) (at, step reg.GPVirtual) {
	c := v.c
	at, step = c.Load(c.Param(pointer), c.GP64()).(reg.GPVirtual), c.Load(c.Param(name), c.GP64()).(reg.GPVirtual)
	c.TESTQ(step, step)
	c.JGE(operand.LabelRef(pointer + "vector"))
	z := v.z()
	c.VBROADCASTSS(operand.Mem{Base: at}, z)
	for part := 0; part < lane; part += v.isa.width {
		c.VMOVUPS(z, room.Offset(part))
	}
	c.LEAQ(room, at)
	c.XORQ(step, step)
	c.Label(pointer + "vector")
	return at, step
}

func emitBinary(v vector, f binary) {
	c := v.c
	name := fmt.Sprintf("vec%s%s", f.name, v.isa.name)
	function(c, name, "func(dst, x, y *float32, n, xStep, yStep int)", fmt.Sprintf("%s is BinaryOp %s of n elements.", name, f.name))
	room := c.AllocLocal(2 * lane)
	dst, n := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	x, xStep := v.stepOf("x", "xStep", room)
	y, yStep := v.stepOf("y", "yStep", room.Offset(lane))
	v.overVectors(n, func(mask reg.Register, at int) {
		p, q := v.load(operand.Mem{Base: x, Disp: at}, mask), v.load(operand.Mem{Base: y, Disp: at}, mask)
		v.store(f.body(v, p, q), mask, operand.Mem{Base: dst, Disp: at})
	}, func() {
		c.ADDQ(xStep, x)
		c.ADDQ(yStep, y)
		c.ADDQ(operand.Imm(lane), dst)
	})
	c.VZEROUPPER()
	c.RET()
}

func emitSelect(v vector) {
	c := v.c
	name := "vecSelect" + v.isa.name
	function(c, name, "func(dst, condition, x, y *float32, n, xStep, yStep int)", name+" is VecKernel.Select of n elements.")
	room := c.AllocLocal(2 * lane)
	dst, n := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	condition := c.Load(c.Param("condition"), c.GP64()).(reg.GPVirtual)
	x, xStep := v.stepOf("x", "xStep", room)
	y, yStep := v.stepOf("y", "yStep", room.Offset(lane))
	none := v.z()
	c.VXORPS(none, none, none)
	v.overVectors(n, func(mask reg.Register, at int) {
		s := v.load(operand.Mem{Base: condition, Disp: at}, mask)
		p, q := v.load(operand.Mem{Base: x, Disp: at}, mask), v.load(operand.Mem{Base: y, Disp: at}, mask)
		v.replace(v.where(s, compareNotEqual, none), p, q)
		v.store(q, mask, operand.Mem{Base: dst, Disp: at})
	}, func() {
		c.ADDQ(operand.Imm(lane), condition)
		c.ADDQ(xStep, x)
		c.ADDQ(yStep, y)
		c.ADDQ(operand.Imm(lane), dst)
	})
	c.VZEROUPPER()
	c.RET()
}
