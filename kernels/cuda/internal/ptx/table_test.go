package ptx

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
)

// most is the most combinations of modifiers of a form that the tests try.
const most = 60

// TestForms prints, reads, compares and checks an instance of every form of the table.
func TestForms(t *testing.T) {
	for _, in := range instances(most) {
		text := in.module.String()
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		for i := range got.Kernels[0].Body {
			got.Kernels[0].Body[i].Line = 0
		}
		if !sameModule(got, in.module) {
			t.Errorf("%s\nread as\n%s\n%+v\n%+v", text, got, in.module.Kernels[0], got.Kernels[0])
		}
		if err := got.Check(); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if need := in.module.Needs(); !in.module.Target.meets(need.Target) || in.module.Version < need.Version ||
			need.Target != in.need.Target || need.Version < in.need.Version {
			t.Errorf("%s needs %v, found %v", in.text(), in.need, need)
		}
	}
}

// sameModule compares two modules; an empty slice is like none.
func sameModule(a, b *Module) bool {
	normalise := func(m *Module) Module {
		n := Module{Version: m.Version, Target: m.Target, Vars: append([]Var{}, m.Vars...)}
		for _, k := range m.Kernels {
			c := *k
			c.Params = append([]Var{}, k.Params...)
			c.Vars = append([]Var{}, k.Vars...)
			c.Regs = append([]Register{}, k.Regs...)
			c.Labels = append([]Label{}, k.Labels...)
			c.Body = append([]Inst{}, k.Body...)
			for i := range c.Body {
				c.Body[i].Mods = append([]string{}, c.Body[i].Mods...)
				c.Body[i].Args = append([]Operand{}, c.Body[i].Args...)
			}
			n.Kernels = append(n.Kernels, &c)
		}
		return n
	}
	return reflect.DeepEqual(normalise(a), normalise(b))
}

// TestFormsAssemble has NVIDIA's assembler read every instance, each for the lowest version and target from ISA 7.0 and
// sm_80 on that the table says it needs.
func TestFormsAssemble(t *testing.T) {
	tool, err := ptxas.Find()
	if errors.Is(err, ptxas.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	groups := map[Need][]instance{}
	var order []Need
	for _, in := range instances(most) {
		n := Need{in.module.Version, in.module.Target}
		if groups[n] == nil {
			order = append(order, n)
		}
		groups[n] = append(groups[n], in)
	}
	for _, n := range order {
		t.Run(fmt.Sprintf("%s_%s", n.Version, n.Target), func(t *testing.T) {
			all := &Module{Version: n.Version, Target: n.Target}
			vars := map[string]bool{}
			for i, in := range groups[n] {
				for _, v := range in.module.Vars {
					if !vars[v.Name] {
						all.Vars = append(all.Vars, v)
					}
					vars[v.Name] = true
				}
				k := *in.module.Kernels[0]
				k.Name = fmt.Sprintf("k%d", i)
				all.Kernels = append(all.Kernels, &k)
			}
			assemble(t, tool.Path, all)
		})
	}
}

// assemble has the assembler read a module and reports its errors with the lines they are about.
func assemble(t *testing.T, path string, m *Module) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.ptx")
	text := m.String()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "-arch", m.Target.String(), "-O0", "-o", os.DevNull, file).CombinedOutput()
	if err == nil {
		return
	}
	lines := strings.Split(text, "\n")
	for _, message := range strings.Split(string(out), "\n") {
		_, rest, ok := strings.Cut(message, "line ")
		var line int
		if _, err := fmt.Sscanf(rest, "%d;", &line); ok && err == nil && line <= len(lines) {
			t.Errorf("%s\n\t%s", strings.TrimSpace(lines[line-1]), message)
		}
	}
	t.Errorf("%s: %v\n%.2000s", path, err, out)
}
