package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// storeBytes converts integers in float32 and stores the low byte of each; those that mask does not select are left, or with
// AVX2 overwritten.
func (v vector) storeBytes(x vreg, mask reg.Register, to operand.Mem) {
	c, n := v.c, v.z()
	switch {
	case v.isa == avx2:
		c.VCVTPS2DQ(x, n)
		storeSaturated8(c, n, n.AsX(), c.XMM(), to)
	case mask == nil:
		c.VCVTPS2DQ(x, n)
		c.VPMOVDB(n, to)
	default:
		c.VCVTPS2DQ(x, n)
		c.VPMOVDB(n, mask, to)
	}
}

// emitAttendFinish emits what becomes of the sums of rows: their products with a factor each, and what is added to all, as
// float32 or as bytes.
func emitAttendFinish(v vector, bytes bool) {
	c := v.c
	name, to, size := "attendFinish"+v.isa.name, "*float32", 4
	if bytes {
		name, to, size = "attendFinishBytes"+v.isa.name, "*byte", 1
	}
	function(c, name, "func(out "+to+", outStride int, x *float32, stride, columns int, factors *float32, rows int, bias, low, high float32)",
		name+" is AttendKernel.Finish of at least one row, columns a multiple of 16; outStride and stride are bytes.")
	bias, low, high := v.splatParam("bias"), v.splatParam("low"), v.splatParam("high")
	out, row, factors, rows := v.param("out"), v.param("x"), v.param("factors"), v.param("rows")
	var zero vreg
	if bytes && v.isa == avx2 { // of what is packed as if it were unsigned
		zero = v.z()
		c.VPCMPEQD(zero, zero, zero)
		c.VPSRLD(operand.Imm(24), zero, zero)
	}
	c.Label("row")
	f, at, dst, left := v.z(), v.cursor(row), v.cursor(out), v.param("columns")
	c.VBROADCASTSS(operand.Mem{Base: factors}, f)
	c.Label("columns")
	for disp := 0; disp < lane; disp += v.isa.width {
		x := v.load(operand.Mem{Base: at, Disp: disp}, nil)
		c.VFMADD213PS(bias, f, x)
		if !bytes {
			v.store(x, nil, operand.Mem{Base: dst, Disp: disp})
			continue
		}
		x = v.clamp(x, low, high)
		if v.isa == avx512 {
			c.VCVTPS2DQ(x, x)
			c.VPMOVDB(x, operand.Mem{Base: dst, Disp: disp / 4})
			continue
		}
		c.VCVTPS2DQ(x, x)
		c.VPAND(zero, x, x)
		storeSaturated8(c, x, x.AsX(), c.XMM(), operand.Mem{Base: dst, Disp: disp / 4})
	}
	c.ADDQ(operand.Imm(lane), at)
	c.ADDQ(operand.Imm(uint64(lane/4*size)), dst)
	c.SUBQ(operand.Imm(16), left)
	c.JNE(operand.LabelRef("columns"))
	c.ADDQ(v.param("stride"), row)
	c.ADDQ(v.param("outStride"), out)
	c.ADDQ(operand.Imm(4), factors)
	c.SUBQ(operand.Imm(1), rows)
	c.JNE(operand.LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}
