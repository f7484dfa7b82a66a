package reductions

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// rowTrial emits a softmax or a normalisation of rows.
func rowTrial(t *testing.T, op *graph.Op, typ numeric.DataType, dims ...int) *emittest.Trial {
	t.Helper()
	x := &graph.Tensor{Name: "x", Type: typ, Dims: symbolic.Shape(dims...)}
	if op == graph.Softmax {
		return emittest.NewTrial(t, softmaxTactics()[0], emittest.LayerOf(t, op, graph.SoftmaxAttrs{Axis: -1}, x), rand.New(rand.NewPCG(1, 2)))
	}
	var scale *graph.Tensor
	in := []*graph.Tensor{x}
	for range 2 {
		scale = emittest.Weight(typ, dims[len(dims)-1])
		scale.Weights = numeric.NewValue(typ, dims[len(dims)-1]).Data
		for i := range scale.Weights {
			scale.Weights[i] = byte(i) & 0x3f // small numbers
		}
		in = append(in, scale)
	}
	l := emittest.LayerOf(t, op, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, in...)
	for _, e := range momentTactics() {
		if e.Op == op {
			return emittest.NewTrial(t, e, l, rand.New(rand.NewPCG(1, 2)))
		}
	}
	t.Fatal("no tactic")
	return nil
}

// TestWideRows: rows whose length is a multiple of 16 bytes are read and written so by each thread, once; each element has one
// exponential.
func TestWideRows(t *testing.T) {
	for _, op := range []*graph.Op{graph.Softmax, graph.LayerNorm} {
		for _, typ := range []numeric.DataType{numeric.F32, numeric.F16} {
			for _, dims := range [][]int{{64, 128}, {16, 32}, {16, 768}, {16, 1000}, {16, 1024}, {3, 4096}, {2, 8192}} {
				t.Run(fmt.Sprint(op.Name, typ, dims), func(t *testing.T) {
					tr := rowTrial(t, op, typ, dims...)
					stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
					if err != nil || !right {
						t.Fatal(right, err)
					}
					n, s := int64(numeric.Count(dims)), stats[0]
					var read, written, powers int64
					for _, in := range s.Insts {
						wide := strings.HasSuffix(in.Op, "v4.b32")
						switch {
						case strings.HasPrefix(in.Op, "st.global"):
							written += 16 * in.Lanes
						case strings.HasPrefix(in.Op, "ld.global"):
							read += 16 * in.Lanes
						case strings.HasPrefix(in.Op, "ex2"):
							powers += in.Lanes
							continue
						default:
							continue
						}
						if !wide {
							t.Errorf("%s is narrower than 16 bytes", in.Text)
						}
					}
					bytes := n * int64(typ.Size())
					if written != bytes || op == graph.Softmax && (read != bytes || powers != n) {
						t.Errorf("%d bytes are read, %d written, of %d; %d powers of %d elements", read, written, bytes, powers, n)
					}
				})
			}
		}
	}
}

// TestOddRows: rows of any length, which begin anywhere, are right in every order of threads, and are still read by 16 bytes
// where they are long.
func TestOddRows(t *testing.T) {
	for _, op := range []*graph.Op{graph.Softmax, graph.LayerNorm} {
		for _, typ := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
			for _, dims := range [][]int{{1, 1}, {5, 3}, {33, 10}, {7, 33}, {3, 127}, {5, 129}, {3, 1001}, {3, 1026}, {1, 8191}, {2, 9001}} {
				if typ == numeric.I8 && op != graph.Softmax {
					continue
				}
				t.Run(fmt.Sprint(op.Name, typ, dims), func(t *testing.T) {
					x := &graph.Tensor{Name: "x", Type: typ, Dims: symbolic.Shape(dims...), Range: numeric.Range{}}
					var tr *emittest.Trial
					if typ == numeric.I8 {
						x.Range = numeric.PerTensor(0.05, 3)
						l := emittest.LayerOf(t, op, graph.SoftmaxAttrs{Axis: -1}, x)
						l.Outputs[0].Type, l.Outputs[0].Range = typ, numeric.PerTensor(1.0/256, -128)
						tr = emittest.NewTrial(t, softmaxTactics()[0], l, rand.New(rand.NewPCG(1, 2)))
						tr.Tolerance.Step = 1
					} else {
						tr = rowTrial(t, op, typ, dims...)
					}
					if !tr.Survives(t, tr.Work.Module) {
						_, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Races: true})
						t.Fatal(right, err)
					}
				})
			}
		}
	}
	tr := rowTrial(t, graph.Softmax, numeric.F16, 2, 50257)
	stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
	if err != nil || !right {
		t.Fatal(right, err)
	}
	var narrow, all int64
	for _, in := range stats[0].Insts {
		if strings.Contains(in.Op, ".global") {
			if all += in.Lanes; !strings.HasSuffix(in.Op, "v4.b32") {
				narrow += in.Lanes
			}
		}
	}
	if narrow > all/100 {
		t.Errorf("%d of %d accesses are narrower than 16 bytes", narrow, all)
	}
}

// TestAssembledRows: what stays in registers is not spilled.
func TestAssembledRows(t *testing.T) {
	tool := emittest.Assembler(t)
	for _, op := range []*graph.Op{graph.Softmax, graph.LayerNorm} {
		for _, typ := range []numeric.DataType{numeric.F32, numeric.F16} {
			for _, dims := range [][]int{{64, 128}, {64, 1000}, {8, 1001}, {8, 8192}, {4, 50257}} {
				tr := rowTrial(t, op, typ, dims...)
				for _, arch := range []string{"sm_80", "sm_90a"} {
					if n := emittest.Registers(t, tool, arch, tr.Work.Module.String()); n > 80 {
						t.Errorf("%s %s %v, %s: %d registers", op.Name, typ, dims, arch, n)
					}
				}
			}
		}
	}
}
