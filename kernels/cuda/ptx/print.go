package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the module's text, the same for the same module. Where Version is zero, it is the lowest that has all that is
// used.
func (m *Module) String() string {
	var b strings.Builder
	version := m.Version
	if version == 0 {
		version = m.Needs().Version
	}
	fmt.Fprintf(&b, ".version %s\n.target %s\n.address_size 64\n", version, m.Target)
	if len(m.Vars) > 0 {
		b.WriteByte('\n')
	}
	for i := range m.Vars {
		writeVar(&b, &m.Vars[i])
		b.WriteString(";\n")
	}
	for _, k := range m.Kernels {
		b.WriteByte('\n')
		k.write(&b)
	}
	return b.String()
}

// Needs is what the module's instructions and its target ask: the lowest ISA version that has them all, and the lowest
// target. Instructions that the table does not have count for nothing; Validate reports them.
func (m *Module) Needs() Need {
	need := Need{Version: m.Target.minVersion()}
	for _, k := range m.Kernels {
		need = need.and(k.Needs())
	}
	return need
}

// Needs is what the kernel's instructions ask together.
func (k *Kernel) Needs() Need {
	var need Need
	for i := range k.Body {
		if match, err := k.Body[i].Match(k); err == nil {
			need = need.and(match.Need())
		}
	}
	return need
}

// write writes an entry function.
func (k *Kernel) write(b *strings.Builder) {
	b.WriteString(".visible .entry " + k.Name + "(")
	for i := range k.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n\t")
		writeVar(b, &k.Params[i])
	}
	if len(k.Params) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(")\n")
	writeThreads(b, ".maxntid", k.MaxThreads)
	writeThreads(b, ".reqntid", k.ReqThreads)
	if k.MinBlocks > 0 {
		fmt.Fprintf(b, ".minnctapersm %d\n", k.MinBlocks)
	}
	if k.MaxRegs > 0 {
		fmt.Fprintf(b, ".maxnreg %d\n", k.MaxRegs)
	}
	b.WriteString("{\n")
	k.writeRegs(b)
	for i := range k.Vars {
		b.WriteByte('\t')
		writeVar(b, &k.Vars[i])
		b.WriteString(";\n")
	}
	labels := k.Labels
	for i := 0; i <= len(k.Body); i++ {
		for len(labels) > 0 && labels[0].At <= i {
			b.WriteString(labels[0].Name + ":\n")
			labels = labels[1:]
		}
		if i < len(k.Body) {
			b.WriteByte('\t')
			k.writeInst(b, &k.Body[i])
			b.WriteByte('\n')
		}
	}
	b.WriteString("}\n")
}

func writeThreads(b *strings.Builder, directive string, n [3]int) {
	if n != [3]int{} {
		fmt.Fprintf(b, "%s %d, %d, %d\n", directive, n[0], n[1], n[2])
	}
}

// writeRegs declares the registers in order: runs of names that count up from 0 as a range, others one by one.
func (k *Kernel) writeRegs(b *strings.Builder) {
	for i := 0; i < len(k.Regs); {
		r := k.Regs[i]
		n := 1
		prefix, numbered := strings.CutSuffix(r.Name, "0")
		if numbered && len(prefix) > 1 && prefix[len(prefix)-1] > '9' {
			for i+n < len(k.Regs) && k.Regs[i+n].Type == r.Type && k.Regs[i+n].Name == prefix+strconv.Itoa(n) {
				n++
			}
			fmt.Fprintf(b, "\t.reg .%s %s<%d>;\n", r.Type, prefix, n)
		} else {
			fmt.Fprintf(b, "\t.reg .%s %s;\n", r.Type, r.Name)
		}
		i += n
	}
}

