package ptx

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Need is what an instruction asks of the compiler and the GPU. The zero Need is met by all that we know.
type Need struct {
	Version Version
	Target  Target
}

// and is what two needs ask together.
func (n Need) and(o Need) Need {
	n.Version = max(n.Version, o.Version)
	if o.Target.SM > n.Target.SM || o.Target.SM == n.Target.SM && o.Target.Arch {
		n.Target = o.Target
	}
	return n
}

// meets reports whether code for t may use what needs o: feature targets have what their number has, and what needs a
// feature target works on that one alone.
func (t Target) meets(o Target) bool {
	if o.Arch {
		return t == o
	}
	return t.SM >= o.SM
}

// RunsOn reports whether a device of compute capability sm runs code for t: any from t's on, of a feature target that one alone.
func (t Target) RunsOn(sm int) bool {
	return sm == t.SM || sm > t.SM && !t.Arch
}

// String is the target's name: "sm_80", "sm_90a".
func (t Target) String() string {
	if t.Arch {
		return fmt.Sprintf("sm_%da", t.SM)
	}
	return fmt.Sprintf("sm_%d", t.SM)
}

// String is the version as the text spells it: "7.0".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v/10, v%10) }

// minVersion is the first ISA version that knows a target.
func (t Target) minVersion() Version {
	switch {
	case t.SM > 120:
		return 88
	case t.SM == 120:
		return 87
	case t.SM > 100:
		return 88
	case t.SM == 100:
		return 86
	case t.SM == 90 && t.Arch:
		return 80
	case t.SM >= 89:
		return 78
	case t.SM == 87:
		return 74
	case t.SM == 86:
		return 71
	case t.SM >= 80:
		return 70
	case t.SM >= 75:
		return 63
	}
	return 60
}

// Opcode is a row of the table: an instruction's name and its forms.
type Opcode struct {
	Name  string
	Forms []*Form
}

// Form is one way to write an opcode: modifiers in order, then operands in order.
type Form struct {
	Op    string
	Slots []Slot
	Args  []Arg
	Needs Need
}

// Slot is a place for a modifier: one of the alternatives, or nothing if Optional. Its name, if it has one, stands for the
// chosen alternative in the operands.
type Slot struct {
	Name     string
	Alts     []Alt
	Optional bool
}

// Alt is one alternative of a slot.
type Alt struct {
	Text  string
	Needs Need
}

// ArgKind says what an operand of a form may be.
type ArgKind uint8

// The kinds of operands of a form.
const (
	ArgValue  ArgKind = iota + 1 // register or, of a source, immediate
	ArgAny                       // register, immediate, special register or address of a variable (mov)
	ArgImm                       // immediate only
	ArgAddr                      // address
	ArgVector                    // as many registers as Count says
	ArgPred                      // predicate; of a source it may be negated
	ArgLabel
)

// Arg is an operand of a form.
type Arg struct {
	Kind     ArgKind
	Dest     bool
	Optional bool
	Pair     bool    // of a destination: a second one, a predicate, may follow as in d|p
	Sink     bool    // of a destination: "_" will do
	Type     string  // a Type, or the name of a slot whose modifier is the type
	Wide     bool    // of twice the width of Type
	Relaxed  bool    // the register may be wider than the type
	Count    string  // ArgVector: a number, or the name of a slot that holds v2, v4, ...; if that is absent, a scalar
	Only     []int64 // ArgImm: these values only; nil: any
}

// opcodes is the table by name, made once from the rows.
var opcodes = sync.OnceValue(func() map[string]*Opcode {
	table := map[string]*Opcode{}
	for _, r := range slices.Concat(integerRows, floatRows, logicRows, convertRows, memoryRows, warpRows, matrixRows, controlRows) {
		op := table[r.op]
		if op == nil {
			op = &Opcode{Name: r.op}
			table[r.op] = op
		}
		op.Forms = append(op.Forms, compileForm(r))
	}
	return table
})

// Lookup finds an opcode by name; nil if the table has none.
func Lookup(name string) *Opcode { return opcodes()[name] }

// Opcodes is the table, by name.
func Opcodes() []*Opcode {
	table := opcodes()
	all := make([]*Opcode, 0, len(table))
	for _, op := range table {
		all = append(all, op)
	}
	slices.SortFunc(all, func(a, b *Opcode) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// splitOp splits a dotted name as in the text into the opcode, the longest that the table has, and its modifiers.
func splitOp(text string) (op string, mods []string, ok bool) {
	parts := strings.Split(text, ".")
	for n := min(len(parts), maxOpParts); n > 0; n-- {
		if op = strings.Join(parts[:n], "."); Lookup(op) != nil {
			return op, parts[n:], true
		}
	}
	return "", nil, false
}

// maxOpParts is the most parts that an opcode's own name has: cp.async.bulk.commit_group.
const maxOpParts = 4
