package ptx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxStaticShared = 48 << 10 // bytes of a block's shared memory that need not be asked for at launch
	maxParams       = 4352     // bytes of a kernel's parameters (PTX ISA 5.1.6.1, before 8.1)
	maxReports      = 10
)

// Check looks for what the driver's compiler would refuse, and for what it would silently take: operands of a wrong class
// or width, constants that do not fit, names that are not declared, addresses in another space, instructions of the whole
// warp under a guard, too much shared memory, and what the module's version or target does not have. It reports the first
// faults found, with the kernel and the instruction.
func (m *Module) Check() error {
	c := &checker{module: m}
	if m.Version < m.Target.minVersion() {
		c.report("target %s needs .version %s, not %s", m.Target, m.Target.minVersion(), m.Version)
	}
	names := map[string]bool{}
	for i := range m.Vars {
		c.variable("module", &m.Vars[i], names)
	}
	for _, k := range m.Kernels {
		if c.kernel = k; names[k.Name] {
			c.report("kernel %s: the name is declared twice", k.Name)
		}
		names[k.Name] = true
		c.checkKernel()
	}
	return errors.Join(c.errs...)
}

// Needs is the lowest ISA version and target for what a module uses; the version also knows the module's own target. What
// every GPU from sm_80 on has from ISA 7.0 on is not told apart. An instruction that is not in the table needs nothing:
// Check reports it.
func (m *Module) Needs() Need {
	n := Need{Version: m.Target.minVersion()}
	var found match
	for _, k := range m.Kernels {
		for i := range k.Body {
			if found.find(&k.Body[i]) == nil {
				n = n.and(found.need).and(k.Body[i].specials())
			}
		}
	}
	return n.and(Need{Version: max(n.Target.minVersion(), 60)})
}

// specials is what the special registers that an instruction reads need.
func (in *Inst) specials() Need {
	var n Need
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == SpecialOperand {
			if r, ok := special(o.Name); ok {
				n = n.and(r.Needs)
			}
		}
	}
	return n
}

// checker gathers faults.
type checker struct {
	module *Module
	kernel *Kernel
	vars   map[string]*Var // what the kernel sees: parameters, its variables, the module's
	labels map[string]bool
	errs   []error
	match  match // of the instruction at hand
}

// report adds a fault, unless there are enough.
func (c *checker) report(format string, args ...any) {
	if len(c.errs) < maxReports {
		c.errs = append(c.errs, fmt.Errorf("ptx: "+format, args...))
	}
}

// variable looks at a declaration in a scope of names.
func (c *checker) variable(where string, v *Var, names map[string]bool) {
	switch {
	case !validName(v.Name):
		c.report("%s: %q is not the name of a variable", where, v.Name)
	case names[v.Name]:
		c.report("%s: %s is declared twice", where, v.Name)
	case !v.Type.variable():
		c.report("%s: %s: no variable can be of type %s", where, v.Name, v.Type)
	case v.Align < 0 || v.Align&(v.Align-1) != 0:
		c.report("%s: %s: alignment %d is not a power of two", where, v.Name, v.Align)
	case v.Count < 0 || v.Count > maxVarBytes:
		c.report("%s: %s has %d elements", where, v.Name, v.Count)
	case len(v.Init) > v.bytes() || len(v.Init) > 0 && v.Space != Global && v.Space != Const:
		c.report("%s: %s: %d bytes of initial values in %d of %s memory", where, v.Name, len(v.Init), v.bytes(), v.Space)
	}
	names[v.Name] = true
}

// bytes is the size of a variable, 0 if it is given at launch.
func (v *Var) bytes() int {
	if v.Extern {
		return 0
	}
	return max(v.Count, 1) * v.Type.Bits() / 8
}

// alignment is what the address of a variable is a multiple of.
func (v *Var) alignment() int { return max(v.Align, v.Type.Bits()/8, 1) }

// validName reports whether a name can be declared.
func validName(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i]) || i > 0 && s[i] == '%' || i == 0 && '0' <= s[i] && s[i] <= '9' {
			return false
		}
	}
	return len(s) > 1 || len(s) == 1 && strings.Trim(s, "_$%") != ""
}

