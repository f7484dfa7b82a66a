package moves

import (
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// permuted is the region of a transposition of a dense tensor.
func permuted(dims []int, perm ...int) region {
	steps, r := rowSteps(dims), region{}
	for _, p := range perm {
		r.dims, r.from = append(r.dims, dims[p]), append(r.from, steps[p])
	}
	r.to = rowSteps(r.dims)
	return r.simplify()
}

// TestTurned compares what is copied by tiles with each element's own place; tiles are cut off on both sides.
func TestTurned(t *testing.T) {
	t.Run("one by one", func(t *testing.T) { testTurned(t, nil) })
	for _, isa := range cputest.FeatureSets() {
		t.Run(isa.String(), func(t *testing.T) { testTurned(t, work.LayoutKernel(isa).Interleave) })
	}
}

func testTurned(t *testing.T, interleave func(dst []float32, step int, src []float32, stride, rows, n int)) {
	for _, c := range []struct {
		dims, perm []int
		turned     bool
	}{
		{[]int{9001, 37}, []int{1, 0}, true}, {[]int{4097, 3, 17}, []int{2, 1, 0}, true}, {[]int{2, 5, 33, 40}, []int{3, 1, 0, 2}, true},
		{[]int{3, 8, 8}, []int{0, 2, 1}, true}, {[]int{64, 7}, []int{1, 0}, false}, {[]int{7, 64}, []int{1, 0}, false}, {[]int{5, 40, 9}, []int{1, 0, 2}, false},
	} {
		r, ok := permuted(c.dims, c.perm...).turn()
		if ok != c.turned {
			t.Errorf("%v %v: turned is %t", c.dims, c.perm, ok)
		}
		if !ok {
			continue
		}
		src := make([]uint32, numeric.Count(c.dims))
		for i := range src {
			src[i] = uint32(i)
		}
		dst := make([]uint32, len(src))
		l := regionLaunch{&regionKernel{region: r, size: 4, turned: true, interleave: interleave}, numeric.Bytes(dst), numeric.Bytes(src)}
		for u := range r.tiles() {
			l.do(u, 0)
		}
		out, steps := make([]int, len(c.dims)), rowSteps(c.dims)
		for i, p := range c.perm {
			out[i] = c.dims[p]
		}
		for i, got := range dst {
			from, rest := 0, i
			for axis := len(out) - 1; axis >= 0; axis-- {
				from, rest = from+rest%out[axis]*steps[c.perm[axis]], rest/out[axis]
			}
			if got != uint32(from) {
				t.Fatalf("%v %v: element %d is %d, want %d", c.dims, c.perm, i, got, from)
			}
		}
	}
}

// BenchmarkTurned says how many times as long as a copy of the same memory a large matrix takes that is transposed by tiles, and by rows.
func BenchmarkTurned(b *testing.B) {
	r := permuted([]int{12544, 1568}, 1, 0)
	turned, _ := r.turn()
	src, dst := make([]uint32, numeric.Count(r.dims)), make([]uint32, numeric.Count(r.dims))
	var plain, tiles, rows time.Duration
	for b.Loop() {
		at := time.Now()
		lap := func(sum *time.Duration) { *sum += time.Since(at); at = time.Now() }
		copy(dst, src)
		lap(&plain)
		for u := range turned.tiles() {
			copyTile(&turned, dst, src, u)
		}
		lap(&tiles)
		for u := range r.dims[0] {
			copyRegion(&r, dst, src, u)
		}
		lap(&rows)
	}
	b.ReportMetric(float64(tiles)/float64(plain), "tiles/copy")
	b.ReportMetric(float64(rows)/float64(plain), "rows/copy")
}
