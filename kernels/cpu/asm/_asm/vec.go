package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector emits expressions on ZMM registers of 16 float32. A result is always a new register.
type vector struct {
	c    *build.Context
	pool *constantPool
}

// constantPool collects the family's constants in one table, each once, read with embedded broadcasts.
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

func (v vector) z() reg.VecVirtual { return v.c.ZMM().(reg.VecVirtual) }

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
		v.c.VFMADD213PS_BCST(v.konst(coefficients[i]), x, p)
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
	v := vector{c, newConstantPool(c, "vecConstants")}
	for _, f := range unaries {
		emitUnary(v, f)
	}
	for _, f := range binaries {
		emitBinary(v, f)
	}
	emitSelect(v)
	emitReductions(v)
}

// overVectors emits a loop on 16 elements at a time and a last, masked one: body gets the mask or nil.
func overVectors(c *build.Context, n reg.GPVirtual, body func(mask reg.Register), advance func()) {
	mask := lastMask(c, n)
	c.SUBQ(operand.Imm(16), n)
	c.JLT(operand.LabelRef("tail"))
	c.Label("loop")
	body(nil)
	advance()
	c.SUBQ(operand.Imm(16), n)
	c.JGE(operand.LabelRef("loop"))
	c.Label("tail")
	c.ADDQ(operand.Imm(16), n)
	c.JE(operand.LabelRef("done"))
	body(mask)
	c.Label("done")
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

func load(c *build.Context, from operand.Mem, mask reg.Register, to reg.Register) {
	if mask == nil {
		c.VMOVUPS(from, to)
	} else {
		c.VMOVUPS_Z(from, mask, to)
	}
}

func store(c *build.Context, v reg.Register, mask reg.Register, to operand.Mem) {
	if mask == nil {
		c.VMOVUPS(v, to)
	} else {
		c.VMOVUPS(v, mask, to)
	}
}

func splatParam(c *build.Context, name string) reg.VecVirtual {
	p, err := c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := c.ZMM().(reg.VecVirtual)
	c.VBROADCASTSS(p.Addr, r)
	return r
}

func emitUnary(v vector, f unary) {
	c := v.c
	name := fmt.Sprintf("vec%sAVX512", f.name)
	function(c, name, "func(dst, src *float32, n int, a, b float32)", fmt.Sprintf("%s is UnaryOp %s of n elements.", name, f.name))
	dst, src := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("src"), c.GP64()).(reg.GPVirtual)
	n := c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	a, b := splatParam(c, "a"), splatParam(c, "b")
	overVectors(c, n, func(mask reg.Register) {
		x := v.z()
		load(c, operand.Mem{Base: src}, mask, x)
		store(c, f.body(v, x, a, b), mask, operand.Mem{Base: dst})
	}, func() {
		c.ADDQ(operand.Imm(lane), src)
		c.ADDQ(operand.Imm(lane), dst)
	})
	c.VZEROUPPER()
	c.RET()
}

// stepOf loads the bytes to advance an operand by: 64, 0 for a pattern of 16 elements, or, where the parameter
// is negative, 0 for a scalar, which room then holds 16 times.
func stepOf(c *build.Context, pointer, name string, room operand.Mem) (at, step reg.GPVirtual) {
	at, step = c.Load(c.Param(pointer), c.GP64()).(reg.GPVirtual), c.Load(c.Param(name), c.GP64()).(reg.GPVirtual)
	c.TESTQ(step, step)
	c.JGE(operand.LabelRef(pointer + "vector"))
	z := c.ZMM()
	c.VBROADCASTSS(operand.Mem{Base: at}, z)
	c.VMOVUPS(z, room)
	c.LEAQ(room, at)
	c.XORQ(step, step)
	c.Label(pointer + "vector")
	return at, step
}

func emitBinary(v vector, f binary) {
	c := v.c
	name := fmt.Sprintf("vec%sAVX512", f.name)
	function(c, name, "func(dst, x, y *float32, n, xStep, yStep int)", fmt.Sprintf("%s is BinaryOp %s of n elements.", name, f.name))
	room := c.AllocLocal(2 * lane)
	dst, n := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	x, xStep := stepOf(c, "x", "xStep", room)
	y, yStep := stepOf(c, "y", "yStep", room.Offset(lane))
	overVectors(c, n, func(mask reg.Register) {
		p, q := v.z(), v.z()
		load(c, operand.Mem{Base: x}, mask, p)
		load(c, operand.Mem{Base: y}, mask, q)
		store(c, f.body(v, p, q), mask, operand.Mem{Base: dst})
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
	function(c, "vecSelectAVX512", "func(dst, condition, x, y *float32, n, xStep, yStep int)",
		"vecSelectAVX512 is VecKernel.Select of n elements.")
	room := c.AllocLocal(2 * lane)
	dst, n := c.Load(c.Param("dst"), c.GP64()).(reg.GPVirtual), c.Load(c.Param("n"), c.GP64()).(reg.GPVirtual)
	condition := c.Load(c.Param("condition"), c.GP64()).(reg.GPVirtual)
	x, xStep := stepOf(c, "x", "xStep", room)
	y, yStep := stepOf(c, "y", "yStep", room.Offset(lane))
	none := v.z()
	c.VXORPS(none, none, none)
	overVectors(c, n, func(mask reg.Register) {
		s, p, q, chosen := v.z(), v.z(), v.z(), c.K()
		load(c, operand.Mem{Base: condition}, mask, s)
		load(c, operand.Mem{Base: x}, mask, p)
		load(c, operand.Mem{Base: y}, mask, q)
		c.VCMPPS(operand.Imm(compareNotEqual), none, s, chosen)
		c.VMOVAPS(p, chosen, q)
		store(c, q, mask, operand.Mem{Base: dst})
	}, func() {
		c.ADDQ(operand.Imm(lane), condition)
		c.ADDQ(xStep, x)
		c.ADDQ(yStep, y)
		c.ADDQ(operand.Imm(lane), dst)
	})
	c.VZEROUPPER()
	c.RET()
}
