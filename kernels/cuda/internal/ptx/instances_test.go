package ptx

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// instance is a tiny kernel around one instruction.
type instance struct {
	form   *Form
	module *Module
	need   Need
}

// text is the instruction.
func (i instance) text() string {
	k := i.module.Kernels[0]
	return k.Text(&k.Body[0])
}

// instances makes instructions of every form of the table: all combinations of modifiers where there are few, else each
// alternative of each slot at least once and a sample of the rest.
func instances(most int) []instance {
	var all []instance
	for _, op := range Opcodes() {
		for _, f := range op.Forms {
			for _, mods := range choices(f, most) {
				all = append(all, makeInstances(f, mods)...)
			}
		}
	}
	return all
}

// choices are combinations of modifiers of a form, by slot, "" where it is left out.
func choices(f *Form, most int) [][]string {
	alts := make([][]string, len(f.Slots))
	product := 1
	for i, s := range f.Slots {
		for _, a := range s.Alts {
			alts[i] = append(alts[i], a.Text)
		}
		if s.Optional {
			alts[i] = append(alts[i], "")
		}
		product *= len(alts[i])
	}
	var all [][]string
	if product <= most {
		for n := range product {
			mods := make([]string, len(alts))
			for i := range alts {
				mods[i] = alts[i][n%len(alts[i])]
				n /= len(alts[i])
			}
			all = append(all, mods)
		}
		return all
	}
	random := rand.New(rand.NewPCG(1, uint64(product)))
	for n := range most {
		mods := make([]string, len(alts))
		for i := range alts {
			mods[i] = alts[i][random.IntN(len(alts[i]))]
		}
		slot := n % len(alts)
		mods[slot] = alts[slot][n/len(alts)%len(alts[slot])]
		all = append(all, mods)
	}
	return all
}

// makeInstances makes the instruction of a form with given modifiers, with and without the operands that may be left out,
// with registers and with immediates.
func makeInstances(f *Form, mods []string) []instance {
	if m := (&match{form: f, mods: mods}); m.tooWide() {
		return nil
	}
	least := 0
	for _, a := range f.Args {
		if !a.Optional {
			least++
		}
	}
	var all []instance
	for args := least; args <= len(f.Args); args++ {
		all = append(all, makeInstance(f, mods, args, false))
	}
	if len(f.Args) > 0 && strings.HasPrefix(f.Args[len(f.Args)-1].Type, "T") && f.Args[len(f.Args)-1].Kind == ArgValue {
		if t := Type(mods[len(mods)-1]); t.variable() && t != F16 && t != F16X2 {
			all = append(all, makeInstance(f, mods, len(f.Args), true))
		}
	}
	return all
}

// makeInstance makes one instruction with so many operands, the last one an immediate or not.
func makeInstance(f *Form, mods []string, args int, immediate bool) instance {
	m := &match{form: f, mods: mods, need: f.Needs}
	k := &Kernel{Name: "k"}
	in := Inst{Op: f.Op}
	for i, mod := range mods {
		if mod == "" {
			continue
		}
		in.Mods = append(in.Mods, mod)
		for _, a := range f.Slots[i].Alts {
			if a.Text == mod {
				m.need = m.need.and(a.Needs)
			}
		}
	}
	module := &Module{Kernels: []*Kernel{k}}
	e := exampler{module, k, m}
	for i := range args {
		if immediate && i == args-1 {
			in.Args = append(in.Args, exampleImmediate(m.typ(&f.Args[i])))
			break
		}
		in.Args = append(in.Args, e.operand(i))
	}
	k.Body = []Inst{in, {Op: "ret"}}
	if f.Op == "bra" {
		k.Labels = []Label{{Name: "end", At: 1}}
	}
	module.Target = m.need.Target
	if module.Target.SM < 80 {
		module.Target = SM80
	}
	module.Version = max(m.need.Version, module.Target.minVersion(), 70)
	return instance{f, module, m.need}
}

// exampleImmediate is a constant of a type.
func exampleImmediate(t Type) Operand {
	switch t {
	case F32:
		return Operand{Kind: ImmOperand, Imm: 0x3FC00000, Float: 32}
	case F64:
		return Operand{Kind: ImmOperand, Imm: 0x3FF8000000000000, Float: 64}
	}
	return Operand{Kind: ImmOperand, Imm: 3}
}

// exampler makes operands, and declares what they name.
type exampler struct {
	module *Module
	kernel *Kernel
	match  *match
}

// operand is one for the i-th place of a form.
func (e exampler) operand(i int) Operand {
	a := &e.match.form.Args[i]
	switch a.Kind {
	case ArgAddr:
		return e.address(i)
	case ArgLabel:
		return Operand{Kind: LabelOperand, Name: "end"}
	case ArgImm:
		o := Operand{Kind: ImmOperand, Imm: 1}
		if a.Only != nil {
			o.Imm = a.Only[0]
		}
		return o
	case ArgAny:
		if e.match.form.Op == "cvta" {
			return e.symbol(e.match.mods[0])
		}
	case ArgVector:
		n := e.match.lanes(a)
		if n == 0 {
			break
		}
		o := Operand{Kind: VectorOperand}
		for range n {
			o.Vec = append(o.Vec, e.register(e.match.typ(a)))
		}
		return o
	}
	o := e.register(e.match.typ(a))
	if a.Pair {
		r := e.register(Pred).Reg
		o.Pair = &r
	}
	return o
}

// register declares a register for a type.
func (e exampler) register(t Type) Operand {
	if !t.variable() && t != Pred || t.Bits() == 8 {
		t = Type("b" + strconv.Itoa(max(16, t.Bits())))
	}
	n := len(e.kernel.Regs)
	e.kernel.Regs = append(e.kernel.Regs, Register{Name: fmt.Sprintf("%%x%d", n), Type: t})
	return Operand{Kind: RegOperand, Reg: Reg(n)}
}

// symbol declares a variable of a space.
func (e exampler) symbol(space string) Operand {
	v := Var{Name: "v", Space: Space(space), Type: B8, Align: 64, Count: 64}
	switch v.Space {
	case Param:
		e.kernel.Params = append(e.kernel.Params, v)
	case Global, Const:
		v.Name = space
		e.module.Vars = append(e.module.Vars, v)
	default:
		e.kernel.Vars = append(e.kernel.Vars, v)
	}
	return Operand{Kind: SymbolOperand, Name: v.Name}
}

// address is one in the space that the instruction names.
func (e exampler) address(i int) Operand {
	if slices.Contains(e.match.mods, "param") {
		return Operand{Kind: AddrOperand, Name: e.symbol("param").Name, Off: 16}
	}
	return Operand{Kind: AddrOperand, Base: true, Reg: e.register(U64).Reg, Off: int64(16 * i)}
}
