package main

import (
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// flushing are the bits of MXCSR by which subnormal operands and results of arithmetic are zeros.
const flushing = 1<<15 | 1<<6

// must returns an instruction whose operands are right.
func must(i *ir.Instruction, err error) *ir.Instruction {
	if err != nil {
		panic(err)
	}
	return i
}

// all are the functions of a family.
func all(string) bool { return true }

// gated are those functions of family vec that are products with what goes to 0.
func gated(function string) bool {
	return strings.HasPrefix(function, "vecSiLU") || strings.HasPrefix(function, "vecGELU")
}

// flushSubnormals lets a function take subnormal numbers as zeros, and puts back what the processor did when it returns. Many
// processors take a hundred times as long for a multiply-add that has a subnormal operand.
func flushSubnormals(f *ir.Function) {
	saved, set := f.AllocLocal(4), f.AllocLocal(4)
	nodes := []ir.Node{
		must(x86.VSTMXCSR(saved)),
		must(x86.MOVL(saved, reg.EAX)), // no register holds anything yet
		must(x86.ORL(operand.U32(flushing), reg.EAX)),
		must(x86.MOVL(reg.EAX, set)),
		must(x86.VLDMXCSR(set)),
	}
	for _, n := range f.Nodes {
		if i, ok := n.(*ir.Instruction); ok && i.Opcode == "RET" {
			nodes = append(nodes, must(x86.VLDMXCSR(saved)))
		}
		nodes = append(nodes, n)
	}
	f.Nodes = nodes
}