// writeVar writes a declaration without its end.
func writeVar(b *strings.Builder, v *Var) {
	if v.Extern {
		b.WriteString(".extern ")
	}
	b.WriteString("." + string(v.Space))
	if v.Align > 0 {
		fmt.Fprintf(b, " .align %d", v.Align)
	}
	fmt.Fprintf(b, " .%s %s", v.Type, v.Name)
	switch {
	case v.Extern:
		b.WriteString("[]")
	case v.Count > 0:
		fmt.Fprintf(b, "[%d]", v.Count)
	}
	if v.Init != nil {
		writeInit(b, v)
	}
}

// writeInit writes an initialiser: integers of the elements' width.
func writeInit(b *strings.Builder, v *Var) {
	size := max(1, v.Type.Bits()/8)
	b.WriteString(" = ")
	if v.Count > 0 {
		b.WriteByte('{')
	}
	for i := 0; i+size <= len(v.Init); i += size {
		if i > 0 {
			b.WriteString(", ")
		}
		var n uint64
		for j := size - 1; j >= 0; j-- {
			n = n<<8 | uint64(v.Init[i+j])
		}
		switch v.Type {
		case F32:
			fmt.Fprintf(b, "0f%08X", n)
		case F64:
			fmt.Fprintf(b, "0d%016X", n)
		default:
			fmt.Fprintf(b, "%d", n)
		}
	}
	if v.Count > 0 {
		b.WriteByte('}')
	}
}

// Text is an instruction of the kernel as the module's text has it.
func (k *Kernel) Text(in *Inst) string {
	var b strings.Builder
	k.writeInst(&b, in)
	return b.String()
}

func (k *Kernel) writeInst(b *strings.Builder, in *Inst) {
	if in.Guard.On {
		b.WriteByte('@')
		if in.Guard.Not {
			b.WriteByte('!')
		}
		b.WriteString(k.regName(in.Guard.Reg) + " ")
	}
	b.WriteString(in.Op)
	for _, m := range in.Mods {
		b.WriteString("." + m)
	}
	for i := range in.Args {
		if i == 0 {
			b.WriteByte(' ')
		} else {
			b.WriteString(", ")
		}
		k.writeOperand(b, &in.Args[i])
	}
	b.WriteByte(';')
}

// regName is a register's name, or one that cannot be read where there is no such register.
func (k *Kernel) regName(r Reg) string {
	if reg := k.register(r); reg != nil {
		return reg.Name
	}
	return fmt.Sprintf("%%?%d", r)
}

func (k *Kernel) writeOperand(b *strings.Builder, o *Operand) {
	switch o.Kind {
	case RegOperand:
		if o.Not {
			b.WriteByte('!')
		}
		b.WriteString(k.regName(o.Reg))
	case ImmOperand:
		switch o.Float {
		case 32:
			fmt.Fprintf(b, "0f%08X", uint32(o.Imm))
		case 64:
			fmt.Fprintf(b, "0d%016X", uint64(o.Imm))
		default:
			b.WriteString(strconv.FormatInt(o.Imm, 10))
		}
	case SpecialOperand, LabelOperand:
		b.WriteString(o.Name)
	case SymbolOperand:
		b.WriteString(o.Name)
		writeOffset(b, o.Off)
	case AddrOperand:
		b.WriteByte('[')
		switch {
		case o.Base:
			b.WriteString(k.regName(o.Reg))
			writeOffset(b, o.Off)
		case o.Name != "":
			b.WriteString(o.Name)
			writeOffset(b, o.Off)
		default:
			b.WriteString(strconv.FormatInt(o.Off, 10))
		}
		b.WriteByte(']')
	case VectorOperand:
		b.WriteByte('{')
		for i := range o.Vec {
			if i > 0 {
				b.WriteString(", ")
			}
			k.writeOperand(b, &o.Vec[i])
		}
		b.WriteByte('}')
	case SinkOperand:
		b.WriteByte('_')
	}
	if o.Pair != nil {
		b.WriteString("|" + k.regName(*o.Pair))
	}
}

func writeOffset(b *strings.Builder, off int64) {
	if off != 0 {
		fmt.Fprintf(b, "%+d", off)
	}
}
