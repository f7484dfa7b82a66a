package ptxsim

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// decoder turns the instructions of one kernel into functions and the slots they work on. Its methods note the first
// thing that is wrong with an instruction; body reports it.
type decoder struct {
	p    *Program
	k    *kernel
	regs []slot // of the kernel's registers, in their files

	imm32, imm64 map[uint64]slot
	specials     map[string]slot
	sink32       slot
	sink64       slot
	sinkPred     slot
	truth        slot // the kernel's

	// The instruction at hand.
	in   *ptx.Inst
	mods []string // all that follows the first part of the name
	out  inst
	err  error
}

func newDecoder(p *Program, k *kernel) (*decoder, error) {
	d := &decoder{p: p, k: k, imm32: map[uint64]slot{}, imm64: map[uint64]slot{}, specials: map[string]slot{}}
	d.regs = make([]slot, len(k.src.Regs))
	for i, r := range k.src.Regs {
		switch bitsOf(r.Type) {
		case 1:
			d.regs[i] = d.newPred()
		case 8, 16, 32:
			d.regs[i] = d.new32()
		case 64:
			d.regs[i] = d.new64()
		default:
			return nil, fmt.Errorf("register %s: the simulator has no registers of type %s", r.Name, r.Type)
		}
	}
	d.sink32, d.sink64, d.sinkPred, d.truth = d.new32(), d.new64(), d.newPred(), d.newPred()
	k.truth = d.truth
	return d, nil
}

func (d *decoder) new32() slot   { d.k.regs32++; return slot(d.k.regs32 - 1) }
func (d *decoder) new64() slot   { d.k.regs64++; return slot(d.k.regs64 - 1) }
func (d *decoder) newPred() slot { d.k.preds++; return slot(d.k.preds - 1) }

// body decodes all instructions, in the graph's order.
func (d *decoder) body(g *graph) error {
	entry := make([]int, len(g.blocks)) // of blocks, in the code
	type fixup struct{ at, block int }
	var fixups []fixup
	for n, b := range g.order {
		blk := &g.blocks[b]
		entry[b] = len(d.k.code)
		for i := blk.start; i < blk.end; i++ {
			if err := d.decode(i); err != nil {
				return err
			}
			if d.out.flow == flowBranch {
				fixups = append(fixups, fixup{len(d.k.code), blk.succ[0]})
			}
			d.k.code = append(d.k.code, d.out)
		}
		if blk.start == blk.end { // control ran off the end of the body, which returns
			d.k.code = append(d.k.code, inst{flow: flowExit, guard: -1, src: -1})
			continue
		}
		last := &d.k.src.Body[blk.end-1]
		if (isBranch(last) || isEnd(last)) && !last.Guard.On {
			continue
		}
		next := blk.succ[len(blk.succ)-1]
		if n+1 == len(g.order) || g.order[n+1] != next {
			fixups = append(fixups, fixup{len(d.k.code), next})
			d.k.code = append(d.k.code, inst{flow: flowJump, guard: -1, src: -1})
		}
	}
	for _, f := range fixups {
		d.k.code[f.at].target = entry[f.block]
	}
	return nil
}

// decode makes d.out from instruction i of the body.
func (d *decoder) decode(i int) (err error) {
	d.in = &d.k.src.Body[i]
	d.out = inst{guard: -1, p: d.truth, src: i, at: len(d.k.code), negated: d.in.Guard.Not}
	d.err = nil
	root, rest, dotted := strings.Cut(d.in.Op, ".")
	d.mods = nil
	if dotted {
		d.mods = strings.Split(rest, ".")
	}
	d.mods = append(d.mods, d.in.Mods...)
	if g := d.in.Guard; g.On {
		d.out.guard = d.predReg(g.Reg)
	}
	if f := opcodes(root); f == nil {
		d.fail("the simulator does not have this instruction")
	} else {
		f(d)
	}
	if d.err == nil && d.out.exec == nil && d.out.flow == flowNext {
		d.fail("the simulator does not have this form of the instruction")
	}
	if d.err != nil {
		return fmt.Errorf("%s: %s: %w", place(d.k.src, i), spelled(d.k.src, i), d.err)
	}
	return nil
}

// spell is an operand as the text has it.
func (d *decoder) spell(o *ptx.Operand) string {
	return strings.Trim(d.k.src.Text(&ptx.Inst{Args: []ptx.Operand{*o}}), " ;")
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// has reports whether the instruction has modifier m.
func (d *decoder) has(m string) bool {
	for _, x := range d.mods {
		if x == m {
			return true
		}
	}
	return false
}

// one returns which of the alternatives the instruction has; "" if none.
func (d *decoder) one(alternatives ...string) string {
	for _, x := range d.mods {
		for _, a := range alternatives {
			if x == a {
				return x
			}
		}
	}
	return ""
}

// types lists the modifiers that are types, in order.
func (d *decoder) types() []ptx.Type {
	var t []ptx.Type
	for _, m := range d.mods {
		if bitsOf(ptx.Type(m)) != 0 {
			t = append(t, ptx.Type(m))
		}
	}
	return t
}

// typ is the last type: the instruction's, where it has one.
func (d *decoder) typ() ptx.Type {
	t := d.types()
	if len(t) == 0 {
		d.fail("has no type")
		return ptx.B32
	}
	return t[len(t)-1]
}

// want checks the number of operands.
func (d *decoder) want(least, most int) bool {
	if n := len(d.in.Args); n < least || n > most {
		d.fail("has %d operands", n)
		return false
	}
	return d.err == nil
}

// track numbers the registers that are read where some path has not written them, and notes at each instruction which of
// them it reads unproven and which it writes.
func (d *decoder) track(g *graph) {
	unproven := g.unassigned(d.k.src)
	number := map[ptx.Reg]int32{}
	for i := range d.k.code {
		if in := &d.k.code[i]; in.src >= 0 {
			for _, r := range unproven[in.src] {
				if _, ok := number[r]; !ok {
					number[r] = int32(len(number))
				}
				in.uses = append(in.uses, number[r])
				if g := d.k.src.Body[in.src].Guard; g.On && g.Reg == r {
					in.guardUse = true // registers names it first
				}
			}
		}
	}
	for i := range d.k.code {
		if in := &d.k.code[i]; in.src >= 0 && len(number) > 0 {
			for _, r := range g.regs[in.src].defs {
				if n, ok := number[r]; ok {
					in.defs = append(in.defs, n)
				}
			}
		}
	}
	d.k.tracked = make([]string, len(number))
	for r, n := range number {
		d.k.tracked[n] = d.k.src.Regs[r].Name
	}
}