// checkKernel looks at a kernel: declarations first.
func (c *checker) checkKernel() {
	k := c.kernel
	where := "kernel " + k.Name
	if !validName(k.Name) {
		c.report("%q is not the name of a kernel", k.Name)
	}
	names := map[string]bool{}
	c.vars, c.labels = map[string]*Var{}, map[string]bool{}
	for i := range c.module.Vars {
		c.vars[c.module.Vars[i].Name] = &c.module.Vars[i]
	}
	params := 0
	for i := range k.Params {
		v := &k.Params[i]
		c.variable(where, v, names)
		c.vars[v.Name] = v
		params = (params+v.alignment()-1)&^(v.alignment()-1) + v.bytes()
	}
	if params > maxParams {
		c.report("%s: %d bytes of parameters, at most %d are possible", where, params, maxParams)
	}
	for i := range k.Vars {
		if k.Vars[i].Extern {
			c.report("%s: external %s must be a variable of the module", where, k.Vars[i].Name)
		}
		c.variable(where, &k.Vars[i], names)
		c.vars[k.Vars[i].Name] = &k.Vars[i]
	}
	for _, r := range k.Regs {
		switch {
		case !validName(r.Name) || names[r.Name]:
			c.report("%s: register %s is declared twice or no name", where, r.Name)
		case !r.Type.variable() && r.Type != Pred || r.Type.Bits() == 8:
			c.report("%s: no register can be of type %s, as %s", where, r.Type, r.Name)
		}
		names[r.Name] = true
	}
	at := 0
	for _, l := range k.Labels {
		if !validName(l.Name) || names[l.Name] || l.At < at || l.At > len(k.Body) {
			c.report("%s: label %s before instruction %d is a duplicate or out of order", where, l.Name, l.At)
		}
		names[l.Name], c.labels[l.Name], at = true, true, l.At
	}
	for i := range k.Body {
		c.instruction(i)
	}
	c.shared(where)
}

// shared looks at the static shared memory that the kernel names or declares.
func (c *checker) shared(where string) {
	used := map[string]bool{}
	for i := range c.kernel.Vars {
		used[c.kernel.Vars[i].Name] = true
	}
	for i := range c.kernel.Body {
		for _, o := range c.kernel.Body[i].Args {
			used[o.Name] = used[o.Name] || o.Kind == SymbolOperand || o.Kind == AddrOperand
		}
	}
	bytes := 0
	for _, v := range slices.Concat(c.module.Vars, c.kernel.Vars) {
		if v.Space == Shared && used[v.Name] {
			bytes = (bytes+v.alignment()-1)&^(v.alignment()-1) + v.bytes()
		}
	}
	if bytes > maxStaticShared {
		c.report("%s: %d bytes of static shared memory, at most %d are possible: use dynamic shared memory",
			where, bytes, maxStaticShared)
	}
}

// instruction looks at one instruction.
func (c *checker) instruction(i int) {
	in := &c.kernel.Body[i]
	if err := c.instructionFault(in); err != nil {
		place := fmt.Sprintf("instruction %d", i)
		if in.Line > 0 {
			place = fmt.Sprintf("line %d", in.Line)
		}
		c.report("kernel %s: %s: %s: %w", c.kernel.Name, place, clip(c.kernel.Text(in)), err)
	}
}

// instructionFault is what is wrong with an instruction.
func (c *checker) instructionFault(in *Inst) error {
	m := &c.match
	if err := m.find(in); err != nil {
		return err
	}
	need := m.need.and(in.specials())
	switch {
	case c.module.Version < need.Version:
		return fmt.Errorf("needs .version %s, not %s", need.Version, c.module.Version)
	case !c.module.Target.meets(need.Target):
		return fmt.Errorf("needs .target %s, not %s", need.Target, c.module.Target)
	}
	if in.Guard.On {
		if t, ok := c.typeOf(in.Guard.Reg); !ok || t != Pred {
			return errors.New("the guard is not a predicate")
		}
		if in.aligned() {
			return errors.New("all threads of a warp must execute this together: branch around it, do not guard it")
		}
	}
	for j := range in.Args {
		if err := c.operand(m, j, &in.Args[j]); err != nil {
			return fmt.Errorf("operand %d: %w", j+1, err)
		}
	}
	return in.barrier()
}

// aligned reports whether all threads of a warp must execute an instruction together.
func (in *Inst) aligned() bool {
	return strings.HasPrefix(in.Op, "bar.") && in.Op != "bar.warp.sync" || slices.Contains(in.Mods, "aligned")
}

// barrier looks at the constants of a barrier.
func (in *Inst) barrier() error {
	if !strings.HasPrefix(in.Op, "bar") || in.Op == "bar.warp.sync" {
		return nil
	}
	at := 0
	if in.Op == "bar.red" {
		at = 1
	}
	for i, o := range in.Args[min(at, len(in.Args)):] {
		switch {
		case o.Kind != ImmOperand:
		case i == 0 && (o.Imm < 0 || o.Imm > 15):
			return fmt.Errorf("barrier %d is not one of 0 to 15", o.Imm)
		case i == 1 && at == 0 && (o.Imm <= 0 || o.Imm%32 != 0):
			return fmt.Errorf("%d threads are not whole warps", o.Imm)
		}
	}
	return nil
}
