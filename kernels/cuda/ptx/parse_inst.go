package ptx

import (
	"math"
	"strings"
)

// maxNesting bounds blocks within blocks.
const maxNesting = 100

// block reads the body of a kernel, and the blocks in it: blocks that are still open are counted, not recursed into.
func (p *parser) block() {
	p.expect("{")
	depth := 1
	for !p.done() && depth > 0 {
		switch {
		case p.accept("{"):
			p.open()
			if depth++; depth > maxNesting {
				p.fail("blocks are nested more than %d deep", maxNesting)
			}
		case p.accept("}"):
			if depth--; depth > 0 {
				p.scope = p.scope.outer
			}
		case p.accept(";"):
		case p.tok.kind == directive:
			p.local()
		default:
			p.statement()
		}
	}
	if depth > 0 {
		p.fail("kernel %s: the text ends before its body does", p.k.Name)
	}
}

// local reads a directive within a body.
func (p *parser) local() {
	switch p.tok.text {
	case ".reg":
		p.registers()
	case ".loc", ".file":
		p.skipLine()
	case ".pragma":
		p.skipTo(";")
	default:
		v := p.variable()
		if p.err == nil && v.Space != Shared && v.Space != Local {
			p.fail("a %s variable within a body is not supported", v.Space)
			return
		}
		p.declareVar(&v)
		p.k.Vars = append(p.k.Vars, v)
		p.expect(";")
	}
}

