package ptxsim

import (
	"math"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

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
	d.fail("operand %s is no value", d.spell(o))
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
	d.fail("operand %s is no predicate", d.spell(o))
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
		d.fail("operand %s is no register", d.spell(o))
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
		d.fail("operand %s has %d elements where %d are meant", d.spell(&d.in.Args[i]), len(elems), n)
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
