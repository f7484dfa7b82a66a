package ptx

import (
	"slices"
	"strconv"
	"strings"
)

// kernelParser reads a kernel.
type kernelParser struct {
	*parser
	kernel *Kernel
	scope  *scope
	taken  map[string]bool // names of registers, variables and labels, all scopes together
	fresh  map[string]int  // how often a name was taken, to find new ones
	jumps  []jump
	match  match // of the instruction at hand
}

// scope is what is declared between a pair of braces.
type scope struct {
	outer  *scope
	depth  int
	regs   map[string]Type     // declared one by one
	ranges map[string]regRange // %r<10>, by "%r"
	made   map[string]Reg      // those that instructions name
	vars   map[string]string   // to the name in the kernel
	labels map[string]string   // likewise
}

// regRange declares the registers that are named by a prefix and a number below count.
type regRange struct {
	count int
	typ   Type
}

// jump is an operand that names a label, which may come later.
type jump struct {
	scope     *scope
	inst, arg int
}

// kernel reads an entry function after .entry.
func (p *parser) kernel() {
	line := p.token.line
	k := &kernelParser{
		parser: p,
		kernel: &Kernel{Name: p.name("kernel")},
		taken:  map[string]bool{},
		fresh:  map[string]int{},
	}
	k.params()
	k.limits()
	if p.accept(";") { // a declaration
		return
	}
	p.declare(line, k.kernel.Name)
	k.expect("{")
	k.push()
	for k.scope != nil && k.err == nil {
		k.statement()
	}
	if k.err == nil {
		k.resolve()
	}
	p.module.Kernels = append(p.module.Kernels, k.kernel)
}

// params reads the parameters.
func (k *kernelParser) params() {
	if !k.accept("(") {
		return
	}
	for !k.token.is(")") && k.err == nil {
		line := k.token.line
		k.expect(".param")
		v := Var{Space: Param}
		lanes := k.varType(&v)
		if k.accept(".ptr") { // what a pointer points at: a hint
			for k.token.kind == tokenDirective && !k.token.is(".align") {
				k.next()
			}
			if k.accept(".align") {
				k.count(".align", 1, 1<<20)
			}
		}
		v.Name = k.name("parameter")
		if k.dims(&v, lanes) {
			k.fail(line, "parameter %s has no size", v.Name)
		}
		if k.taken[v.Name] {
			k.fail(line, "parameter %s is declared twice", v.Name)
		}
		k.taken[v.Name] = true
		k.kernel.Params = append(k.kernel.Params, v)
		if !k.accept(",") {
			break
		}
	}
	k.expect(")")
}

// limits reads the performance directives between parameters and body.
func (k *kernelParser) limits() {
	for k.token.kind == tokenDirective {
		t := k.next()
		switch t.text {
		case ".maxntid":
			k.kernel.MaxThreads = k.threads(t.text)
		case ".reqntid":
			k.kernel.ReqThreads = k.threads(t.text)
		case ".minnctapersm":
			k.kernel.MinBlocks = k.count(t.text, 1, 1<<10)
		case ".maxnreg":
			k.kernel.MaxRegs = k.count(t.text, 1, 1<<10)
		case ".noreturn":
		default:
			if !k.skipped(t) {
				k.fail(t.line, "unknown directive %s of kernel %s", t, k.kernel.Name)
			}
		}
	}
}

// threads reads up to three sizes.
func (k *kernelParser) threads(what string) [3]int {
	n := [3]int{1, 1, 1}
	for i := range n {
		if n[i] = k.count(what, 1, 1<<16); !k.accept(",") {
			break
		}
	}
	return n
}

// push opens a scope.
func (k *kernelParser) push() {
	s := &scope{
		outer:  k.scope,
		regs:   map[string]Type{},
		ranges: map[string]regRange{},
		made:   map[string]Reg{},
		vars:   map[string]string{},
		labels: map[string]string{},
	}
	if s.outer != nil {
		s.depth = s.outer.depth + 1
	}
	if s.depth >= maxScopes {
		k.fail(k.token.line, "more than %d scopes within each other", maxScopes)
	}
	k.scope = s
}

