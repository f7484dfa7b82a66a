package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
)

// TestMaskedSoftmax: -infinity masks elements, whole vectors of them and all of what a thread has, whether the largest is known
// before the sum or not; rows with nothing else, and those with NaN or infinity, are what Eval has.
func TestMaskedSoftmax(t *testing.T) {
	b := simulated(t)
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	inf := float32(math.Inf(1))
	for _, dims := range [][]int{{6, 10}, {6, 100}, {6, 1001}, {6, 8192}, {6, 9001}, {6, 10, 7}} {
		for _, log := range []bool{false, true} {
			t.Run(fmt.Sprint(dims, log), func(t *testing.T) {
				x := &graph.Tensor{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(dims...)}
				l := &graph.Layer{Name: "softmax", Op: graph.Softmax, Attrs: graph.SoftmaxAttrs{Axis: 1, Log: log}, Outputs: []*graph.Tensor{{Name: "y"}}}
				l.AddInput(x)
				if err := l.Infer(); err != nil {
					t.Fatal(err)
				}
				rnd := rand.New(rand.NewPCG(3, 4))
				in := suite.Random(rnd, x)
				row, inner := len(in.F32())/6, len(in.F32())/6/dims[1]
				for i := range in.F32() {
					v, at := &in.F32()[i], i%row/inner
					switch i / row {
					case 0: // half of it
						if rnd.IntN(2) == 0 {
							*v = -inf
						}
					case 1: // all but the last
						if at+1 < dims[1] {
							*v = -inf
						}
					case 2:
						*v = -inf
					case 3:
						if at == dims[1]/2 {
							*v = inf
						}
					case 4:
						if at == dims[1]/3 {
							*v = float32(math.NaN())
						}
					case 5:
						*v *= 1e30
					}
				}
				out := numeric.NewValue(numeric.F32, dims...)
				if err := l.Eval([]numeric.Value{in}, []numeric.Value{out}); err != nil {
					t.Fatal(err)
				}
				for _, tac := range b.Tactics(graph.Softmax) {
					binding, ok := suite.Bind(l, tac, 0)
					if tac.Reference || !ok || tac.Match(binding) != nil {
						continue
					}
					k, err := tac.Bind(binding)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := suite.Check(b, s, tac, binding, k, []suite.Reference{{In: []numeric.Value{in}, Out: []numeric.Value{out}}}, suite.Tolerance{Real: 1e-5}, false); err != nil {
						t.Errorf("%s: %v", tac.Name, err)
					}
					kernels.Close(k)
				}
			})
		}
	}
}
