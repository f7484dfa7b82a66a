package ptx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// typeOf is the type of a register, if there is one.
func (c *checker) typeOf(r Reg) (Type, bool) {
	if r < 0 || int(r) >= len(c.kernel.Regs) {
		return "", false
	}
	return c.kernel.Regs[r].Type, true
}

// operand looks at the i-th operand of an instruction of a form.
func (c *checker) operand(m *match, i int, o *Operand) error {
	a := &m.form.Args[i]
	if o.Pair != nil {
		if t, ok := c.typeOf(*o.Pair); !ok || t != Pred {
			return errors.New("the second destination is not a predicate")
		}
	}
	t := m.typ(a)
	switch o.Kind {
	case RegOperand:
		return c.register(t, o.Reg, a.Relaxed)
	case ImmOperand:
		return t.fits(o)
	case SpecialOperand:
		if r, ok := special(o.Name); !ok || t.isFloat() || r.Type.Bits() != t.Bits() {
			return fmt.Errorf("special register %s is not a %s", o.Name, t)
		}
	case SymbolOperand:
		return c.symbol(m, t, o)
	case AddrOperand:
		return c.address(m, i, o)
	case LabelOperand:
		if !c.labels[o.Name] {
			return fmt.Errorf("label %s is not declared", o.Name)
		}
	case VectorOperand:
		return c.vector(t, a.Relaxed, o)
	}
	return nil
}

// register looks at a register as an operand of type t.
func (c *checker) register(t Type, r Reg, relaxed bool) error {
	have, ok := c.typeOf(r)
	if !ok {
		return fmt.Errorf("register %d of %d", r, len(c.kernel.Regs))
	}
	if !t.agrees(have, relaxed) {
		return fmt.Errorf("%s is a %s register where %s is meant", c.kernel.Regs[r].Name, have, t)
	}
	return nil
}

// vector looks at the elements of a vector: their types must agree with t, and with each other.
func (c *checker) vector(t Type, relaxed bool, o *Operand) error {
	first := Type("")
	for i := range o.Vec {
		e := &o.Vec[i]
		switch e.Kind {
		case ImmOperand:
			if err := t.fits(e); err != nil {
				return err
			}
		case RegOperand:
			if err := c.register(t, e.Reg, relaxed); err != nil {
				return err
			}
			have := c.kernel.Regs[e.Reg].Type
			if first == "" {
				first = have
			}
			if !first.agrees(have, false) {
				return fmt.Errorf("%s and %s registers in one vector", first, have)
			}
		}
	}
	return nil
}

// fits says what is wrong with a constant as an operand of type t.
func (t Type) fits(o *Operand) error {
	bits := t.Bits()
	switch {
	case t == Pred:
		if o.Float != 0 {
			return errors.New("an integer expected")
		}
	case t == F16 || t == F16X2 || t == BF16 || t == BF162:
		return fmt.Errorf("there are no constants of type %s", t)
	case t.isFloat() && o.Float != bits:
		return fmt.Errorf("a constant of type %s expected", t)
	case !t.isFloat() && o.Float != 0 && (!t.untyped() || o.Float != bits):
		return fmt.Errorf("a floating-point constant where %s is meant", t)
	case o.Float == 0 && bits < 64 && (o.Imm < -1<<(bits-1) || o.Imm >= 1<<bits):
		return fmt.Errorf("%d does not fit in %s", o.Imm, t)
	}
	return nil
}

// symbol looks at the address of a variable as a value of type t.
func (c *checker) symbol(m *match, t Type, o *Operand) error {
	v := c.vars[o.Name]
	if v == nil {
		return fmt.Errorf("%s is not declared", o.Name)
	}
	if m.form.Op == "cvta" && m.mods[0] != string(v.Space) {
		return fmt.Errorf("%s lies in %s memory", o.Name, v.Space)
	}
	short := t.Bits() == 32 && (v.Space == Shared || v.Space == Local)
	if t.isFloat() || t.Bits() != 64 && !short {
		return fmt.Errorf("the address of %s in %s memory is not a %s", o.Name, v.Space, t)
	}
	return nil
}

// address looks at the i-th operand, an address: of the space that the instruction names for it.
func (c *checker) address(m *match, i int, o *Operand) error {
	space := m.space(i)
	if o.Base {
		t, ok := c.typeOf(o.Reg)
		short := ok && t.Bits() == 32 && space != Global && space != Generic
		if !ok || t.isFloat() || t.Bits() != 64 && !short {
			return errors.New("the address is not an integer of 64 bits, or of 32 in shared, local, const or param memory")
		}
		return nil
	}
	if o.Name == "" {
		return wanted(space == Local, "a register or a variable in the address")
	}
	v := c.vars[o.Name]
	if v == nil {
		return fmt.Errorf("%s is not declared", o.Name)
	}
	if space != Generic && v.Space != space {
		return fmt.Errorf("%s lies in %s memory, not in %s", o.Name, v.Space, space)
	}
	size := int64(m.accessBytes())
	if size > 0 && (o.Off%size != 0 || int64(v.alignment())%size != 0) {
		return fmt.Errorf("%d bytes at offset %d of %s, which is aligned to %d", size, o.Off, v.Name, v.alignment())
	}
	if !v.Extern && (o.Off < 0 || o.Off+size > int64(v.bytes())) {
		return fmt.Errorf("%d bytes at offset %d of %s, which has %d", size, o.Off, v.Name, v.bytes())
	}
	return nil
}

// space is the space of the i-th operand, an address: the modifiers name one for all, or one for each.
func (m *match) space(i int) Space {
	nth := 0
	for _, a := range m.form.Args[:i] {
		if a.Kind == ArgAddr {
			nth++
		}
	}
	found := Generic
	for _, mod := range m.mods {
		mod, _, _ = strings.Cut(mod, "::")
		switch s := Space(mod); s {
		case Global, Shared, Local, Const, Param:
			if found = s; nth == 0 {
				return found
			}
			nth--
		}
	}
	return found
}

// accessBytes is the size of an access to memory; 0 where it is not known.
func (m *match) accessBytes() int {
	switch m.form.Op {
	case "ld", "st", "atom", "red":
		t := Type(m.mods[len(m.mods)-1])
		lanes, err := strconv.Atoi(strings.TrimPrefix(m.slot("V"), "v"))
		if err != nil {
			lanes = 1
		}
		return lanes * t.Bits() / 8
	}
	return 0
}
