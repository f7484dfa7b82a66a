package cuda

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
	"github.com/trtui/trtui/kernels/cuda/ptxsim"
)

// trial is a work with its inputs, to be run on the simulator in many ways.
type trial struct {
	binding kernels.Binding
	work    *work
	scratch int
	inputs  [][]byte // as stored
	want    graph.Value
}

// trialOf emits a tile's product for a convolution of the geometry.
func trialOf(t *testing.T, tl tile, x, w [4]int, pad, stride int, zero int32) *trial {
	t.Helper()
	return trialBy(t, productEmitter("", graph.Conv, kernels.NHWC, tl), units[tl.unit].typ, x, w, pad, stride, zero)
}

// trialBy emits a convolution of the geometry with an emitter.
func trialBy(t *testing.T, e emitter, typ graph.DataType, x, w [4]int, pad, stride int, zero int32) *trial {
	t.Helper()
	return trialWith(t, e, graph.Conv, graph.ConvAttrs{Strides: []int{stride, stride}, Pads: []int{pad, pad, pad, pad}, Group: 1}, typ, x, w, zero)
}

// trialWith emits a convolution, plain or transposed, with an emitter.
func trialWith(t *testing.T, e emitter, op *graph.Op, attrs any, typ graph.DataType, x, w [4]int, zero int32) *trial {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	in := &graph.Tensor{Name: "x", Type: typ, Dims: graph.Shape(x[:]...)}
	weights := &graph.Tensor{Name: "w", Type: typ, Dims: graph.Shape(w[:]...)}
	if typ == graph.I8 {
		in.Range, weights.Range = graph.PerTensor(0.03, zero), graph.PerTensor(0.01, 0)
	}
	weights.Weights = suite.Random(rnd, weights).Data
	l := &graph.Layer{Name: "conv", Op: op, From: []string{"conv"}, Attrs: attrs}
	l.AddInput(in)
	l.AddInput(weights)
	y := &graph.Tensor{Name: "y", Producer: l}
	l.Outputs = []*graph.Tensor{y}
	if err := l.Infer(); err != nil {
		t.Fatal(err)
	}
	if typ == graph.I8 {
		y.Type, y.Range = graph.I8, graph.PerTensor(0.4, -3)
	}
	b, _ := bindingOf(l, e)
	if err := e.matches(b); err != nil {
		t.Fatal(err)
	}
	work, err := e.emit(b)
	if err != nil {
		t.Fatal(err)
	}
	tr := &trial{binding: b, work: work}
	if e.workspace != nil {
		tr.scratch = e.workspace(b)
	}
	v := suite.Random(rnd, in)
	stored := make([]byte, b.In[0].Bytes())
	b.In[0].FromLinear(stored, v.Data)
	tr.inputs = [][]byte{stored}
	tr.want = graph.NewValue(y.Type, graph.EvalDims(y.Dims, nil)...)
	if err := l.Eval([]graph.Value{v, {Type: typ, Dims: w[:], Data: weights.Weights}}, []graph.Value{tr.want}); err != nil {
		t.Fatal(err)
	}
	return tr
}

