package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run/suite"
	"github.com/trtui/trtui/kernels"
)

// assembler returns NVIDIA's assembler, where it is installed.
func assembler(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("TRTUI_PTXAS"); p != "" {
		return p
	}
	p, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not installed; TRTUI_PTXAS names one")
	}
	return p
}

var (
	registersUsed = regexp.MustCompile(`Used (\d+) registers`)
	spilled       = regexp.MustCompile(`(\d+) bytes spill stores`)
)

// assemble returns the registers and the bytes of spills of a module's greediest kernel.
func assemble(t *testing.T, ptxas, arch, text string) (registers, spills int) {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "kernel.ptx")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(ptxas, "-v", "-arch="+arch, in, "-o", filepath.Join(dir, "kernel.cubin")).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", arch, err, out)
	}
	most := func(re *regexp.Regexp) int {
		n := 0
		for _, m := range re.FindAllSubmatch(out, -1) {
			v, _ := strconv.Atoi(string(m[1])) // digits by the expression
			n = max(n, v)
		}
		return n
	}
	return most(registersUsed), most(spilled)
}

// TestAssembler gives every tile's kernel, on a convolution that it matches, to NVIDIA's assembler: it must take it, and
// spill nothing.
func TestAssembler(t *testing.T) {
	ptxas := assembler(t)
	b, err := OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	done := map[string]bool{}
	for _, c := range suite.Layers() {
		for _, e := range emitters() {
			if e.op != c.Layer.Op || done[e.name] {
				continue
			}
			binding, ok := bindingOf(c.Layer, e)
			if !ok || e.matches(binding) != nil {
				continue
			}
			done[e.name] = true
			t.Run(e.name, func(t *testing.T) {
				w, err := e.emit(binding)
				if err != nil {
					t.Fatal(err)
				}
				text := w.module.String()
				for _, arch := range []string{"sm_80", "sm_90a"} {
					registers, spills := assemble(t, ptxas, arch, text)
					t.Logf("%s: %d registers", arch, registers)
					if spills > 0 {
						t.Errorf("%s: %d bytes of spills with %d registers", arch, spills, registers)
					}
				}
			})
		}
	}
}

// bindingOf returns a layer's binding in an emitter's formats.
func bindingOf(l *graph.Layer, e emitter) (kernels.Binding, bool) {
	b := kernels.Binding{Layer: l, Consts: make([][]byte, len(l.Inputs))}
	desc := func(x *graph.Tensor, f kernels.Format) kernels.Desc {
		return kernels.Desc{Type: x.Type, Dims: graph.EvalDims(x.Dims, nil), Format: f}
	}
	for i, x := range l.Inputs {
		switch {
		case x == nil:
			b.In = append(b.In, kernels.Desc{})
		case x.IsConst():
			b.In, b.Consts[i] = append(b.In, desc(x, kernels.Linear)), x.Weights
		case i >= len(l.OpInputs()):
			b.In = append(b.In, desc(x, e.out))
		default:
			b.In = append(b.In, desc(x, e.in))
		}
	}
	for _, y := range l.Outputs {
		b.Out = append(b.Out, desc(y, e.out))
	}
	for _, d := range append(append([]kernels.Desc{}, b.In...), b.Out...) {
		if d.Format != kernels.Linear && len(d.Dims) < 2 {
			return b, false
		}
	}
	return b, true
}
