package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Match is an instruction seen as a form of the table.
type Match struct {
	Form *Form
	mods []string // by slot; "" where the slot is left out
}

// Mod is the modifier in the named slot; "" if it is left out or the form has no such slot.
func (m Match) Mod(slot string) string {
	for i, s := range m.Form.Slots {
		if s.Name == slot {
			return m.mods[i]
		}
	}
	return ""
}

// Need is what the instruction asks of compiler and GPU.
func (m Match) Need() Need {
	need := m.Form.Needs
	for i, s := range m.Form.Slots {
		for _, a := range s.Alts {
			if a.Text == m.mods[i] {
				need = need.and(a.Needs)
			}
		}
	}
	return need
}

// Type is the type of an operand of the matched form.
func (m Match) Type(a Arg) Type {
	t := Type(a.Type)
	for i, s := range m.Form.Slots {
		if s.Name == a.Type && s.Name != "" {
			t = Type(m.mods[i])
		}
	}
	if a.Wide {
		return t.wide()
	}
	return t
}

// elements is how many registers a vector operand has; 0 for a scalar.
func (m Match) elements(a Arg) int {
	count := a.Count
	if mod := m.Mod(count); mod != "" {
		count = strings.TrimPrefix(mod, "v")
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return 0
	}
	return n
}

// Match finds the form of an instruction of kernel k, whose registers give the operands' types; with a nil k types are not
// looked at. The error says what no form of the opcode allows.
func (in *Inst) Match(k *Kernel) (Match, error) {
	op := Lookup(in.Op)
	if op == nil {
		return Match{}, fmt.Errorf("opcode %s is not in the table", in.Op)
	}
	var first error
	for _, f := range op.Forms {
		m := Match{f, make([]string, len(f.Slots))}
		if !fillSlots(f.Slots, in.Mods, m.mods) {
			continue
		}
		err := m.operands(k, in.Args)
		if err == nil {
			return m, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("%s has no form with modifiers %q", in.Op, strings.Join(in.Mods, "."))
	}
	return Match{}, first
}

// fillSlots assigns modifiers to slots in order and reports whether that comes out even.
func fillSlots(slots []Slot, mods, filled []string) bool {
	if len(slots) == 0 {
		return len(mods) == 0
	}
	if len(mods) > len(slots) {
		return false
	}
	s := &slots[0]
	if len(mods) > 0 && slices.ContainsFunc(s.Alts, func(a Alt) bool { return a.Text == mods[0] }) {
		filled[0] = mods[0]
		if fillSlots(slots[1:], mods[1:], filled[1:]) {
			return true
		}
	}
	filled[0] = ""
	return s.Optional && fillSlots(slots[1:], mods, filled[1:])
}

// operands checks an instruction's operands against the form's.
func (m Match) operands(k *Kernel, args []Operand) error {
	want := m.Form.Args
	for i := range want {
		if i >= len(args) {
			if want[i].Optional {
				return nil
			}
			return fmt.Errorf("%d operands where %s takes %d", len(args), m.Form.Op, len(want))
		}
		if err := m.operand(k, want[i], &args[i]); err != nil {
			return fmt.Errorf("operand %d: %w", i+1, err)
		}
	}
	if len(args) > len(want) {
		return fmt.Errorf("%d operands where %s takes %d", len(args), m.Form.Op, len(want))
	}
	return nil
}

// operand checks one operand.
func (m Match) operand(k *Kernel, want Arg, o *Operand) error {
	t := m.Type(want)
	switch want.Kind {
	case ArgAddr:
		if o.Kind != AddrOperand {
			return fmt.Errorf("an address is wanted")
		}
		if o.Base && k != nil {
			if r := k.register(o.Reg); r == nil || r.Type.isFloat() || r.Type.Bits() != 32 && r.Type.Bits() != 64 {
				return fmt.Errorf("the base of an address is an integer register of 32 or 64 bits")
			}
		}
		return nil
	case ArgLabel:
		if o.Kind != LabelOperand {
			return fmt.Errorf("a label is wanted")
		}
		return nil
	case ArgImm:
		if o.Kind != ImmOperand || o.Float != 0 {
			return fmt.Errorf("a constant is wanted")
		}
		if want.Only != nil && !slices.Contains(want.Only, o.Imm) {
			return fmt.Errorf("the constant %d is not one of %v", o.Imm, want.Only)
		}
		return nil
	case ArgVector:
		n := m.elements(want)
		if n == 0 {
			return scalar(k, want, t, o)
		}
		if o.Kind != VectorOperand || len(o.Vec) != n {
			return fmt.Errorf("a vector of %d is wanted", n)
		}
		for i := range o.Vec {
			if err := scalar(k, want, t, &o.Vec[i]); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return nil
	}
	return scalar(k, want, t, o)
}

// scalar checks an operand that is a single value.
func scalar(k *Kernel, want Arg, t Type, o *Operand) error {
	if o.Pair != nil && !want.Pair {
		return fmt.Errorf("there is no second destination")
	}
	if o.Pair == nil && want.Both {
		return fmt.Errorf("a second destination, a predicate, is wanted")
	}
	if o.Not && (want.Kind != ArgPred || want.Dest) {
		return fmt.Errorf("it cannot be negated")
	}
	switch o.Kind {
	case RegOperand:
		return registers(k, want, t, o)
	case SinkOperand:
		if want.Dest && want.Sink {
			return nil
		}
	case ImmOperand:
		if want.Dest || want.Kind == ArgPred {
			break
		}
		if !t.hasConstants() && (t != Pred || want.Kind != ArgAny) {
			return fmt.Errorf("there are no constants of type %s: move the bits to a register", t)
		}
		if o.Float != 0 && t.Bits() != o.Float || o.Float == 0 && (t == F32 || t == F64) {
			return fmt.Errorf("the constant is not of type %s", t)
		}
		return nil
	case SpecialOperand:
		if want.Kind == ArgAny && specialFits(o.Name, t) {
			return nil
		}
		return fmt.Errorf("special register %s is not a value of type %s here", o.Name, t)
	case SymbolOperand:
		if want.Kind == ArgAny && (t.Bits() == 32 || t.Bits() == 64) && !t.isFloat() {
			return nil
		}
	}
	if want.Dest {
		return fmt.Errorf("a register of type %s is wanted", t)
	}
	return fmt.Errorf("a value of type %s is wanted", t)
}

// registers checks the types of a register operand and of its second one.
func registers(k *Kernel, want Arg, t Type, o *Operand) error {
	if k == nil {
		return nil
	}
	r := k.register(o.Reg)
	if r == nil {
		return fmt.Errorf("register %d of %d", o.Reg, len(k.Regs))
	}
	if !t.agrees(r.Type, want.Relaxed) {
		return fmt.Errorf("%s is a .%s register and .%s is wanted", r.Name, r.Type, t)
	}
	if o.Pair != nil {
		if p := k.register(*o.Pair); p == nil || p.Type != Pred {
			return fmt.Errorf("the second destination is a predicate")
		}
	}
	return nil
}

// register is the register of an index; nil if there is none.
func (k *Kernel) register(r Reg) *Register {
	if r < 0 || int(r) >= len(k.Regs) {
		return nil
	}
	return &k.Regs[r]
}