// run runs a module in place of the work's own and returns the statistics of each launch, and whether the output was right.
func (tr *trial) run(t *testing.T, m *ptx.Module, opt ptxsim.Options) (stats []*ptxsim.Stats, right bool, err error) {
	t.Helper()
	mem := ptxsim.NewMemory(1 << 30)
	alloc := func(data []byte, n int) uint64 {
		p, err := mem.Alloc(int64(max(n, len(data), 1)))
		if err == nil && data != nil {
			err = mem.Write(p, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	constants, scratch := alloc(tr.work.constants, 0), alloc(nil, tr.scratch)
	in, out := alloc(tr.inputs[0], 0), alloc(nil, tr.binding.Out[0].Bytes())
	counters := alloc(make([]byte, 4*maxCounters), 0)
	program, err := ptxsim.Load(mem, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range tr.work.launches {
		var params []byte
		for _, a := range l.args {
			base := map[argKind]uint64{inputArg: in, outputArg: out, constantArg: constants, workspaceArg: scratch, counterArg: counters}[a.kind]
			params = binary.LittleEndian.AppendUint64(params, base+uint64(a.offset))
		}
		s, err := program.Launch(context.Background(), l.kernel, ptxsim.Shape{Grid: l.grid, Block: l.block, Shared: l.shared}, params, opt)
		if err != nil {
			return stats, false, err
		}
		stats = append(stats, s)
	}
	left := make([]byte, 4*maxCounters)
	if err := mem.Read(counters, left); err != nil || slices.Max(left) != 0 {
		return stats, false, err
	}
	stored := make([]byte, tr.binding.Out[0].Bytes())
	if err := mem.Read(out, stored); err != nil {
		return stats, false, err
	}
	got := graph.NewValue(tr.want.Type, tr.want.Dims...)
	tr.binding.Out[0].ToLinear(got.Data, stored)
	return stats, suite.Near(got, tr.want, tr.binding.Layer.Outputs[0].Range, suite.Tolerance{Real: 1e-3}) == nil, nil
}

// conflictFree asserts that no access of a product to shared memory meets in a bank, and that copies, operands and sums are
// among those measured.
func conflictFree(t *testing.T, s *ptxsim.Stats) {
	t.Helper()
	conflicts(t, s, func(string) int { return 1 })
}

// conflicts asserts that each access to shared memory takes no more passes than most says of the instruction, and that
// copies, operands and sums are among those measured.
func conflicts(t *testing.T, s *ptxsim.Stats, most func(op string) int) {
	t.Helper()
	measured := map[string]bool{}
	for _, in := range s.Insts {
		if in.Conflicts > 0 {
			measured[strings.SplitN(in.Op, ".", 2)[0]] = true
		}
		if in.Conflicts > most(in.Op) {
			t.Errorf("%s meets in %d banks, %.2f on the mean", in.Text, in.Conflicts, in.MeanConflicts)
		}
	}
	for _, op := range []string{"cp", "ld", "st"} {
		if !measured[op] {
			t.Errorf("no %s to shared memory was measured", op)
		}
	}
}

// TestProductAccess: the ring's copies are coalesced, and nothing meets in a bank: neither copies, fragments and operands nor
// the sums that are written and read in rows.
func TestProductAccess(t *testing.T) {
	for _, u := range []unit{simtF32, tensorF16, tensorI8} {
		for _, tl := range tiles(u) {
			if tl.stages != 3 || tl.split != 1 {
				continue
			}
			t.Run(tl.String(), func(t *testing.T) {
				tr := trialOf(t, tl, [4]int{1, 128, 12, 12}, [4]int{256, 128, 1, 1}, 0, 1, 0)
				stats, right, err := tr.run(t, tr.work.module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
				if err != nil || !right {
					t.Fatal(right, err)
				}
				s := stats[0]
				if s.Abandoned != 0 {
					t.Errorf("nobody waits for %d copies", s.Abandoned)
				}
				conflictFree(t, s)
				if w := s.Worst("cp.async"); w == nil || w.Efficiency() < 1 {
					t.Errorf("copies are not coalesced: %+v", w)
				}
				if w := s.Worst("st.global"); w.Efficiency() < 1 {
					t.Errorf("outputs are not coalesced: %+v", w)
				}
			})
		}
	}
}

// TestProductOrderings leaves each barrier, wait and commit out of a product's kernel: each time the simulator must find
// it, or the result be wrong.
func TestProductOrderings(t *testing.T) {
	for _, u := range []unit{simtF32, tensorF16, tensorI8} {
		list := slices.DeleteFunc(tiles(u), func(t tile) bool { return t.split > 1 || t.stages > 3 })
		tl := list[len(list)-1] // the smallest
		t.Run(tl.String(), func(t *testing.T) {
			tr := trialOf(t, tl, [4]int{1, 40, 7, 9}, [4]int{48, 40, 3, 3}, 1, 1, 5)
			tr.needsOrderings(t)
		})
	}
}

// TestSharedSums splits sums among blocks: the result is right in whatever order they end, and the last one must not go on
// before the barrier that tells it so.
func TestSharedSums(t *testing.T) {
	for _, u := range []unit{simtF32, tensorF16, tensorI8} {
		tl := tiles(u)[len(tiles(u))-1]
		if tl.split < 8 {
			t.Fatalf("%s is not split", tl)
		}
		t.Run(tl.String(), func(t *testing.T) {
			tr := trialOf(t, tl, [4]int{1, 256, 5, 9}, [4]int{72, 256, 3, 3}, 1, 1, 5)
			if !tr.survives(t, tr.work.module) {
				t.Fatal("the result is wrong")
			}
			k := tr.work.module.Kernels[0]
			count := slices.IndexFunc(k.Body, func(i ptx.Inst) bool { return i.Op == "atom" })
			found := ptxsim.Orderings(k)
			next := found[slices.IndexFunc(found, func(i int) bool { return i > count })]
			broken, err := ptxsim.Without(tr.work.module, k.Name, next)
			if err != nil {
				t.Fatal(err)
			}
			if tr.survives(t, broken) {
				t.Errorf("nothing tells that %q is missing at %d", k.Text(&k.Body[next]), next)
			}
		})
	}
}

// needsOrderings leaves each barrier, wait and commit of the kernel out: each time the simulator must find it, or the result
// be wrong.
func (tr *trial) needsOrderings(t *testing.T) {
	t.Helper()
	k := tr.work.module.Kernels[0]
	found := ptxsim.Orderings(k)
	if len(found) < 6 {
		t.Fatalf("%d orderings in the kernel", len(found))
	}
	for _, i := range found {
		broken, err := ptxsim.Without(tr.work.module, k.Name, i)
		if err != nil {
			t.Fatal(err)
		}
		if tr.survives(t, broken) {
			t.Errorf("nothing tells that %q is missing at %d", k.Text(&k.Body[i]), i)
		}
	}
}

// survives reports whether a module does as well as the whole one in every mode.
func (tr *trial) survives(t *testing.T, m *ptx.Module) bool {
	for _, async := range []ptxsim.Async{ptxsim.Late, ptxsim.Early} {
		for seed := range uint64(3) {
			if _, right, err := tr.run(t, m, ptxsim.Options{Async: async, Seed: seed, Races: true}); err != nil || !right {
				return false
			}
		}
	}
	return true
}
