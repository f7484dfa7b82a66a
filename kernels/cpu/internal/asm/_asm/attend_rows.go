package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitAttendDot emits products of rows and keys, four keys at a time, then one.
func emitAttendDot(v vector, rows int) {
	c := v.c
	name := fmt.Sprintf("attendDot%d%s", rows, v.isa.name)
	function(c, name, "func(out *float32, outStride int, in *float32, inStride int, keys *float32, keyStride, n, columns int)",
		fmt.Sprintf("%s is AttendKernel.Dot of %d rows, n > 0.", name, rows))
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	out, keys, stride, n := gp("out"), gp("keys"), gp("keyStride"), gp("n")
	c.SHLQ(operand.Imm(2), stride)
	for _, count := range []int{attendKeys, 1} {
		label := fmt.Sprintf("keys%d", count)
		c.Label(label)
		c.CMPQ(n, operand.Imm(uint64(count)))
		c.JLT(operand.LabelRef(label + "done"))
		v.attendDots(label, rows, count, out, keys, stride)
		c.ADDQ(operand.Imm(uint64(4*count)), out)
		for range count {
			c.ADDQ(stride, keys)
		}
		c.SUBQ(operand.Imm(uint64(count)), n)
		c.JMP(operand.LabelRef(label))
		c.Label(label + "done")
	}
	c.VZEROUPPER()
	c.RET()
}

// attendDots emits the products of all rows with count keys.
func (v vector) attendDots(label string, rows, count int, out, keys, stride reg.GPVirtual) {
	c := v.c
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	in, inStride, at, left := gp("in"), gp("inStride"), v.cursor(keys), gp("columns")
	third := c.GP64().(reg.GPVirtual)
	c.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, third)
	c.SHLQ(operand.Imm(2), inStride)
	var acc [][]vreg
	for r := range rows {
		acc = append(acc, nil)
		for range count {
			a := v.z()
			v.isa.zero(c, a)
			acc[r] = append(acc[r], a)
		}
	}
	v.overVectorsOf(label+"columns", left, func(mask reg.Register, disp int) {
		var k []vreg
		for j := range count {
			m := operand.Mem{Base: at, Disp: disp}
			switch j {
			case 1:
				m.Index, m.Scale = stride, 1
			case 2:
				m.Index, m.Scale = stride, 2
			case 3:
				m.Index, m.Scale = third, 1
			}
			k = append(k, v.load(m, mask))
		}
		row := in
		if rows > 1 {
			row = v.cursor(in)
		}
		for r := range rows {
			q := v.load(operand.Mem{Base: row, Disp: disp}, mask)
			for j := range count {
				c.VFMADD231PS(q, k[j], acc[r][j])
			}
			if r < rows-1 {
				c.ADDQ(inStride, row)
			}
		}
	}, func() {
		c.ADDQ(operand.Imm(lane), at)
		c.ADDQ(operand.Imm(lane), in)
	})
	row, outStride := v.cursor(out), gp("outStride")
	for r := range rows {
		sums := v.sumsOf(acc[r])
		if count == 1 {
			c.VMOVSS(sums, operand.Mem{Base: row})
		} else {
			c.VMOVUPS(sums, operand.Mem{Base: row})
		}
		c.LEAQ(operand.Mem{Base: row, Index: outStride, Scale: 4}, row)
	}
}

