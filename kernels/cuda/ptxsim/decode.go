package ptxsim

import (
	"fmt"
	"math"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/ptx"
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
		return fmt.Errorf("%s: %s: %w", place(d.k.src, i), text(d.k.src, d.in), d.err)
	}
	return nil
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

func (d *decoder) register(o *ptx.Operand) (ptx.Reg, int) {
	if int(o.Reg) < 0 || int(o.Reg) >= len(d.regs) {
		d.fail("register %d is not in the kernel's list", o.Reg)
		return 0, 32
	}
	return o.Reg, bitsOf(d.k.src.Regs[o.Reg].Type)
}

func (d *decoder) predReg(r ptx.Reg) slot {
	r, width := d.register(&ptx.Operand{Reg: r})
	if width != 1 {
		d.fail("%s is no predicate", d.k.src.Regs[r].Name)
		return d.truth
	}
	return d.regs[r]
}

// value is the slot of source operand o of the given width in bits, in the file of that width.
func (d *decoder) value(o *ptx.Operand, width int) slot {
	wide := width == 64
	switch o.Kind {
	case ptx.RegOperand:
		r, w := d.register(o)
		if w == 1 || wide != (w == 64) || !wide && w < width {
			d.fail("%s has %d bits where %d are meant", d.k.src.Regs[r].Name, w, width)
		}
		return d.regs[r]
	case ptx.ImmOperand:
		return d.constant(immediate(o, width), wide)
	case ptx.SpecialOperand:
		return d.specialReg(o.Name, wide)
	case ptx.SymbolOperand:
		return d.constant(d.symbol(o), wide)
	}
	d.fail("operand %s is no value", operandText(d.k.src, o))
	return 0
}

