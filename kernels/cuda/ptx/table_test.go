package ptx

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// instances are instructions that show what the table allows: of every form each alternative of each slot once, with
// registers and then with constants for operands, and once with all optional operands left out.
func instances(k *Kernel) []Inst {
	var all []Inst
	seen := map[string]bool{}
	for _, op := range Opcodes() {
		for _, f := range op.Forms {
			for _, mods := range modifierChoices(f) {
				for variant := range 3 {
					in := Inst{Op: op.Name, Mods: mods}
					m := Match{f, make([]string, len(f.Slots))}
					fillSlots(f.Slots, mods, m.mods)
					for i, a := range f.Args {
						if a.Optional && variant == 2 {
							break
						}
						in.Args = append(in.Args, instanceOperand(k, m, a, i, variant == 1))
					}
					if text := k.Text(&in); !seen[text] {
						seen[text] = true
						all = append(all, in)
					}
				}
			}
		}
	}
	return all
}

// modifierChoices are lists of modifiers of a form that hold each alternative of each slot at least once, without and with
// the optional slots around it.
func modifierChoices(f *Form) [][]string {
	var all [][]string
	choose := func(slot, alt int, optional bool) {
		var mods []string
		for i, s := range f.Slots {
			switch {
			case i == slot:
				mods = append(mods, s.Alts[alt].Text)
			case !s.Optional || optional:
				mods = append(mods, s.Alts[0].Text)
			}
		}
		all = append(all, mods)
	}
	if len(f.Slots) == 0 {
		return [][]string{nil}
	}
	for i, s := range f.Slots {
		for j := range s.Alts {
			choose(i, j, false)
			choose(i, j, true)
		}
	}
	return all
}

// register finds the nth register of a kernel that is fit for a type.
func fitRegister(k *Kernel, t Type, relaxed bool, n int) Reg {
	last := Reg(-1)
	for i, r := range k.Regs {
		if t.agrees(r.Type, false) || last < 0 && relaxed && t.agrees(r.Type, true) {
			last = Reg(i)
			if n--; n < 0 {
				break
			}
		}
	}
	return last
}

func instanceOperand(k *Kernel, m Match, a Arg, n int, constants bool) Operand {
	reg := func(t Type, n int) Operand {
		return Operand{Kind: RegOperand, Reg: fitRegister(k, t, a.Relaxed, n)}
	}
	t := m.Type(a)
	second := fitRegister(k, Pred, false, 1)
	switch a.Kind {
	case ArgAddr:
		return instanceAddress(k, m, n)
	case ArgLabel:
		return Operand{Kind: LabelOperand, Name: "L0"}
	case ArgImm:
		if a.Only != nil {
			return Operand{Kind: ImmOperand, Imm: a.Only[len(a.Only)-1]}
		}
		return Operand{Kind: ImmOperand, Imm: 1}
	case ArgVector:
		if count := m.elements(a); count > 0 {
			o := Operand{Kind: VectorOperand}
			for i := range count {
				o.Vec = append(o.Vec, reg(t, i))
			}
			return o
		}
	case ArgPred:
		o := reg(Pred, n)
		o.Not = constants && !a.Dest
		if a.Both || a.Pair && !constants {
			o.Pair = &second
		}
		return o
	}
	if constants && !a.Dest && a.Kind != ArgVector && t.hasConstants() {
		switch t {
		case F32:
			return Operand{Kind: ImmOperand, Float: 32, Imm: 0x3f800000}
		case F64:
			return Operand{Kind: ImmOperand, Float: 64, Imm: 0x3ff0000000000000}
		}
		if n > 0 && len(m.Form.Args) > 1 && m.Form.Op != "bar.red" && strings.HasPrefix(m.Form.Op, "bar") {
			return Operand{Kind: ImmOperand, Imm: 64} // threads: whole warps
		}
		return Operand{Kind: ImmOperand, Imm: 3}
	}
	o := reg(t, n)
	if a.Both || a.Pair && !constants {
		o.Pair = &second
	}
	return o
}

func instanceAddress(k *Kernel, m Match, n int) Operand {
	mods := strings.Join(m.mods, ".")
	o := Operand{Kind: AddrOperand, Base: true, Reg: fitRegister(k, B64, false, 0), Off: 16}
	switch {
	case strings.Contains(mods, "param"):
		return Operand{Kind: AddrOperand, Name: k.Params[0].Name}
	case strings.Contains(mods, "shared") && (n == 0 || m.Form.Op != "cp.async"), strings.Contains(m.Form.Op, "matrix"):
		o.Reg = fitRegister(k, B32, false, 0)
	}
	return o
}

// instanceKernel is a kernel with registers for every type.
func instanceKernel() *Kernel {
	k := &Kernel{Name: "k", Params: []Var{{Name: "p0", Space: Param, Type: B8, Align: 16, Count: 64}}, Labels: []Label{{"L0", 0}}}
	for _, c := range []struct {
		t Type
		p string
	}{{Pred, "%p"}, {B16, "%h"}, {B32, "%r"}, {F32, "%f"}, {B64, "%d"}, {F64, "%fd"}} {
		for i := range 4 {
			k.Regs = append(k.Regs, Register{fmt.Sprint(c.p, i), c.t})
		}
	}
	return k
}

// TestRoundTrip prints every form of the table and reads it back.
func TestRoundTrip(t *testing.T) {
	k := instanceKernel()
	k.Body = instances(k)
	m := &Module{Target: Target{SM: 90, Arch: true}, Kernels: []*Kernel{k}}
	m.Version = m.Needs().Version
	back, err := Parse(m.String())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(m.String(), "\n")
	for i := range back.Kernels[0].Body {
		in := &back.Kernels[0].Body[i]
		if got := strings.TrimSpace(lines[in.Line-1]); got != k.Text(&k.Body[i]) {
			t.Fatalf("line %d is %q, not %q", in.Line, got, k.Text(&k.Body[i]))
		}
		in.Line = 0
	}
	if !reflect.DeepEqual(m, back) {
		for i := range k.Body {
			if !reflect.DeepEqual(k.Body[i], back.Kernels[0].Body[i]) {
				t.Errorf("%s came back as %#v", k.Text(&k.Body[i]), back.Kernels[0].Body[i])
			}
		}
		t.Error("the module came back different")
	}
	t.Logf("%d opcodes, %d instances", len(Opcodes()), len(k.Body))
}
