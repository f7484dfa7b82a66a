package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the text that the driver gets: the same for the same module, always.
func (m *Module) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target %s\n.address_size 64\n", m.Version, m.Target)
	for _, v := range m.Vars {
		b.WriteString("\n")
		printVar(&b, v)
	}
	for _, k := range m.Kernels {
		b.WriteString("\n")
		k.print(&b)
	}
	return b.String()
}

// printVar writes a declaration, as in ".shared .align 16 .b8 ring[4096];".
func printVar(b *strings.Builder, v Var) {
	if v.Extern {
		b.WriteString(".extern ")
	}
	fmt.Fprintf(b, ".%s ", v.Space)
	printDeclarator(b, v)
	if len(v.Init) > 0 {
		printInit(b, v)
	}
	b.WriteString(";\n")
}

// printDeclarator writes alignment, type, name and extent.
func printDeclarator(b *strings.Builder, v Var) {
	if v.Align > 0 {
		fmt.Fprintf(b, ".align %d ", v.Align)
	}
	fmt.Fprintf(b, ".%s %s", v.Type, v.Name)
	switch {
	case v.Extern:
		b.WriteString("[]")
	case v.Count > 0:
		fmt.Fprintf(b, "[%d]", v.Count)
	}
}

// printInit writes the initial elements.
func printInit(b *strings.Builder, v Var) {
	size := max(1, v.Type.Bits()/8)
	b.WriteString(" = ")
	if v.Count > 0 {
		b.WriteString("{")
	}
	for at := 0; at < len(v.Init); at += size {
		if at > 0 {
			b.WriteString(", ")
		}
		var n uint64
		for i := min(size, len(v.Init)-at) - 1; i >= 0; i-- {
			n = n<<8 | uint64(v.Init[at+i])
		}
		switch v.Type {
		case F32:
			fmt.Fprintf(b, "0f%08X", n)
		case F64:
			fmt.Fprintf(b, "0d%016X", n)
		default:
			b.WriteString(strconv.FormatUint(n, 10))
		}
	}
	if v.Count > 0 {
		b.WriteString("}")
	}
}

func (k *Kernel) print(b *strings.Builder) {
	fmt.Fprintf(b, ".visible .entry %s(", k.Name)
	for i, p := range k.Params {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n\t.param ")
		printDeclarator(b, p)
	}
	b.WriteString("\n)\n")
	for _, d := range []struct {
		name   string
		extent [3]int
	}{{"maxntid", k.MaxThreads}, {"reqntid", k.ReqThreads}} {
		if d.extent[0] > 0 {
			fmt.Fprintf(b, ".%s %d, %d, %d\n", d.name, d.extent[0], max(1, d.extent[1]), max(1, d.extent[2]))
		}
	}
	if k.MinBlocks > 0 {
		fmt.Fprintf(b, ".minnctapersm %d\n", k.MinBlocks)
	}
	if k.MaxRegs > 0 {
		fmt.Fprintf(b, ".maxnreg %d\n", k.MaxRegs)
	}
	b.WriteString("{\n")
	k.printRegisters(b)
	for _, v := range k.Vars {
		b.WriteString("\t")
		printVar(b, v)
	}
	labels := k.Labels
	for i, in := range k.Body {
		for len(labels) > 0 && labels[0].At == i {
			printLabel(b, labels[0])
			labels = labels[1:]
		}
		b.WriteString("\t")
		k.printInst(b, in)
		b.WriteString("\n")
	}
	for _, l := range labels {
		printLabel(b, l)
	}
	b.WriteString("}\n")
}

func printLabel(b *strings.Builder, l Label) {
	fmt.Fprintf(b, "%s:\n", l.Name)
	if l.Rolled {
		fmt.Fprintf(b, "\t.pragma %s;\n", noUnroll)
	}
}

// Text is an instruction as it is printed.
func (k *Kernel) Text(in *Inst) string {
	var b strings.Builder
	k.printInst(&b, *in)
	return b.String()
}

func (k *Kernel) printInst(b *strings.Builder, in Inst) {
	if in.Guard.On {
		b.WriteString("@")
		if in.Guard.Not {
			b.WriteString("!")
		}
		b.WriteString(k.regName(in.Guard.Reg) + " ")
	}
	b.WriteString(in.Op)
	for _, m := range in.Mods {
		b.WriteString("." + m)
	}
	for i, a := range in.Args {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(" ")
		k.printOperand(b, a)
	}
	b.WriteString(";")
}

// regName is a register's name; of one that is not declared, a name that no register has.
func (k *Kernel) regName(r Reg) string {
	if r < 0 || int(r) >= len(k.Regs) {
		return fmt.Sprintf("%%undeclared%d", r)
	}
	return k.Regs[r].Name
}

func (k *Kernel) printOperand(b *strings.Builder, o Operand) {
	switch o.Kind {
	case RegOperand:
		if o.Not {
			b.WriteString("!")
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
		if o.Off != 0 {
			fmt.Fprintf(b, "+%d", o.Off) // "+-4" where it is negative: the grammar has no minus here
		}
	case AddrOperand:
		k.printAddress(b, o)
	case VectorOperand:
		b.WriteString("{")
		for i, e := range o.Vec {
			if i > 0 {
				b.WriteString(", ")
			}
			k.printOperand(b, e)
		}
		b.WriteString("}")
	case SinkOperand:
		b.WriteString("_")
	}
	if o.Pair != nil {
		b.WriteString("|" + k.regName(*o.Pair))
	}
}

func (k *Kernel) printAddress(b *strings.Builder, o Operand) {
	base := o.Name
	if o.Base {
		base = k.regName(o.Reg)
	}
	switch {
	case base == "":
		fmt.Fprintf(b, "[%d]", o.Off)
	case o.Off != 0:
		fmt.Fprintf(b, "[%s+%d]", base, o.Off)
	default:
		fmt.Fprintf(b, "[%s]", base)
	}
}