// immediate is the bits of a constant as an operand of width bits.
func immediate(o *ptx.Operand, width int) uint64 {
	v := uint64(o.Imm)
	switch {
	case o.Float == 64 && width == 32:
		v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case o.Float == 32 && width == 64:
		v = math.Float64bits(float64(math.Float32frombits(uint32(v))))
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

func (d *decoder) constant(v uint64, wide bool) slot {
	table, fresh, list := d.imm32, d.new32, &d.k.const32
	if wide {
		table, fresh, list = d.imm64, d.new64, &d.k.const64
	} else {
		v = uint64(uint32(v))
	}
	s, ok := table[v]
	if !ok {
		s = fresh()
		table[v] = s
		*list = append(*list, constant{s, v})
	}
	return s
}

// symbol is the address of a variable, in its space; of a global one, the device address.
func (d *decoder) symbol(o *ptx.Operand) uint64 {
	off := uint64(o.Off)
	if v, ok := d.k.shared[o.Name]; ok {
		return uint64(v.addr) + off
	}
	if v, ok := d.k.local[o.Name]; ok {
		return uint64(v.addr) + off
	}
	if v, ok := d.k.params[o.Name]; ok {
		return uint64(v.addr) + off
	}
	if addr, ok := d.p.globals[o.Name]; ok {
		return addr + off
	}
	d.fail("variable %s is not declared", o.Name)
	return 0
}

func (d *decoder) specialReg(name string, wide bool) slot {
	key := name
	if wide {
		key += " wide"
	}
	if s, ok := d.specials[key]; ok {
		return s
	}
	if !isSpecial(name) {
		d.fail("the simulator does not have special register %s", name)
		return 0
	}
	s := special{name: name, wide: wide}
	if wide {
		s.slot = d.new64()
	} else {
		s.slot = d.new32()
	}
	d.specials[key] = s.slot
	d.k.special = append(d.k.special, s)
	return s.slot
}

// src is source operand i as a slot of the given width; pred is one that is a predicate.
func (d *decoder) arg(i, width int) slot {
	if i >= len(d.in.Args) {
		d.fail("has %d operands", len(d.in.Args))
		return 0
	}
	return d.value(&d.in.Args[i], width)
}

func (d *decoder) pred(i int) slot {
	if i >= len(d.in.Args) {
		d.fail("has %d operands", len(d.in.Args))
		return d.truth
	}
	return d.predOperand(&d.in.Args[i])
}

func (d *decoder) predOperand(o *ptx.Operand) slot {
	switch o.Kind {
	case ptx.RegOperand:
		s := d.predReg(o.Reg)
		if o.Not {
			return ^s
		}
		return s
	case ptx.ImmOperand:
		if o.Imm != 0 != o.Not {
			return d.truth
		}
		return ^d.truth
	}
	d.fail("operand %s is no predicate", operandText(d.k.src, o))
	return d.truth
}

// dest is destination operand o as a slot of the given width.
func (d *decoder) dest(o *ptx.Operand, width int) slot {
	if o.Kind == ptx.SinkOperand {
		switch width {
		case 1:
			return d.sinkPred
		case 64:
			return d.sink64
		}
		return d.sink32
	}
	if o.Kind != ptx.RegOperand {
		d.fail("operand %s is no register", operandText(d.k.src, o))
		return 0
	}
	if width == 1 {
		return d.predReg(o.Reg)
	}
	r, w := d.register(o)
	if w == 1 || (width == 64) != (w == 64) || width < 64 && w < width {
		d.fail("%s has %d bits where %d are meant", d.k.src.Regs[r].Name, w, width)
	}
	return d.regs[r]
}

func (d *decoder) dst(width int) slot {
	if len(d.in.Args) == 0 {
		d.fail("has no operands")
		return 0
	}
	return d.dest(&d.in.Args[0], width)
}

// pair is the second destination, a predicate: the sink if there is none.
func (d *decoder) pair() slot {
	if len(d.in.Args) > 0 && d.in.Args[0].Pair != nil {
		return d.predReg(*d.in.Args[0].Pair)
	}
	return d.sinkPred
}

// vector is operand i as the slots of n registers; a scalar is a vector of one.
func (d *decoder) vector(i, n, width int, dest bool) []slot {
	if i >= len(d.in.Args) {
		d.fail("has %d operands", len(d.in.Args))
		return make([]slot, n)
	}
	elems := []ptx.Operand{d.in.Args[i]}
	if d.in.Args[i].Kind == ptx.VectorOperand {
		elems = d.in.Args[i].Vec
	}
	out := make([]slot, n)
	if len(elems) != n {
		d.fail("operand %s has %d elements where %d are meant", operandText(d.k.src, &d.in.Args[i]), len(elems), n)
		return out
	}
	for j := range elems {
		if dest {
			out[j] = d.dest(&elems[j], width)
		} else {
			out[j] = d.value(&elems[j], width)
		}
	}
	return out
}

// address makes operand i the address of the instruction: base a, narrow or not, and off.
func (d *decoder) address(i int) {
	d.out.a, d.out.narrow, d.out.off = d.addressOf(i)
}

func (d *decoder) addressOf(i int) (base slot, narrow bool, off uint64) {
	if i >= len(d.in.Args) || d.in.Args[i].Kind != ptx.AddrOperand {
		d.fail("operand %d is no address", i+1)
		return 0, false, 0
	}
	o := &d.in.Args[i]
	if o.Base {
		r, w := d.register(o)
		if w != 32 && w != 64 {
			d.fail("address %s has %d bits", d.k.src.Regs[r].Name, w)
		}
		return d.regs[r], w == 32, uint64(o.Off)
	}
	if o.Name == "" {
		return d.constant(uint64(o.Off), true), false, 0
	}
	return d.constant(d.symbol(o), true), false, 0
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
			}
		}
	}
	for i := range d.k.code {
		if in := &d.k.code[i]; in.src >= 0 && len(number) > 0 {
			_, defs := registers(&d.k.src.Body[in.src])
			for _, r := range defs {
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
