package ptx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxFaults is how many faults Validate reports.
const maxFaults = 20

// Validate checks a module: instructions against the table and their registers, labels and variables, what they need against
// the module's version and target, whole-warp instructions for guards, and static shared memory. It reports up to 20 faults.
func (m *Module) Validate() error {
	var faults []error
	for _, k := range m.Kernels {
		faults = append(faults, m.validateKernel(k)...)
	}
	if m.Version != 0 && m.Version < m.Target.minVersion() {
		faults = append(faults, fmt.Errorf("version %s does not know %s: that needs %s", m.Version, m.Target, m.Target.minVersion()))
	}
	return errors.Join(faults[:min(len(faults), maxFaults)]...)
}

func (m *Module) validateKernel(k *Kernel) []error {
	var faults []error
	names := map[string]bool{}
	for _, v := range slices.Concat(m.Vars, k.Params, k.Vars) {
		if names[v.Name] {
			faults = append(faults, fmt.Errorf("kernel %s: %s is declared twice", k.Name, v.Name))
		}
		names[v.Name] = true
	}
	labels := map[string]bool{}
	for _, l := range k.Labels {
		if labels[l.Name] || l.At < 0 || l.At > len(k.Body) {
			faults = append(faults, fmt.Errorf("kernel %s: label %s is declared twice or outside", k.Name, l.Name))
		}
		labels[l.Name] = true
	}
	if n := sharedBytes(m.Vars) + sharedBytes(k.Vars); n > maxStaticShared {
		faults = append(faults, fmt.Errorf("kernel %s: %d bytes of static shared memory where %d are allowed: use dynamic", k.Name, n, maxStaticShared))
	}
	for i := range k.Body {
		if err := m.validateInst(k, &k.Body[i], names, labels); err != nil {
			faults = append(faults, fmt.Errorf("kernel %s: %s: %s: %w", k.Name, place(&k.Body[i], i), k.Text(&k.Body[i]), err))
		}
	}
	return faults
}

// place is where an instruction stands: its line, or its number in a kernel that was not read from text.
func place(in *Inst, i int) string {
	if in.Line > 0 {
		return fmt.Sprintf("line %d", in.Line)
	}
	return fmt.Sprintf("instruction %d", i)
}

func (m *Module) validateInst(k *Kernel, in *Inst, names, labels map[string]bool) error {
	match, err := in.Match(k)
	if err != nil {
		return err
	}
	need := match.Need()
	if m.Version != 0 && m.Version < need.Version {
		return fmt.Errorf("it needs version %s and the module has %s", need.Version, m.Version)
	}
	if !m.Target.meets(need.Target) {
		return fmt.Errorf("it needs %s and the module is for %s", need.Target, m.Target)
	}
	if in.Guard.On {
		if r := k.register(in.Guard.Reg); r == nil || r.Type != Pred {
			return fmt.Errorf("the guard is not a predicate")
		}
		if in.Aligned() {
			return fmt.Errorf("all threads of a warp must execute it together, and it has a guard")
		}
	}
	for i := range in.Args {
		o := &in.Args[i]
		switch {
		case o.Kind == LabelOperand && !labels[o.Name]:
			return fmt.Errorf("label %s is not declared", o.Name)
		case (o.Kind == SymbolOperand || o.Kind == AddrOperand && !o.Base && o.Name != "") && !names[o.Name]:
			return fmt.Errorf("%s is not declared", o.Name)
		}
	}
	return nil
}

// Aligned reports whether all threads of a warp must execute the instruction together.
func (in *Inst) Aligned() bool {
	return slices.Contains(in.Mods, "aligned") || strings.HasPrefix(in.Op, "bar.") && in.Op != "bar.warp.sync"
}

// maxStaticShared is how many bytes of shared memory a module may declare for a block.
const maxStaticShared = 48 << 10

// sharedLimit is how many bytes of shared memory a block can have (CUDA C++ Programming Guide, "Compute Capabilities").
func (t Target) sharedLimit() int {
	switch t.SM {
	case 75:
		return 64 << 10
	case 80, 87:
		return 163 << 10
	case 86, 89, 120, 121:
		return 99 << 10
	case 90, 100, 101, 103, 110:
		return 227 << 10
	}
	return 96 << 10
}

// sharedBytes is how many bytes variables take in shared memory, each at its alignment.
func sharedBytes(vars []Var) int {
	n := 0
	for _, v := range vars {
		if v.Space == Shared && !v.Extern {
			size := max(1, v.Type.Bits()/8)
			align := max(v.Align, size)
			n = (n+align-1)/align*align + size*max(1, v.Count)
		}
	}
	return n
}