// statement reads a directive, a label, an instruction or a brace.
func (k *kernelParser) statement() {
	t := k.next()
	switch {
	case t.is(".pragma"):
		if rolled, last := k.pragmas(), len(k.kernel.Labels)-1; last >= 0 && k.kernel.Labels[last].At == len(k.kernel.Body) {
			k.kernel.Labels[last].Rolled = k.kernel.Labels[last].Rolled || rolled
		}
	case k.skipped(t):
	case t.kind == tokenEnd:
		k.fail(t.line, "the body of kernel %s does not end", k.kernel.Name)
	case t.is("{"):
		k.push()
	case t.is("}"):
		k.scope = k.scope.outer
	case t.is(".reg"):
		k.registers()
	case t.is(".shared"), t.is(".local"):
		k.locals(Space(t.text[1:]))
	case t.is("@"):
		k.guarded(t)
	case t.kind == tokenWord && k.token.is(":"):
		k.next()
		if k.scope.labels[t.text] != "" {
			k.fail(t.line, "label %s stands twice", t)
		}
		name := k.unique(t.text)
		k.scope.labels[t.text] = name
		k.kernel.Labels = append(k.kernel.Labels, Label{Name: name, At: len(k.kernel.Body)})
	case t.kind == tokenWord:
		k.instruction(t, Guard{})
	default:
		k.fail(t.line, "instruction expected, found %s", t)
	}
}

// locals reads variables of the kernel after the directive of their space.
func (k *kernelParser) locals(space Space) {
	line := k.token.line
	for _, v := range k.variables(space, false) {
		if k.scope.vars[v.Name] != "" {
			k.fail(line, "%s is declared twice", v.Name)
		}
		name := k.unique(v.Name)
		k.scope.vars[v.Name], v.Name = name, name
		k.kernel.Vars = append(k.kernel.Vars, v)
	}
}

// guarded reads an instruction after @.
func (k *kernelParser) guarded(at token) {
	g := Guard{On: true, Not: k.accept("!")}
	name := k.name("predicate")
	reg, ok := k.register(name)
	if !ok {
		k.fail(at.line, "predicate %s is not declared", name)
		return
	}
	if g.Reg = reg; k.kernel.Regs[reg].Type != Pred {
		k.fail(at.line, "guard %s is a %s register, not a predicate", name, k.kernel.Regs[reg].Type)
	}
	if k.token.kind != tokenWord {
		k.fail(k.token.line, "instruction expected, found %s", k.token)
		return
	}
	k.instruction(k.next(), g)
}

// registers reads declarations after .reg.
func (k *kernelParser) registers() {
	t := k.next()
	typ := Type(strings.TrimPrefix(t.text, "."))
	if t.kind != tokenDirective || !typ.variable() && typ != Pred || typ.Bits() == 8 {
		k.fail(t.line, "no register can be of type %s", t)
		return
	}
	for k.err == nil {
		line := k.token.line
		name := k.name("register")
		_, twice := k.scope.regs[name]
		if k.accept("<") {
			_, twice = k.scope.ranges[name]
			k.scope.ranges[name] = regRange{k.count("registers", 0, 1<<30), typ}
			k.expect(">")
		} else {
			k.scope.regs[name] = typ
		}
		if twice {
			k.fail(line, "register %s is declared twice", name)
		}
		if !k.accept(",") {
			break
		}
	}
	k.expect(";")
}

// register finds a register by the name it has here.
func (k *kernelParser) register(name string) (Reg, bool) {
	for s := k.scope; s != nil; s = s.outer {
		if r, ok := s.made[name]; ok {
			return r, true
		}
		if typ, ok := s.declares(name); ok {
			r := Reg(len(k.kernel.Regs))
			k.kernel.Regs = append(k.kernel.Regs, Register{Name: k.unique(name), Type: typ})
			s.made[name] = r
			return r, true
		}
	}
	return 0, false
}

// declares reports whether s declares a register, and its type.
func (s *scope) declares(name string) (Type, bool) {
	if typ, ok := s.regs[name]; ok {
		return typ, true
	}
	for i := len(name) - 1; i > 0 && i > len(name)-11 && '0' <= name[i] && name[i] <= '9'; i-- {
		if name[i] == '0' && i < len(name)-1 {
			continue
		}
		r, ok := s.ranges[name[:i]]
		if n, err := strconv.Atoi(name[i:]); ok && err == nil && n < r.count {
			return r.typ, true
		}
	}
	return "", false
}

// unique is a name in the kernel for one in a scope: the same, or one with a number after it.
func (k *kernelParser) unique(name string) string {
	free := name
	for k.taken[free] {
		k.fresh[name]++
		free = name + "_" + strconv.Itoa(k.fresh[name])
	}
	k.taken[free] = true
	return free
}

// resolve gives the jumps the names that their labels have in the kernel.
func (k *kernelParser) resolve() {
	for _, j := range k.jumps {
		in := &k.kernel.Body[j.inst]
		arg := &in.Args[j.arg]
		name := ""
		for s := j.scope; s != nil && name == ""; s = s.outer {
			name = s.labels[arg.Name]
		}
		if name == "" {
			k.fail(in.Line, "label %s is not declared", clip(arg.Name))
			return
		}
		arg.Name = name
	}
	slices.SortStableFunc(k.kernel.Labels, func(a, b Label) int { return a.At - b.At })
}
