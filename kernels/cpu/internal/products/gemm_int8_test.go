package products

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func TestGemmInt8(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {1, 10, 64}, {2, 16, 16}, {3, 33, 17}, {11, 48, 31}, {12, 31, 100}, {49, 100, 48}, {200, 65, 130}, {70, 150, 64}, {200, 144, 192}} {
		for _, features := range cputest.FeatureSets() {
			for variant := range 8 {
				m, n, k := size[0], size[1], size[2]
				t.Run(fmt.Sprintf("%dx%dx%d/%v/%d", m, n, k, features, variant), func(t *testing.T) {
					testGemmInt8(t, m, n, k, features, variant&1 != 0, variant&2 != 0, variant&4 != 0)
				})
			}
		}
	}
}

// testGemmInt8 checks a product as the pointwise convolution of m images of one pixel; its residual is bytes or float32.
func testGemmInt8(t *testing.T, m, n, k int, features asm.Features, transposed, float, addend bool) {
	s := cputest.Square(k, 1, 1, n, 1, 1, 0)
	s.Batch = m
	most := 200
	if k%64 == 0 {
		most = 127 // so that a step is one
	}
	c := cputest.NewInt8Case(rand.New(rand.NewPCG(3, 4)), s, most)
	weights := c.Weights
	if !transposed {
		weights = make([]int16, n*k)
		for i, w := range c.Weights {
			weights[i%k*n+i/k] = w
		}
	}
	packed, err := PackInt8(n, k, weights, c.Scale, c.Bias, PackInt8Config{InZero: c.Zero, Transposed: transposed, Features: features})
	if err != nil {
		t.Fatal(err)
	}
	stride, given := k, 0 // which stands for k
	if float {
		stride, given = k+3, k+3
	}
	g, err := NewGemmInt8(m, packed, GemmInt8Config{AStride: given, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	call := GemmInt8Call{A: make([]byte, m*stride), Epilogue: c.Epilogue, Workspace: make([]byte, g.Workspace())}
	for row := range m {
		copy(call.A[row*stride:], c.X[row*k:][:k])
	}
	call.Epilogue.Residual = work.Bytes4{Data: c.Residual, Image: n}
	if addend {
		call.Epilogue.Residual.Data = nil
		call.Epilogue.Addend = work.Tensor4{Image: n}
		for _, b := range c.Residual {
			v := (float32(b) - float32(c.Epilogue.ResidualZero)) * c.Epilogue.ResidualScale
			call.Epilogue.Addend.Data = append(call.Epilogue.Addend.Data, v)
		}
	}
	out := make([]byte, m*(n+1))
	floats := make([]float32, m*(n+1))
	if float {
		call.Epilogue.Float = work.Tensor4{Data: floats, Image: n + 1}
	} else {
		call.Epilogue.Out = work.Bytes4{Data: out, Image: n + 1}
	}
	g.Run(cputest.Serial, &call)
	for i, sum := range cputest.Sums(s, c.X, c.Zero, c.Weights) {
		at := i/n*(n+1) + i%n
		if float {
			if got, want := floats[at], c.Value(i, sum); got != want {
				t.Fatalf("element %d: %g, want %g", i, got, want)
			}
		} else if got, want := out[at], c.Want(i, sum); got != want {
			t.Fatalf("element %d: %d, want %d", i, got, want)
		}
	}
	for row := range m {
		if at := row*(n+1) + n; out[at] != 0 || floats[at] != 0 {
			t.Fatalf("row %d is written beyond its end", row)
		}
	}
}

func BenchmarkGemmInt8(b *testing.B) {
	for _, size := range [][3]int{{1, 1000, 2048}, {1, 4096, 4096}, {4, 1024, 1024}, {128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {64, 10, 128}} {
		m, n, k := size[0], size[1], size[2]
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
			s := cputest.Square(k, 1, 1, n, 1, 1, 0)
			s.Batch = m
			c := cputest.NewInt8Case(rand.New(rand.NewPCG(3, 4)), s, 127)
			packed, err := PackInt8(n, k, c.Weights, c.Scale, c.Bias, PackInt8Config{InZero: c.Zero, Features: asm.HostFeatures()})
			if err != nil {
				b.Fatal(err)
			}
			g, err := NewGemmInt8(m, packed, GemmInt8Config{Workers: 1})
			if err != nil {
				b.Fatal(err)
			}
			call := GemmInt8Call{A: c.X, Epilogue: c.Epilogue, Workspace: make([]byte, g.Workspace())}
			call.Epilogue.ClampInner = false
			call.Epilogue.Out = work.Bytes4{Data: make([]byte, m*n), Image: n}
			cputest.TimeInt8(b, 2*m*n*k, 1, func() { g.Run(cputest.Serial, &call) })
		})
	}
}
