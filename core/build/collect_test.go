package build_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu"
)

// What is collected does not depend on how many processors count, nor on chance, to the last bit; an error in the data ends it.
func TestCollectInParallel(t *testing.T) {
	n := residual(t, rand.New(rand.NewPCG(1, 2)))
	b := cpu.Open(1)
	defer b.Close()
	collect := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		rnd := rand.New(rand.NewPCG(7, 8))
		found, err := build.Collect(context.Background(), n, map[string]int{"batch": 1}, b, func(yield func(map[string]numeric.Value, error) bool) {
			for range 20 {
				x := make([]float32, 3*36)
				for i := range x {
					x[i] = float32(rnd.NormFloat64())
				}
				if !yield(map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, 1, 3, 6, 6)}, nil) {
					return
				}
			}
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(struct{ H, M any }{found.Histograms, found.ChannelMeans()})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	one := collect(1)
	for _, processors := range []int{1, 2, 5, 40} {
		if collect(processors) != one {
			t.Errorf("%d processors find something else", processors)
		}
	}
	if _, err := build.Collect(context.Background(), n, map[string]int{"batch": 1}, b, func(yield func(map[string]numeric.Value, error) bool) {
		yield(nil, context.Canceled)
	}, nil, nil); err != context.Canceled {
		t.Errorf("an error of the data: %v", err)
	}
}
