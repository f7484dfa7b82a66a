package ptx

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// variable reads a declaration without its end: ".shared .align 16 .b8 x[1024]", ".param .u64 .ptr .global n".
func (p *parser) variable() Var {
	v := Var{Space: Space(strings.TrimPrefix(p.tok.text, "."))}
	switch v.Space {
	case Global, Shared, Local, Const, Param:
		p.advance()
	default:
		p.fail("%q is not supported here", p.tok.text)
		return v
	}
	v.Align = p.align()
	v.Type = p.declaredType()
	if p.accept(".ptr") {
		if p.is(".global") || p.is(".shared") || p.is(".local") || p.is(".const") {
			p.advance()
		}
		p.align() // of what it points to
	}
	v.Name = p.identifier()
	if p.accept("[") {
		if !p.is("]") {
			v.Count = int(p.integer(1, maxVarBytes/int64(max(1, v.Type.Bits()/8))))
		} else if v.Space == Shared {
			v.Extern = true
		} else {
			p.fail("%s: the number of elements is wanted", v.Name)
		}
		p.expect("]")
	}
	if p.accept("=") {
		p.initialiser(&v)
	}
	return v
}

// align reads ".align N" where it is given; 0 otherwise.
func (p *parser) align() int {
	if !p.accept(".align") {
		return 0
	}
	n := p.integer(1, 1<<16)
	if n&(n-1) != 0 {
		p.fail("an alignment is a power of two, not %d", n)
	}
	return int(n)
}

// declaredType reads the type of a register or variable.
func (p *parser) declaredType() Type {
	t := Type(strings.TrimPrefix(p.tok.text, "."))
	switch t {
	case Pred, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16X2, F32, F64:
		p.advance()
	default:
		p.fail("%q is no type of a register or variable", p.tok.text)
	}
	return t
}

// initialiser reads what follows the equals sign into v.Init.
func (p *parser) initialiser(v *Var) {
	if v.Space != Global && v.Space != Const {
		p.fail("%s: only global and const variables have initialisers", v.Name)
	}
	v.Init = []byte{}
	size := v.Type.Bits() / 8
	if !p.accept("{") {
		v.Init = p.element(v, size)
		return
	}
	for !p.done() && !p.is("}") {
		if len(v.Init)/max(1, size) >= max(1, v.Count) {
			p.fail("%s: more values than elements", v.Name)
		}
		v.Init = append(v.Init, p.element(v, size)...)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
}

// element reads one value of an initialiser as little-endian bytes.
func (p *parser) element(v *Var, size int) []byte {
	negative := p.accept("-")
	o, ok := parseNumber(p.tok.text)
	if p.tok.kind != number || !ok || size > 8 {
		p.fail("%s: a number is wanted, not %q", v.Name, p.tok.text)
		return nil
	}
	p.advance()
	n := uint64(o.Imm)
	if o.Float == 64 && v.Type == F32 {
		n = uint64(math.Float32bits(float32(math.Float64frombits(n))))
	}
	if negative {
		switch {
		case v.Type == F32:
			n ^= 1 << 31
		case v.Type == F64:
			n ^= 1 << 63
		default:
			n = -n
		}
	}
	return binary.LittleEndian.AppendUint64(nil, n)[:size]
}

// entry reads an entry function.
func (p *parser) entry() {
	p.expect(".entry")
	p.k = &Kernel{Name: p.identifier()}
	p.names, p.jumps, p.scope = map[string]int{}, nil, nil
	p.open()
	if p.accept("(") {
		for !p.done() && !p.is(")") {
			v := p.variable()
			p.declareVar(&v)
			p.k.Params = append(p.k.Params, v)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	p.performance()
	if p.accept(";") { // a declaration
		return
	}
	if p.vars[p.k.Name] {
		p.fail("%s is declared twice", p.k.Name)
	}
	p.vars[p.k.Name] = true
	p.m.Kernels = append(p.m.Kernels, p.k)
	p.block()
	p.resolve()
}

// performance reads the directives between a kernel's parameters and its body.
func (p *parser) performance() {
	for !p.done() {
		switch {
		case p.accept(".maxntid"):
			p.k.MaxThreads = p.threads()
		case p.accept(".reqntid"):
			p.k.ReqThreads = p.threads()
		case p.accept(".minnctapersm"):
			p.k.MinBlocks = int(p.integer(1, 64))
		case p.accept(".maxnreg"):
			p.k.MaxRegs = int(p.integer(1, 255))
		case p.accept(".noreturn"):
		case p.is(".pragma"):
			p.skipTo(";")
		default:
			return
		}
	}
}

// threads reads up to three numbers; those left out are 1.
func (p *parser) threads() [3]int {
	n := [3]int{1, 1, 1}
	for i := range n {
		n[i] = int(p.integer(1, 1024))
		if !p.accept(",") {
			break
		}
	}
	return n
}

// open begins a block.
func (p *parser) open() {
	p.scope = &scope{outer: p.scope, regs: map[string]Reg{}, vars: map[string]string{}, labels: map[string]string{}}
}

// unique makes a name that the kernel does not have yet.
func (p *parser) unique(name string) string {
	unique := name
	for {
		if _, taken := p.names[unique]; !taken {
			p.names[unique] = 0
			return unique
		}
		p.names[name]++
		unique = name + "$" + strconv.Itoa(p.names[name])
	}
}

// declareVar gives a variable its unique name, under which the scope knows it.
func (p *parser) declareVar(v *Var) {
	if p.scope.vars[v.Name] != "" {
		p.fail("%s is declared twice", v.Name)
	}
	if p.vars[v.Name] {
		p.names[v.Name] += 0 // the module's own keeps it
	}
	name := p.unique(v.Name)
	p.scope.vars[v.Name] = name
	v.Name = name
}

// registers reads a declaration of registers: ".reg .b32 %r<10>, %x;".
func (p *parser) registers() {
	p.expect(".reg")
	t := p.declaredType()
	for !p.done() {
		name := p.identifier()
		if p.accept("<") {
			n := int(p.integer(0, maxRegisters))
			p.expect(">")
			for i := 0; i < n && p.err == nil; i++ {
				p.declareReg(name+strconv.Itoa(i), t)
			}
		} else {
			p.declareReg(name, t)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

func (p *parser) declareReg(name string, t Type) {
	if _, twice := p.scope.regs[name]; twice {
		p.fail("%s is declared twice", name)
	}
	if p.regs++; p.regs > maxRegisters {
		p.fail("more than %d registers", maxRegisters)
		return
	}
	p.scope.regs[name] = Reg(len(p.k.Regs))
	p.k.Regs = append(p.k.Regs, Register{Name: p.unique(name), Type: t})
}
