package ptx

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Numbers are the integers and floats that a module's code has in places where a register could stand as well: an extent to
// compare with, a factor, what is added to an address.
type Numbers struct {
	Values []int64  // in the order of the code
	Rest   [32]byte // names all else: modules whose rest is the same differ in their numbers alone
	places []place
}

// place is where a number is.
type place struct {
	kernel, inst, arg int
	typ               Type // of the register that could hold it
}

// Numbers finds a module's numbers.
func (m *Module) Numbers() Numbers {
	var n Numbers
	frame := *m
	frame.Kernels = nil
	rest := []byte(frame.String())
	for i, k := range m.Kernels {
		var head strings.Builder
		(&Kernel{
			Name: k.Name, Params: k.Params, MaxThreads: k.MaxThreads, ReqThreads: k.ReqThreads, MinBlocks: k.MinBlocks, MaxRegs: k.MaxRegs,
			Vars: k.Vars, Regs: k.Regs,
		}).print(&head)
		rest = append(rest, head.String()...)
		for _, l := range k.Labels {
			rest = fmt.Appendf(rest, "%s %d %t;", l.Name, l.At, l.Rolled)
		}
		for j := range k.Body {
			first := len(n.places)
			n.find(k, i, j)
			rest = k.Body[j].appendRest(rest, n.places[first:])
		}
	}
	n.Rest = sha256.Sum256(rest)
	return n
}

// appendRest appends what an instruction is but for the numbers at the given places.
func (in *Inst) appendRest(b []byte, numbers []place) []byte {
	b = append(b, in.Op...)
	for _, m := range in.Mods {
		b = append(append(b, '.'), m...)
	}
	if in.Guard.On {
		b = binary.AppendUvarint(append(b, '@'), uint64(in.Guard.Reg)<<1|bit(in.Guard.Not))
	}
	for i := range in.Args {
		o := in.Args[i]
		if len(numbers) > 0 && numbers[0].arg == i {
			o.Imm, o.Off, numbers = 0, 0, numbers[1:]
		}
		b = o.appendTo(b)
	}
	return append(b, ';')
}

// appendTo appends an operand, none of whose fields are left out.
func (o *Operand) appendTo(b []byte) []byte {
	b = append(b, ',', byte(o.Kind), byte(bit(o.Not)|bit(o.Base)<<1|bit(o.Pair != nil)<<2), byte(o.Float), byte(len(o.Vec)), byte(len(o.Name)))
	b = append(b, o.Name...)
	b = binary.AppendVarint(binary.AppendVarint(binary.AppendUvarint(b, uint64(o.Reg)), o.Imm), o.Off)
	if o.Pair != nil {
		b = binary.AppendUvarint(b, uint64(*o.Pair))
	}
	for i := range o.Vec {
		b = o.Vec[i].appendTo(b)
	}
	return b
}

