package ptxsim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Orderings lists the instructions of a kernel, by index, that do nothing but order others: barriers, fences, the commits
// and the waits of asynchronous copies. Without any one of them the kernel should fail a test; if it does not, either the
// instruction is of no use or the test is too weak.
func Orderings(k *ptx.Kernel) []int {
	var at []int
	for i := range k.Body {
		name := strings.Join(append([]string{k.Body[i].Op}, k.Body[i].Mods...), ".")
		root, _, _ := strings.Cut(name, ".")
		switch {
		case root == "bar", root == "barrier", root == "fence", root == "membar",
			name == "griddepcontrol.wait", strings.Contains(name, "wait_group"), strings.Contains(name, "wait_all"), strings.Contains(name, "commit_group"):
			at = append(at, i)
		}
	}
	return at
}

// Without returns m with instruction i of a kernel left out. Nothing else differs; m itself stays as it is.
func Without(m *ptx.Module, kernel string, i int) (*ptx.Module, error) {
	out := *m
	out.Kernels = slices.Clone(m.Kernels)
	for n, k := range m.Kernels {
		if k.Name != kernel {
			continue
		}
		if i < 0 || i >= len(k.Body) {
			return nil, fmt.Errorf("kernel %s: has no instruction %d", kernel, i)
		}
		c := *k
		c.Body = slices.Delete(slices.Clone(k.Body), i, i+1)
		c.Labels = slices.Clone(k.Labels)
		for l := range c.Labels {
			if c.Labels[l].At > i {
				c.Labels[l].At--
			}
		}
		out.Kernels[n] = &c
		return &out, nil
	}
	return nil, fmt.Errorf("kernel %s: not in the module", kernel)
}