// statement reads a label or an instruction.
func (p *parser) statement() {
	in := Inst{Line: p.tok.line}
	if p.accept("@") {
		in.Guard.On, in.Guard.Not = true, p.accept("!")
		reg, ok := p.lookupReg(p.identifier())
		if !ok {
			p.fail("the guard is not a declared register")
		}
		in.Guard.Reg = reg
	}
	if p.tok.kind != word {
		p.fail("an instruction is wanted, not %q", p.tok.text)
		return
	}
	name := p.tok.text
	p.advance()
	if p.is(":") && !in.Guard.On {
		p.advance()
		p.label(name)
		return
	}
	var ok bool
	in.Op, in.Mods, ok = splitOp(name)
	if !ok {
		p.fail("instruction %s is not supported", name)
		return
	}
	if len(in.Mods) == 0 {
		in.Mods = nil
	}
	for !p.done() && !p.is(";") {
		in.Args = append(in.Args, p.operand(&in))
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	if p.err != nil {
		return
	}
	if _, err := in.Match(p.k); err != nil {
		p.tok.line = in.Line
		p.fail("%s: %w", p.k.Text(&in), err)
		return
	}
	p.k.Body = append(p.k.Body, in)
}

// label declares a label at this place.
func (p *parser) label(name string) {
	if p.scope.labels[name] != "" || strings.ContainsAny(name, ".:%") {
		p.fail("label %s is declared twice or no name", name)
		return
	}
	unique := p.unique(name)
	p.scope.labels[name] = unique
	p.k.Labels = append(p.k.Labels, Label{unique, len(p.k.Body)})
}

// resolve gives the jumps of the kernel the unique names of their labels.
func (p *parser) resolve() {
	for _, j := range p.jumps {
		if p.err != nil {
			return
		}
		o := &p.k.Body[j.inst].Args[j.arg]
		s := j.scope
		for s != nil && s.labels[o.Name] == "" {
			s = s.outer
		}
		if s == nil {
			p.tok.line = j.line
			p.fail("label %s is not declared", o.Name)
			return
		}
		o.Name = s.labels[o.Name]
	}
}

// lookupReg finds a register by its name in the text.
func (p *parser) lookupReg(name string) (Reg, bool) {
	for s := p.scope; s != nil; s = s.outer {
		if r, ok := s.regs[name]; ok {
			return r, true
		}
	}
	return 0, false
}

// lookupVar finds the unique name of a variable or parameter.
func (p *parser) lookupVar(name string) (string, bool) {
	for s := p.scope; s != nil; s = s.outer {
		if v := s.vars[name]; v != "" {
			return v, true
		}
	}
	return name, p.vars[name]
}

// operand reads an operand of the instruction.
func (p *parser) operand(in *Inst) Operand {
	switch {
	case p.accept("{"):
		o := Operand{Kind: VectorOperand}
		for !p.done() && !p.is("}") {
			o.Vec = append(o.Vec, p.value(in))
			if !p.accept(",") {
				break
			}
		}
		p.expect("}")
		return o
	case p.accept("["):
		o := p.address()
		p.expect("]")
		return o
	}
	o := p.value(in)
	if p.accept("|") {
		r, ok := p.lookupReg(p.identifier())
		if !ok {
			p.fail("the second destination is not a declared register")
		}
		o.Pair = &r
	}
	return o
}

// address reads what stands between brackets: a register, a variable or a number, and an offset.
func (p *parser) address() Operand {
	o := Operand{Kind: AddrOperand}
	if p.tok.kind == number || p.is("-") {
		o.Off = p.signed()
		return o
	}
	name := p.identifier()
	if r, ok := p.lookupReg(name); ok {
		o.Reg, o.Base = r, true
	} else if o.Name, ok = p.lookupVar(name); !ok {
		p.fail("%s is not declared", name)
	}
	o.Off = p.offset()
	return o
}

// offset reads "+4", "-4" or "+-4" where it is given.
func (p *parser) offset() int64 {
	if p.accept("+") || p.is("-") {
		return p.signed()
	}
	return 0
}

// signed reads an integer with an optional minus.
func (p *parser) signed() int64 {
	if p.accept("-") {
		return -p.integer(0, math.MaxInt64)
	}
	return p.integer(math.MinInt64, math.MaxInt64)
}

// value reads a scalar operand.
func (p *parser) value(in *Inst) Operand {
	switch {
	case p.tok.kind == number || p.is("-"):
		return p.constant(in)
	case p.accept("!"):
		r, ok := p.lookupReg(p.identifier())
		if !ok {
			p.fail("what is negated is not a declared register")
		}
		return Operand{Kind: RegOperand, Reg: r, Not: true}
	case p.accept("_"):
		return Operand{Kind: SinkOperand}
	case p.accept("WARP_SZ"):
		return Operand{Kind: ImmOperand, Imm: 32}
	}
	name := p.tok.text
	if p.tok.kind == word && specialBits(name) > 0 {
		p.advance()
		return Operand{Kind: SpecialOperand, Name: name}
	}
	name = p.identifier()
	if r, ok := p.lookupReg(name); ok {
		return Operand{Kind: RegOperand, Reg: r}
	}
	if in.Op == "bra" {
		p.jumps = append(p.jumps, jump{len(p.k.Body), len(in.Args), in.Line, p.scope})
		return Operand{Kind: LabelOperand, Name: name}
	}
	symbol, ok := p.lookupVar(name)
	if !ok {
		p.fail("%s is not declared", name)
	}
	return Operand{Kind: SymbolOperand, Name: symbol, Off: p.offset()}
}

// constant reads a number with an optional minus. A decimal float in an instruction of type f32 becomes one of 32 bits.
func (p *parser) constant(in *Inst) Operand {
	negative := p.accept("-")
	o, ok := parseNumber(p.tok.text)
	if p.tok.kind != number || !ok {
		p.fail("a number is wanted, not %q", p.tok.text)
		return o
	}
	hex := strings.HasPrefix(strings.ToLower(p.tok.text), "0d")
	p.advance()
	if o.Float == 64 && !hex && len(in.Mods) > 0 && in.Mods[len(in.Mods)-1] == string(F32) {
		o.Float, o.Imm = 32, int64(math.Float32bits(float32(math.Float64frombits(uint64(o.Imm)))))
	}
	if negative {
		switch o.Float {
		case 32:
			o.Imm ^= 1 << 31
		case 64:
			o.Imm ^= math.MinInt64
		default:
			o.Imm = -o.Imm
		}
	}
	return o
}