func bit(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// find adds the numbers of instruction j of kernel i, k.
func (n *Numbers) find(k *Kernel, i, j int) {
	in := &k.Body[j]
	add := func(arg int, t Type, value int64) {
		n.places = append(n.places, place{i, j, arg, t})
		n.Values = append(n.Values, value)
	}
	var m *match
	for arg := range in.Args {
		switch o := &in.Args[arg]; {
		case o.Kind == AddrOperand && o.Base:
			if t := k.Regs[o.Reg].Type; t == B32 || t == B64 {
				add(arg, t, o.Off)
			}
		case o.Kind == ImmOperand && (computes[in.Op] || in.Op == "fma"):
			if m == nil {
				var err error
				if m, err = in.match(); err != nil {
					return // the check of the module says so
				}
			}
			if t := holds(m.typ(&m.form.Args[arg]), o.Float); t != "" && m.form.Args[arg].Kind != ArgImm {
				add(arg, t, o.Imm)
			}
		}
	}
}

// holds returns the type of a register that can take the place of a number in an operand of type t; "" for none.
func holds(t Type, float int) Type {
	switch t {
	case U32, S32, B32:
		if float == 0 {
			return B32
		}
	case U64, S64, B64:
		if float == 0 {
			return B64
		}
	case F32:
		if float == 32 {
			return F32
		}
	}
	return ""
}

// Open returns a module with the same code, which reads numbers from parameters: group says for each number of which group it
// is, -1 for those that stay. All of a group are of one type; see [Numbers.Type]. Behind its own parameters each kernel has one
// for each group of which it has a number, in ascending order: read says which.
func (n Numbers) Open(m *Module, group []int) (open *Module, read [][]int) {
	o := *m
	o.Kernels = make([]*Kernel, len(m.Kernels))
	read = make([][]int, len(m.Kernels))
	for first := 0; first < len(n.places); {
		i := n.places[first].kernel
		end := first
		for end < len(n.places) && n.places[end].kernel == i {
			end++
		}
		o.Kernels[i], read[i] = openKernel(m.Kernels[i], n.places[first:end], group[first:end])
		first = end
	}
	for i, k := range o.Kernels {
		if k == nil {
			o.Kernels[i] = m.Kernels[i]
		}
	}
	return &o, read
}

// Type returns the type of the register that could hold number i.
func (n Numbers) Type(i int) Type { return n.places[i].typ }

// openKernel is Open for one kernel.
func openKernel(k *Kernel, places []place, group []int) (*Kernel, []int) {
	o := *k
	o.Params, o.Regs, o.Body, o.Labels = slices.Clone(k.Params), slices.Clone(k.Regs), nil, nil
	types := map[int]Type{}
	for i, g := range group {
		if g >= 0 {
			types[g] = places[i].typ
		}
	}
	var read []int
	for g := range types {
		read = append(read, g)
	}
	slices.Sort(read)
	if len(read) == 0 {
		return k, nil
	}
	register := func(t Type) Operand {
		o.Regs = append(o.Regs, Register{Name: fmt.Sprintf("%%open%d", len(o.Regs)-len(k.Regs)), Type: t})
		return Operand{Kind: RegOperand, Reg: Reg(len(o.Regs) - 1)}
	}
	held := map[int]Operand{}
	for _, g := range read {
		name, t := fmt.Sprintf("open%d", g), map[Type]Type{B32: U32, B64: U64, F32: F32}[types[g]]
		o.Params = append(o.Params, Var{Name: name, Space: Param, Type: t})
		held[g] = register(types[g])
		o.Body = append(o.Body, Inst{Op: "ld", Mods: []string{string(Param), string(t)}, Args: []Operand{held[g], {Kind: AddrOperand, Name: name}}})
	}
	labels := k.Labels
	for j, in := range k.Body {
		for ; len(labels) > 0 && labels[0].At == j; labels = labels[1:] {
			l := labels[0]
			l.At = len(o.Body)
			o.Labels = append(o.Labels, l)
		}
		cloned := false
		for ; len(places) > 0 && places[0].inst == j; places, group = places[1:], group[1:] {
			if group[0] < 0 {
				continue
			}
			if !cloned {
				in.Args, cloned = slices.Clone(in.Args), true
			}
			a, h := &in.Args[places[0].arg], held[group[0]]
			if a.Kind == ImmOperand {
				*a = h
				continue
			}
			sum, t := register(places[0].typ), "u32"
			if places[0].typ == B64 {
				t = "s64"
			}
			o.Body = append(o.Body, Inst{Guard: in.Guard, Op: "add", Mods: []string{t}, Args: []Operand{sum, {Kind: RegOperand, Reg: a.Reg}, h}})
			a.Reg, a.Off = sum.Reg, 0
		}
		o.Body = append(o.Body, in)
	}
	for _, l := range labels {
		l.At = len(o.Body)
		o.Labels = append(o.Labels, l)
	}
	return &o, read
}