// sumsOf returns the sums of the lanes of four registers, or of one, side by side.
func (v vector) sumsOf(acc []vreg) reg.Register {
	c := v.c
	pair := func(a, b vreg, low, high emitter) vreg {
		x, y := v.z(), v.z()
		low(b, a, x)
		high(b, a, y)
		c.VADDPS(y, x, x)
		return x
	}
	single := func(ops ...operand.Op) { c.VUNPCKLPS(ops...) }
	singleHigh := func(ops ...operand.Op) { c.VUNPCKHPS(ops...) }
	double := func(ops ...operand.Op) { c.VUNPCKLPD(ops...) }
	doubleHigh := func(ops ...operand.Op) { c.VUNPCKHPD(ops...) }
	var sum vreg
	if len(acc) == 1 {
		sum = pair(acc[0], acc[0], single, singleHigh)
		sum = pair(sum, sum, double, doubleHigh)
	} else {
		sum = pair(pair(acc[0], acc[1], single, singleHigh), pair(acc[2], acc[3], single, singleHigh), double, doubleHigh)
	}
	quarter := c.XMM()
	if v.isa == avx512 {
		half := c.YMM()
		c.VEXTRACTF64X4(operand.Imm(1), sum, half)
		c.VADDPS(half, sum.AsY(), half)
		c.VEXTRACTF32X4(operand.Imm(1), half, quarter)
		c.VADDPS(half.AsX(), quarter, quarter)
	} else {
		c.VEXTRACTF128(operand.Imm(1), sum, quarter)
		c.VADDPS(sum.AsX(), quarter, quarter)
	}
	return quarter
}

// emitAttendMix emits the sums of values of four registers' columns, or of at most one register's.
func emitAttendMix(v vector, rows, registers int) {
	c := v.c
	name := fmt.Sprintf("attendMix%dx%d%s", rows, registers*v.isa.width/4, v.isa.name)
	function(c, name, "func(out *float32, outStride int, in *float32, inStride int, keys *float32, keyStride, n, columns int)",
		fmt.Sprintf("%s is AttendKernel.Mix of %d rows and so many columns at most, n > 0.", name, rows))
	gp := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	in, inStride, keys, stride, n := gp("in"), gp("inStride"), gp("keys"), gp("keyStride"), gp("n")
	c.SHLQ(operand.Imm(2), stride)
	c.SHLQ(operand.Imm(2), inStride)
	third := c.GP64().(reg.GPVirtual)
	c.LEAQ(operand.Mem{Base: inStride, Index: inStride, Scale: 2}, third)
	var mask reg.Register
	if registers == 1 {
		mask = v.maskOf(gp("columns"))
	}
	var acc [][]vreg
	for r := range rows {
		acc = append(acc, nil)
		for range registers {
			a := v.z()
			v.isa.zero(c, a)
			acc[r] = append(acc[r], a)
		}
	}
	c.Label("key")
	var values []vreg
	for i := range registers {
		values = append(values, v.load(operand.Mem{Base: keys, Disp: i * v.isa.width}, mask))
	}
	for r := range rows {
		m := operand.Mem{Base: in}
		switch r {
		case 1:
			m.Index, m.Scale = inStride, 1
		case 2:
			m.Index, m.Scale = inStride, 2
		case 3:
			m.Index, m.Scale = third, 1
		}
		p := v.z()
		c.VBROADCASTSS(m, p)
		for i := range registers {
			c.VFMADD231PS(p, values[i], acc[r][i])
		}
	}
	c.ADDQ(stride, keys)
	c.ADDQ(operand.Imm(4), in)
	c.SUBQ(operand.Imm(1), n)
	c.JNE(operand.LabelRef("key"))
	out, outStride := gp("out"), gp("outStride")
	for r := range rows {
		for i, a := range acc[r] {
			v.store(a, mask, operand.Mem{Base: out, Disp: i * v.isa.width})
		}
		c.LEAQ(operand.Mem{Base: out, Index: outStride, Scale: 4}, out)
	}
	c.VZEROUPPER()
	c.RET()
}

// maskOf returns the mask of the first n lanes of a register, 0 < n <= its lanes.
func (v vector) maskOf(n reg.GPVirtual) reg.Register {
	c := v.c
	if v.isa == avx512 {
		ones, mask := c.GP32(), c.K()
		c.MOVL(operand.U32(0xffff), ones)
		c.BZHIL(n.As32(), ones, ones)
		c.KMOVW(ones, mask)
		return mask
	}
	table, mask := c.GP64().(reg.GPVirtual), v.z()
	c.NEGQ(n)
	c.LEAQ(v.tail.Offset(lane), table)
	c.VMOVUPS(operand.Mem{Base: table, Index: n, Scale: 4}, mask)
	return mask
}
