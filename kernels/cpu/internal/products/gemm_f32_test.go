package products

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func TestGemm(t *testing.T) {
	shapes := [][3]int{{1, 1, 1}, {1, 10, 64}, {3, 31, 5}, {4, 33, 17}, {13, 48, 100}, {15, 16, 3}, {29, 65, 33}, {128, 96, 64},
		{250, 40, 7}, {5, 70, 4100}, {17, 130, 1022}, {150, 140, 510}, {0, 3, 3}}
	for _, shape := range shapes {
		for _, features := range cputest.FeatureSets() {
			for _, transposed := range []bool{false, true} {
				for _, workers := range cputest.WorkerCounts() {
					name := fmt.Sprintf("%dx%dx%d/%v/transposed=%v/%d", shape[0], shape[1], shape[2], features, transposed, workers)
					t.Run(name, func(t *testing.T) { testGemm(t, shape[0], shape[1], shape[2], features, transposed, false, workers) })
					t.Run(name+"/half", func(t *testing.T) { testGemm(t, shape[0], shape[1], shape[2], features, transposed, true, workers) })
				}
			}
		}
	}
}

func testGemm(t *testing.T, m, n, k int, features asm.Features, transposed, half bool, workers int) {
	r := rand.New(rand.NewPCG(1, uint64(m)))
	room := NewPackedB
	if half {
		room = NewHalfB
	}
	b, err := room(k, n, features)
	if err != nil {
		t.Fatal(err)
	}
	rows, stride := k, n+1
	if transposed {
		rows, stride = n, k+1
	}
	right := cputest.Normals(r, rows*stride)
	if half {
		halves := make([]uint16, len(right))
		work.HalfKernel(0).Narrow(halves, right)
		work.HalfKernel(0).Widen(right, halves)
	}
	b.Pack(right, stride, transposed)
	call := GemmF32Call{M: m, A: cputest.Normals(r, m*(k+2)), AStride: k + 2, B: b, Bias: cputest.Normals(r, n), Out: make([]float32, m*(n+3)),
		OutStride: n + 3, Residual: cputest.Normals(r, m*n), ResidualStride: n, Limits: [2]float32{-50, 70}, Workers: workers}
	call.Room = make([]float32, RoomF32(m, n, k, call.AStride))
	pieces := 0
	if workers == 1 {
		call.After = func(row, column, rows, columns int) { pieces += rows * columns }
	}
	Gemm(cputest.Serial, &call)
	if workers == 1 && pieces != m*n {
		t.Errorf("After saw %d of %d elements", pieces, m*n)
	}
	for i := range m {
		for j := range n {
			want := float64(call.Bias[j])
			scale := math.Abs(want)
			for l := range k {
				at := l*stride + j
				if transposed {
					at = j*stride + l
				}
				term := float64(call.A[i*call.AStride+l]) * float64(right[at])
				want, scale = want+term, scale+math.Abs(term)
			}
			want = min(max(want+float64(call.Residual[i*n+j]), -50), 70)
			if got := float64(call.Out[i*call.OutStride+j]); !(math.Abs(got-want) <= 1e-6*(1+scale)) {
				t.Fatalf("row %d column %d = %g, want %g", i, j, got, want)
			}
		}
	}
}

func BenchmarkGemm(b *testing.B) {
	for _, s := range [][3]int{{128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {128, 128, 64}, {1024, 1024, 1024}, {1, 1000, 2048},
		{4, 1000, 2048}, {1, 3072, 768}} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%dx%d/w%d", s[0], s[1], s[2], workers), func(b *testing.B) {
				m, n, k := s[0], s[1], s[2]
				r := rand.New(rand.NewPCG(1, 1))
				packed, err := NewPackedB(k, n, asm.HostFeatures())
				if err != nil {
					b.Fatal(err)
				}
				packed.Pack(cputest.Normals(r, k*n), n, false)
				call := GemmF32Call{M: m, A: cputest.Normals(r, m*k), AStride: k, B: packed, Out: work.AlignedFloats(m * n), OutStride: n,
					Limits: programs.NoLimits(), Workers: workers, Room: work.AlignedFloats(RoomF32(m, n, k, k))}
				parallel, stop := cputest.Workers(workers)
				defer stop()
				cputest.Time(b, 2*m*n*k, workers, func() { Gemm(parallel, &call) })
			})
		}
	}
}

