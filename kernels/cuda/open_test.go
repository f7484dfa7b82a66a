package cuda

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// wideOpen is a device whose kernels have all the numbers of their code as parameters.
type wideOpen struct {
	*Backend
	opened map[string]bool // tactics
}

func (v wideOpen) Tactics(op *graph.Op) []kernels.Tactic {
	device := emit.Device{SM: v.ctx.Device().SM, Shared: v.ctx.Device().SharedPerBlockMax}
	emits := map[string]emit.Tactic{}
	for _, e := range Tactics() {
		if _, elementwise := op.Attrs.(graph.Elementwise); e.Op == op || e.Op == graph.Pointwise && elementwise {
			emits[e.Name] = e
		}
	}
	list := v.Backend.Tactics(op)
	for i := range list {
		e, bind := emits[list[i].Name], list[i].Bind
		if e.Emit == nil {
			continue
		}
		list[i].Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			w, err := e.Work(device, b)
			if err != nil {
				return nil, err
			}
			if !openWide(w) {
				return bind(b)
			}
			v.opened[e.Name] = true
			return v.Bind(w)
		}
	}
	return list
}

// openWide makes all numbers of a work's code parameters. It reports false where there are none, or too many.
func openWide(w *emit.Work) bool {
	n := w.Module.Numbers()
	group, first := make([]int, len(n.Values)), map[string]int{}
	for i, v := range n.Values {
		key := fmt.Sprint(n.Type(i), v)
		if _, ok := first[key]; !ok {
			first[key] = i
		}
		group[i] = first[key]
	}
	m, read := n.Open(w.Module, group)
	w.Module = m
	for i := range w.Launches {
		l := &w.Launches[i]
		for _, at := range read[slices.IndexFunc(m.Kernels, func(k *ptx.Kernel) bool { return k.Name == l.Kernel })] {
			l.Args = append(l.Args, emit.NumberArg(n.Type(at), n.Values[at]))
		}
	}
	return 0 < len(first) && len(first) < 400
}

// TestWideOpen runs a tactic of each family whose kernels have all the numbers of their code as parameters, on the first layer
// of the suite that it computes; with TRTUI_SIM=full every tactic on two.
func TestWideOpen(t *testing.T) {
	v := wideOpen{simulated(t), map[string]bool{}}
	v.ctx.(*simulator.Context).Races = true
	family := map[string]string{}
	for _, e := range v.tactics {
		family[e.Name] = cmp.Or(e.Variant.Family, e.Name)
	}
	full := os.Getenv("TRTUI_SIM") == "full"
	ran := map[string]int{}
	runtest.Tactics(t, v, suite.Layers(), func(_, tactic string) bool {
		if full {
			ran[tactic]++
			return ran[tactic] <= 2
		}
		ran[family[tactic]]++
		return ran[family[tactic]] == 1
	})
	if least := len(ran) * 9 / 10; len(v.opened) < least {
		t.Errorf("%d tactics of %d were opened", len(v.opened), len(ran))
	}
}

// TestOpen brings models to shapes of a range: the code of those before serves most of them.
func TestOpen(t *testing.T) {
	root := os.Getenv("TRTUI_DATA")
	if root == "" {
		t.Skip("TRTUI_DATA is not set: the trained models are not here")
	}
	for _, m := range []struct {
		file          string
		min, opt, max map[string]int
		multiple      int // of which extents are
		most          int // modules compiled at a shape on average, once a few have come
	}{
		{"yunet-face/yunet_n_dynamic.onnx", map[string]int{"batch": 1, "height": 64, "width": 64},
			map[string]int{"batch": 1, "height": 320, "width": 320}, map[string]int{"batch": 1, "height": 640, "width": 640}, 32, 20},
		{"stories260K-llama/stories260K_dyn.onnx", map[string]int{"batch": 1, "seq": 1},
			map[string]int{"batch": 1, "seq": 32}, map[string]int{"batch": 3, "seq": 256}, 1, 4},
	} {
		t.Run(filepath.Base(m.file), func(t *testing.T) {
			n := readModel(t, filepath.Join(root, "models", m.file))
			b := simulated(t)
			l, err := modelCase{network: n, env: m.opt}.lower(b, numeric.F32)
			if err != nil {
				t.Fatal(err)
			}
			p, err := build.Plan(t.Context(), l, m.opt, b, build.PlanConfig{Untimed: true, Min: m.min, Max: m.max})
			if err != nil {
				t.Fatal(err)
			}
			_, c := loaded(t, b, p)
			r := rand.New(rand.NewPCG(1, 2))
			shapes, early, first := *openShapes, 0, b.CodeUse().Compiled
			for round := range shapes {
				if round == shapes/2 {
					early = b.CodeUse().Compiled
				}
				env := map[string]int{}
				for name, low := range m.min {
					if env[name] = low + r.IntN(m.max[name]-low+1); low >= m.multiple {
						env[name] = env[name] / m.multiple * m.multiple
					}
				}
				to := map[string][]int{}
				for _, x := range n.Inputs {
					to[x.Name] = symbolic.Eval(x.Dims, env)
				}
				if err := c.SetShapes(to); err != nil {
					t.Fatalf("at %v: %v", env, err)
				}
			}
			late := b.CodeUse().Compiled - early
			t.Logf("%d steps: %d modules compiled for the plan, %d at %d shapes, %d at %d more", len(p.Steps), first, early-first, shapes/2, late, shapes-shapes/2)
			if most := m.most * (shapes - shapes/2); late > most {
				t.Errorf("%d modules were compiled at the last shapes, want at most %d", late, most)
			}
		})
	}
}

var openShapes = flag.Int("open-shapes", 20, "at how many shapes TestOpen counts what is compiled")
