package ptx

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// match is a form that an instruction has.
type match struct {
	form *Form
	mods []string // by slot; "" where it is left out
	need Need
}

// match finds the form that an instruction has by its modifiers and the kinds of its operands.
func (in *Inst) match() (*match, error) {
	m := &match{}
	if err := m.find(in); err != nil {
		return nil, err
	}
	return m, nil
}

// find makes m the form that an instruction has. Who looks at one instruction after another keeps m for all of them.
func (m *match) find(in *Inst) error {
	op := Lookup(in.Op)
	if op == nil {
		return errors.New("unknown instruction")
	}
	var first error
	for _, f := range op.Forms {
		m.form, m.mods, m.need = f, append(m.mods[:0], make([]string, len(f.Slots))...), f.Needs
		if !m.matchMods(0, in.Mods) {
			continue
		}
		err := m.matchArgs(in.Args)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("%s has no form with these modifiers%s", in.Op, op.near(in.Mods))
	}
	return first
}

// near says which of the modifiers no form of an opcode has anywhere.
func (o *Opcode) near(mods []string) string {
	known := map[string]bool{}
	for _, f := range o.Forms {
		for _, s := range f.Slots {
			for _, a := range s.Alts {
				known[a.Text] = true
			}
		}
	}
	for _, mod := range mods {
		if !known[mod] {
			return ": ." + clip(mod) + " is not one of its modifiers"
		}
	}
	return ""
}

// matchMods gives the modifiers to the slots from slot on.
func (m *match) matchMods(slot int, mods []string) bool {
	if slot == len(m.form.Slots) {
		return len(mods) == 0
	}
	s := &m.form.Slots[slot]
	if len(mods) > 0 {
		for _, a := range s.Alts {
			if a.Text != mods[0] {
				continue
			}
			need := m.need
			m.need, m.mods[slot] = need.and(a.Needs), a.Text
			if m.matchMods(slot+1, mods[1:]) {
				return true
			}
			m.need, m.mods[slot] = need, ""
		}
	}
	return s.Optional && m.matchMods(slot+1, mods)
}

// maxVectorBits is the widest access to memory.
const maxVectorBits = 128

// matchArgs looks at the number and the kinds of operands.
func (m *match) matchArgs(args []Operand) error {
	if m.tooWide() {
		return fmt.Errorf("a vector of more than %d bits", maxVectorBits)
	}
	least := 0
	for _, a := range m.form.Args {
		if !a.Optional {
			least++
		}
	}
	if most := len(m.form.Args); len(args) < least || len(args) > most {
		if least == most {
			return fmt.Errorf("%d operands expected, found %d", least, len(args))
		}
		return fmt.Errorf("%d to %d operands expected, found %d", least, most, len(args))
	}
	for i := range args {
		if err := m.matchArg(&m.form.Args[i], &args[i]); err != nil {
			return fmt.Errorf("operand %d: %w", i+1, err)
		}
	}
	return nil
}

// matchArg looks at the kind of one operand.
func (m *match) matchArg(a *Arg, o *Operand) error {
	if o.Pair != nil && !a.Pair {
		return errors.New("no second destination may follow")
	}
	if o.Not && (m.typ(a) != Pred || a.Dest) {
		return errors.New("only a predicate that is read may be negated")
	}
	if o.Kind == SinkOperand && a.Sink && a.Kind != ArgVector {
		return nil
	}
	switch kind := a.Kind; {
	case kind == ArgVector && m.lanes(a) > 0:
		return matchVector(a, o, m.lanes(a))
	case a.Dest:
		return wanted(o.Kind == RegOperand, "a register")
	case kind == ArgValue, kind == ArgVector:
		return wanted(o.Kind == RegOperand || o.Kind == ImmOperand, "a register or an immediate")
	case kind == ArgAny:
		ok := o.Kind == RegOperand || o.Kind == ImmOperand || o.Kind == SpecialOperand || o.Kind == SymbolOperand
		return wanted(ok, "a register, an immediate, a special register or a variable")
	case kind == ArgImm:
		return a.matchImm(o)
	case kind == ArgPred:
		return wanted(o.Kind == RegOperand || o.Kind == ImmOperand, "a predicate")
	case kind == ArgAddr:
		return wanted(o.Kind == AddrOperand, "an address")
	}
	return wanted(o.Kind == LabelOperand, "a label")
}

// wanted is the error that says what was expected, unless ok.
func wanted(ok bool, what string) error {
	if ok {
		return nil
	}
	return errors.New(what + " expected")
}

// matchVector looks at a vector of n elements.
func matchVector(a *Arg, o *Operand, n int) error {
	if o.Kind != VectorOperand || len(o.Vec) != n {
		return fmt.Errorf("a vector of %d expected", n)
	}
	for i := range o.Vec {
		switch kind := o.Vec[i].Kind; {
		case kind == RegOperand, kind == ImmOperand && !a.Dest, kind == SinkOperand && a.Sink:
		default:
			return fmt.Errorf("a register expected as element %d", i+1)
		}
	}
	return nil
}

// matchImm looks at an operand that must be a constant.
func (a *Arg) matchImm(o *Operand) error {
	if o.Kind != ImmOperand || o.Float != 0 {
		return errors.New("an integer constant expected")
	}
	for _, n := range a.Only {
		if o.Imm == n {
			return nil
		}
	}
	if a.Only != nil {
		return fmt.Errorf("%d is not one of %s", o.Imm, strings.Trim(fmt.Sprint(a.Only), "[]"))
	}
	return nil
}

// slot is the modifier in the slot of a name; "" if it is left out.
func (m *match) slot(name string) string {
	for i := range m.form.Slots {
		if m.form.Slots[i].Name == name {
			return m.mods[i]
		}
	}
	return ""
}

// lanes is the length of a vector operand; 0 where it is a scalar.
func (m *match) lanes(a *Arg) int {
	n, err := strconv.Atoi(a.Count)
	if err != nil {
		n, _ = strconv.Atoi(strings.TrimPrefix(m.slot(a.Count), "v"))
	}
	return n
}

// tooWide reports whether the modifiers make an access wider than there are.
func (m *match) tooWide() bool {
	for i := range m.form.Args {
		if a := &m.form.Args[i]; a.Count == "V" && m.lanes(a)*m.typ(a).Bits() > maxVectorBits {
			return true
		}
	}
	return false
}

// typ is the type of an operand.
func (m *match) typ(a *Arg) Type {
	t := Type(a.Type)
	for i := range m.form.Slots {
		if m.form.Slots[i].Name == a.Type {
			t = Type(m.mods[i])
		}
	}
	if a.Wide {
		t = t.wide()
	}
	return t
}

// convert gives decimal and other floats the width of their operand.
func (m *match) convert(args []Operand) {
	for i := range args {
		t := m.typ(&m.form.Args[i])
		if t != F32 && t != F64 {
			continue
		}
		all := args[i : i+1]
		if args[i].Kind == VectorOperand {
			all = args[i].Vec
		}
		for j := range all {
			if o := &all[j]; o.Kind == ImmOperand && o.Float != 0 && o.Float != t.Bits() {
				o.Imm, o.Float = convertFloat(o.Imm, t), t.Bits()
			}
		}
	}
}

// convertFloat makes the bits of a float of type t of those of the other width.
func convertFloat(bits int64, t Type) int64 {
	if t == F32 {
		return int64(math.Float32bits(float32(math.Float64frombits(uint64(bits)))))
	}
	return int64(math.Float64bits(float64(math.Float32frombits(uint32(bits)))))
}
