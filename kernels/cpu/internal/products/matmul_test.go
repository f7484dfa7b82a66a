package products

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TestMatMul multiplies activations: few rows and many, one product, several and many, matrices that a worker packs by itself
// and larger ones, matrices that are one for all, and a constant on either side.
func TestMatMul(t *testing.T) {
	for _, x := range []struct{ left, right []int }{
		{[]int{1, 7}, []int{7, 5}}, {[]int{12, 1, 64}, []int{12, 64, 129}}, {[]int{12, 1, 129}, []int{12, 129, 64}}, {[]int{1, 33}, []int{33, 700}},
		{[]int{2, 8, 40}, []int{2, 40, 70}}, {[]int{3, 5, 6}, []int{3, 6, 1}}, {[]int{9, 9, 20}, []int{9, 20, 33}}, {[]int{2, 20, 30}, []int{2, 30, 40}},
		{[]int{8, 9, 600}, []int{8, 600, 500}}, {[]int{4, 3, 10}, []int{10, 20}}, {[]int{4, 30, 10}, []int{10, 20}}, {[]int{3, 10}, []int{5, 10, 20}},
		{[]int{30, 10}, []int{5, 10, 20}}, {[]int{1, matmulDepth + 1}, []int{matmulDepth + 1, 2}},
		{[]int{3, 2, 9, 10}, []int{2, 10, 20}}, {[]int{2, 1, 5, 10}, []int{3, 10, 20}}, {[]int{4, 1, 30, 7}, []int{1, 3, 7, 18}}, {[]int{3, 1, 1, 12, 7}, []int{1, 2, 5, 7, 18}},
	} {
		for _, features := range cputest.FeatureSets() {
			for _, workers := range cputest.WorkerCounts() {
				for fixed := -1; fixed < len(x.right)-1 && fixed < 2; fixed++ { // a matrix on the right is another tactic's
					t.Run(fmt.Sprintf("%v/%v/%v/%d/%d", x.left, x.right, features, workers, fixed), func(t *testing.T) { testMatMul(t, x.left, x.right, fixed, features, workers) })
				}
			}
		}
	}
}

// testMatMul multiplies matrices of which that of input fixed, if it is one, is a constant.
func testMatMul(t *testing.T, left, right []int, fixed int, features asm.Features, workers int) {
	d := graph.Define("product")
	input := func(name string, dims []int) *graph.Tensor {
		var x []symbolic.Dim
		for _, n := range dims {
			x = append(x, symbolic.Const(n))
		}
		return d.Input(name, numeric.F32, x...)
	}
	d.Output("y", d.MatMul(input("a", left), input("b", right)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	l, dims := n.Layers[0], []int{}
	for _, x := range n.Outputs[0].Dims {
		dims = append(dims, x.Eval(nil))
	}
	desc := func(dims []int) kernels.Desc { return kernels.Desc{Type: numeric.F32, Dims: dims} }
	bind := kernels.Binding{Layer: l, In: []kernels.Desc{desc(left), desc(right)}, Out: []kernels.Desc{desc(dims)}, Consts: make([][]byte, 2)}
	r := rand.New(rand.NewPCG(1, 2))
	x, y, z := cputest.Normals(r, numeric.Count(left)), cputest.Normals(r, numeric.Count(right)), make([]float32, numeric.Count(dims))
	mem := func(v []float32) kernels.Mem { return kernels.Mem{Host: numeric.Bytes(v)} }
	in := []kernels.Mem{mem(x), mem(y)}
	if fixed >= 0 {
		bind.Consts[fixed], in[fixed] = in[fixed].Host, kernels.Mem{}
	}
	if err := matchMatMul(bind); err != nil {
		t.Fatal(err)
	}
	k, err := bindMatMul(bind, features, workers)
	if err != nil {
		t.Fatal(err)
	}
	p := work.NewPool(workers)
	defer p.Close()
	if err := k.Launch(work.NewStream(p), in, []kernels.Mem{mem(z)}, kernels.Mem{}); err != nil {
		t.Fatal(err)
	}
	want := make([]float32, len(z))
	value := func(v []float32, dims []int) numeric.Value {
		return numeric.Value{Type: numeric.F32, Dims: dims, Data: numeric.Bytes(v)}
	}
	if err := l.Eval([]numeric.Value{value(x, left), value(y, right)}, []numeric.Value{value(want, dims)}); err != nil {
		t.Fatal(err)
	}
	for i, v := range z {
		if !(math.Abs(float64(v-want[i])) <= 1e-5*(1+math.Sqrt(float64(left[len(left)-1])))) {
			t.Fatalf("element %d = %g, want %g", i, v, want[i])
		}
	}
}