// TestRow: a constant row that a layer adds to a product is its bias, whatever follows: a residual and a clamp in registers, or a program.
func TestRow(t *testing.T) {
	const m, n, k = 5, 40, 30
	for _, c := range []struct {
		name    string
		code    []elementwise.Instr
		inputs  int // behind the two matrices
		program bool
	}{
		{"alone", []elementwise.Instr{{Op: elementwise.Add, Arg: [3]int{0, 1}}}, 1, false},
		{"residual", []elementwise.Instr{{Op: elementwise.Add, Arg: [3]int{1, 0}}, {Op: elementwise.Add, Arg: [3]int{2, 3}}, {Op: elementwise.Relu, Arg: [3]int{4}}}, 2, false},
		{"GELU", []elementwise.Instr{{Op: elementwise.Add, Arg: [3]int{0, 1}}, {Op: elementwise.Gelu, Arg: [3]int{2}}}, 1, true},
		{"product", []elementwise.Instr{{Op: elementwise.Add, Arg: [3]int{0, 2}}, {Op: elementwise.Mul, Arg: [3]int{3, 1}}}, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			l := &graph.Layer{Name: "product", Op: graph.MatMul, Epilogue: elementwise.Program{Args: 1 + c.inputs, Code: c.code}}
			b := kernels.Binding{Layer: l, Consts: make([][]byte, 2+c.inputs)}
			var values []numeric.Value
			var mem []kernels.Mem
			row := 1 + max(c.code[0].Arg[0], c.code[0].Arg[1]) // which input it is
			for i := range 2 + c.inputs {
				dims := [][]int{{m, k}, {k, n}, {m, n}}[min(i, 2)]
				if i == row {
					dims = []int{n}
				}
				v := numeric.Value{Type: numeric.F32, Dims: dims, Data: numeric.Bytes(cputest.Normals(r, numeric.Count(dims)))}
				values, mem = append(values, v), append(mem, kernels.Mem{Host: v.Data})
				l.Inputs = append(l.Inputs, &graph.Tensor{Name: fmt.Sprint(i), Type: numeric.F32})
				if b.In = append(b.In, kernels.Desc{Type: numeric.F32, Dims: dims}); i == 1 || i == row {
					b.Consts[i] = v.Data
				}
			}
			b.Out = []kernels.Desc{{Type: numeric.F32, Dims: []int{m, n}}}
			l.Outputs = []*graph.Tensor{{Name: "y", Type: numeric.F32, Producer: l}}
			got, want := numeric.NewValue(numeric.F32, m, n), numeric.NewValue(numeric.F32, m, n)
			if err := l.Eval(values, []numeric.Value{want}); err != nil {
				t.Fatal(err)
			}
			for _, features := range cputest.FeatureSets() {
				kernel, err := bindGemmF32(b, features, 1)
				if err != nil {
					t.Fatal(err)
				}
				if g := kernel.(*gemmKernel); g.bias == nil || (g.Program != nil) != c.program {
					t.Errorf("%v: bias %v, program %v", features, g.bias != nil, g.Program != nil)
				}
				p := work.NewPool(1)
				defer p.Close()
				if err := kernel.Launch(work.NewStream(p), mem, []kernels.Mem{{Host: got.Data}}, kernels.Mem{}); err != nil {
					t.Fatal(err)
				}
				for i, v := range got.Floats() {
					if w := want.Floats()[i]; !(math.Abs(float64(v-w)) <= 1e-4) {
						t.Fatalf("%v: element %d is %g, want %g", features, i, v, w)
					}
				}
			}
		})
	}
}
