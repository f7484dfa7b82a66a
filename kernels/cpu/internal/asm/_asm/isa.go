package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a vector instruction set as the generators see it. The memory that kernels read and write is the same for
// all: vectors of 16 float32 or int32, which one set holds in one register and another in two.
type isa struct {
	name  string // ends the names of functions
	regs  []reg.VecPhysical
	width int // bytes of a register
}

// lane is the bytes of a vector of 16 float32.
const lane = 64

// zmm are the 32 registers of AVX-512, ymm the 16 of AVX2. The tiles are laid out by hand: the allocator has nothing
// to decide.
var (
	zmm = [32]reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}
	ymm = [16]reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}

	avx512 = &isa{"AVX512", zmm[:], 64}
	avx2   = &isa{"AVX2", ymm[:], 32}
)

// parts is the number of registers that hold a vector of 16.
func (s *isa) parts() int { return lane / s.width }

// register returns a virtual register.
func (s *isa) register(c *build.Context) reg.VecVirtual {
	if s == avx2 {
		return c.YMM().(reg.VecVirtual)
	}
	return c.ZMM().(reg.VecVirtual)
}

// zero clears a register.
func (s *isa) zero(c *build.Context, v reg.Register) {
	if s == avx2 {
		c.VXORPS(v, v, v)
	} else {
		c.VPXORD(v, v, v)
	}
}

// onlyAVX2 fails where a function that is named for AVX2 has anything that a processor without AVX-512 does not know.
func onlyAVX2(file *ir.File) error {
	for _, f := range file.Functions() {
		if !strings.HasSuffix(f.Name, "AVX2") && !strings.HasSuffix(f.Name, "AVXVNNI") {
			continue
		}
		for _, i := range f.Instructions() {
			if slices.ContainsFunc(i.ISA, func(s string) bool { return strings.HasPrefix(s, "AVX512") }) {
				return fmt.Errorf("%s: %s needs %v", f.Name, i.Opcode, i.ISA)
			}
			for _, r := range i.Registers() {
				p := reg.ToPhysical(r)
				if p != nil && r.Kind() != reg.KindGP && (p.PhysicalIndex() > 15 || r.Kind() == reg.KindOpmask || r.Size() == 64) {
					return fmt.Errorf("%s: %s uses %s", f.Name, i.Opcode, p.Asm())
				}
			}
		}
	}
	return nil
}
