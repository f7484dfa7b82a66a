package ptx

import "strings"

// instruction reads an instruction after its opcode.
func (k *kernelParser) instruction(t token, g Guard) {
	op, mods, ok := splitOp(t.text)
	if !ok {
		k.fail(t.line, "unknown instruction %s", t)
		return
	}
	in := Inst{Guard: g, Op: op, Mods: mods, Line: t.line}
	for !k.token.is(";") && k.err == nil {
		if len(in.Args) == maxOperands {
			k.fail(t.line, "%s: more than %d operands", t, maxOperands)
		}
		label := Lookup(op).labelAt(len(in.Args))
		in.Args = append(in.Args, k.operand(label))
		if label {
			k.jumps = append(k.jumps, jump{k.scope, len(k.kernel.Body), len(in.Args) - 1})
		}
		if !k.accept(",") {
			break
		}
	}
	end := k.token.at
	k.expect(";")
	if k.err != nil {
		return
	}
	if err := k.match.find(&in); err != nil {
		k.fail(t.line, "%s: %w", clip(k.lexer.text[t.at:end]), err)
		return
	}
	k.match.convert(in.Args)
	k.kernel.Body = append(k.kernel.Body, in)
}

// labelAt reports whether the operand at i is a label.
func (o *Opcode) labelAt(i int) bool {
	for _, f := range o.Forms {
		if i < len(f.Args) && f.Args[i].Kind == ArgLabel {
			return true
		}
	}
	return false
}

// operand reads an operand.
func (k *kernelParser) operand(label bool) Operand {
	t := k.next()
	switch {
	case label && t.kind == tokenWord:
		return Operand{Kind: LabelOperand, Name: t.text}
	case t.kind == tokenWord:
		return k.named(t)
	case t.kind == tokenNumber, t.is("-"):
		return k.immediate(t)
	case t.is("!"):
		t = k.next()
		o := k.named(t)
		if o.Not = true; o.Kind != RegOperand || o.Pair != nil {
			k.fail(t.line, "predicate expected after !, found %s", t)
		}
		return o
	case t.is("["):
		return k.address()
	case t.is("{"):
		return k.vector()
	}
	k.fail(t.line, "operand expected, found %s", t)
	return Operand{}
}

// named makes an operand of a name: a register, perhaps with a second one after a bar, a special register, or the address
// of a variable, perhaps with an offset.
func (k *kernelParser) named(t token) Operand {
	if t.text == "_" {
		return k.pair(Operand{Kind: SinkOperand})
	}
	if t.text == "WARP_SZ" {
		return Operand{Kind: ImmOperand, Imm: 32}
	}
	if r, ok := k.register(t.text); ok {
		return k.pair(Operand{Kind: RegOperand, Reg: r})
	}
	if _, ok := special(t.text); ok {
		return Operand{Kind: SpecialOperand, Name: t.text}
	}
	if name, ok := k.symbol(t.text); ok {
		return Operand{Kind: SymbolOperand, Name: name, Off: k.offset()}
	}
	if strings.HasPrefix(t.text, "%") {
		k.fail(t.line, "register %s is not declared", t)
	} else {
		k.fail(t.line, "%s is not declared", t)
	}
	return Operand{}
}

// pair reads the second destination of p|q, if there is one.
func (k *kernelParser) pair(o Operand) Operand {
	if !k.accept("|") {
		return o
	}
	line := k.token.line
	if k.token.text == "_" { // dropped
		k.next()
		return o
	}
	name := k.name("predicate")
	r, ok := k.register(name)
	if !ok {
		k.fail(line, "register %s is not declared", name)
	}
	o.Pair = &r
	return o
}

// symbol finds a variable or parameter by the name it has here.
func (k *kernelParser) symbol(name string) (string, bool) {
	for s := k.scope; s != nil; s = s.outer {
		if unique, ok := s.vars[name]; ok {
			return unique, true
		}
	}
	for i := range k.kernel.Params {
		if k.kernel.Params[i].Name == name {
			return name, true
		}
	}
	return name, k.symbols[name]
}

// offset reads +n or -n, if there is one.
func (k *kernelParser) offset() int64 {
	if !k.token.is("-") && !k.accept("+") {
		return 0
	}
	minus := k.accept("-")
	t := k.next()
	n, float, err := parseNumber(t.text)
	if t.kind != tokenNumber || err != nil || float != 0 {
		k.fail(t.line, "offset expected, found %s", t)
		return 0
	}
	if minus {
		return -n
	}
	return n
}

// immediate reads a constant that begins with t.
func (k *kernelParser) immediate(t token) Operand {
	n, float := k.number(t)
	return Operand{Kind: ImmOperand, Imm: n, Float: float}
}

// address reads an address after its bracket: a register or a variable with an offset, or a number.
func (k *kernelParser) address() Operand {
	o := Operand{Kind: AddrOperand}
	t := k.token
	switch {
	case t.kind == tokenNumber || t.is("-"):
		n := k.immediate(k.next())
		if o.Off = n.Imm; n.Float != 0 {
			k.fail(t.line, "address %s is not an integer", t)
		}
	default:
		k.next()
		if r, ok := k.register(t.text); ok {
			o.Reg, o.Base = r, true
		} else if o.Name, ok = k.symbol(t.text); !ok || t.kind != tokenWord {
			k.fail(t.line, "address %s is not declared", t)
		}
		o.Off = k.offset()
	}
	k.expect("]")
	return o
}

// vector reads the elements of a vector after its brace.
func (k *kernelParser) vector() Operand {
	o := Operand{Kind: VectorOperand}
	for k.err == nil {
		t := k.token
		e := k.operand(false)
		o.Vec = append(o.Vec, e)
		switch {
		case e.Kind != RegOperand && e.Kind != ImmOperand && e.Kind != SinkOperand || e.Pair != nil || e.Not:
			k.fail(t.line, "element of a vector expected, found %s", t)
		case len(o.Vec) > maxOperands:
			k.fail(t.line, "a vector of more than %d elements", maxOperands)
		}
		if !k.accept(",") {
			break
		}
	}
	k.expect("}")
	return o
}
