package products

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
)

// randomIntegers returns a matrix of integers below span in groups of rows, each with a zero point of its own if zeros is set.
func randomIntegers(r *rand.Rand, k, n, group, span int, zeros bool) Integers {
	q, width := make([]int, k*n), bits.Len(uint(span-1))
	for i := range q {
		q[i] = r.IntN(span)
	}
	groups := (k + group - 1) / group
	scale, zero := cputest.Normals(r, groups*n), make([]int32, groups*n)
	for i := range zero {
		if zero[i] = 3; zeros {
			zero[i] = int32(r.IntN(span))
		}
	}
	return Integers{K: k, N: n, Bits: width, Group: group, Q: func(k, j int) int { return q[k*n+j] },
		Scale: func(g, j int) float32 { return scale[g*n+j] }, Zero: func(g, j int) int32 { return zero[g*n+j] }}
}

// real returns the matrix's real numbers, [K][N].
func (m *Integers) real() []float32 {
	w := make([]float32, m.K*m.N)
	for i := range w {
		k, n := i/m.N, i%m.N
		w[i] = float32(m.Q(k, n)-int(m.Zero(k/m.Group, n))) * m.Scale(k/m.Group, n)
	}
	return w
}

func TestMultiplyWeights(t *testing.T) {
	shapes := [][3]int{{1, 1, 1}, {1, 40, 64}, {3, 31, 5}, {4, 33, 17}, {9, 48, 100}, {13, 16, 24}, {29, 65, 33}, {150, 96, 640}, {17, 130, 1024}, {5, 70, 1100}}
	for _, shape := range shapes {
		for _, features := range cputest.FeatureSets() {
			for _, group := range []int{8, 32, 640, 1 << 20} {
				for _, span := range []int{16, 256} {
					name := fmt.Sprintf("%dx%dx%d/%v/%d/%d", shape[0], shape[1], shape[2], features, group, span)
					t.Run(name, func(t *testing.T) {
						for _, workers := range cputest.WorkerCounts() {
							testWeights(t, shape[0], shape[1], shape[2], features, group, span, workers)
						}
					})
				}
			}
		}
	}
}

func testWeights(t *testing.T, m, n, k int, features asm.Features, group, span, workers int) {
	r := rand.New(rand.NewPCG(1, uint64(m)))
	integers := randomIntegers(r, k, n, min(group, k), span, group == 32)
	b, err := NewPackedWeights(integers, features)
	if err != nil {
		t.Fatal(err)
	}
	call := WeightsCall{M: m, A: cputest.Normals(r, m*(k+2)), AStride: k + 2, B: b, Bias: cputest.Normals(r, n), Out: make([]float32, m*(n+3)),
		OutStride: n + 3, Workers: workers}
	call.Room = cputest.Normals(r, RoomWeights(m, n, k, call.AStride, workers))
	MultiplyWeights(cputest.Serial, &call)
	w := integers.real()
	for i := range m {
		for j := range n {
			want := float64(call.Bias[j])
			scale := math.Abs(want)
			for l := range k {
				term := float64(call.A[i*call.AStride+l]) * float64(w[l*n+j])
				want, scale = want+term, scale+math.Abs(term)
			}
			if got := float64(call.Out[i*call.OutStride+j]); !(math.Abs(got-want) <= 1e-6*(1+scale)) {
				t.Fatalf("workers %d: row %d column %d = %g, want %g", workers, i, j, got, want)
			}
		}
	}
}
