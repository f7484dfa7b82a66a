package attention

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// shape is a layer's extents.
type shape struct {
	batch, heads, kvHeads, queries, keys, size, sizeV int
	rank3                                             bool
}

func (s shape) trial(t *testing.T, tl Tile, a graph.AttentionAttrs, typ numeric.DataType, more ...*graph.Tensor) *emittest.Trial {
	t.Helper()
	a.Heads, a.KVHeads = s.heads, s.kvHeads
	dims := func(heads, rows, size int) []int {
		if s.rank3 {
			return []int{s.batch, rows, heads * size}
		}
		return []int{s.batch, heads, rows, size}
	}
	rest := []*graph.Tensor{emittest.Weight(typ, dims(s.kvHeads, s.keys, s.size)...), emittest.Weight(typ, dims(s.kvHeads, s.keys, s.sizeV)...)}
	for len(more) > 0 && more[len(more)-1] == nil {
		more = more[:len(more)-1]
	}
	rest = append(rest, more...)
	tr := emittest.LayerTrial(t, Tactics(), "attention_"+tl.String(), graph.Attention, a, typ, dims(s.heads, s.queries, s.size), rest...)
	tr.Tolerance = suite.Tolerance{Real: 2e-5}
	if typ == numeric.F16 {
		tr.Tolerance.Real = 1e-3
	}
	return tr
}

// TestMasks: masks of each type, which broadcast along any axes, end before the keys, or lie so that their elements are read one by
// one; with limits of what a query sees, bounded scores and a negative scale.
func TestMasks(t *testing.T) {
	s := shape{2, 4, 2, 19, 150, 40, 24, true}
	for i, tl := range tiles() {
		if s.size > tl.Most || tl.Split > 1 && emit.CeilDiv(s.keys, tl.BN) < tl.Split {
			continue
		}
		types := []numeric.DataType{tl.Unit.Type()}
		if tl.Unit == emit.SimtF32 {
			types = append(types, numeric.F16)
		}
		n := 0
		for _, typ := range types {
			for _, a := range []graph.AttentionAttrs{{}, {Causal: true}, {Softcap: 0.5}, {Scale: -0.3}, {Left: 20, Right: 5}, {Left: 3, Causal: true}} {
				for _, m := range []*graph.Tensor{nil, {Type: numeric.Bool}, {Type: numeric.F32}, {Type: numeric.F16}} {
					dims := [][]int{{19, 150}, {1, 150}, {2, 1, 1, 150}, {2, 4, 19, 150}, {4, 1, 150}, {19, 1}, {1, 1, 19, 150}}[n%7]
					if n++; (i+n)%3 != 0 { // each has a third, not the same
						continue
					}
					mask := m
					if m != nil {
						mask = &graph.Tensor{Name: "m", Type: m.Type, Dims: symbolic.Shape(dims...)}
					}
					t.Run(fmt.Sprint(tl, typ, a, mask, dims), func(t *testing.T) {
						tr := s.trial(t, tl, a, typ, mask)
						_, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Async: ptxsim.Early, Races: true})
						if err != nil || !right {
							t.Fatal(right, err)
						}
					})
				}
			}
		}
	}
}

// TestPast: keys and values of the past in front of the present ones, and batches with fewer keys than there is room for, none too;
// of the latter causal queries stand at the last keys.
func TestPast(t *testing.T) {
	for _, tl := range tiles() {
		for _, s := range []shape{{2, 4, 2, 7, 40, 32, 48, true}, {1, 2, 2, 1, 1, 64, 64, false}, {2, 2, 1, 3, 300, 36, 40, true}} {
			for _, past := range []int{0, 100, 3} {
				if max(s.size, s.sizeV) > tl.Most || tl.Split > 1 && emit.CeilDiv(s.keys+past, tl.BN) < tl.Split {
					continue
				}
				for _, mask := range []int{0, 1, 2} {
					t.Run(fmt.Sprint(tl, s, past, mask), func(t *testing.T) {
						typ := tl.Unit.Type()
						rest := make([]*graph.Tensor, 4)
						if past > 0 {
							rest[1] = emittest.Weight(typ, s.batch, s.kvHeads, past, s.size)
							rest[2] = emittest.Weight(typ, s.batch, s.kvHeads, past, s.sizeV)
						} else {
							counts := []int64{int64(s.keys), int64(s.keys / 3)}[:s.batch]
							if mask == 1 {
								counts[0] = 0
							}
							rest[3] = &graph.Tensor{Name: "n", Type: numeric.I64, Dims: symbolic.Shape(s.batch), Weights: numeric.Bytes(counts)}
						}
						if mask > 0 {
							n := max(1, s.keys+past-5*mask)
							if n > 1 && max(s.size, s.sizeV) > tl.Apart { // they are read in pairs
								n &^= 1
							}
							rest[0] = &graph.Tensor{Name: "m", Type: numeric.Bool, Dims: symbolic.Shape(1, n)}
						}
						tr := s.trial(t, tl, graph.AttentionAttrs{Causal: mask != 2}, typ, rest...)
						_, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Async: ptxsim.Early, Races: true})
						if err != nil || !right {
							t.Fatal(right, err)
						}
					})
				}
			}
		}
	}
}

// TestOdd: heads whose rows begin between vectors, or halves that begin between words.
func TestOdd(t *testing.T) {
	for _, tl := range tiles() {
		for _, s := range []shape{{1, 2, 1, 9, 70, 7, 5, true}, {1, 2, 1, 9, 70, 12, 36, true}, {1, 1, 1, 5, 33, 6, 50, false}, {1, 2, 2, 40, 600, 17, 33, false}} {
			if tl.Split > 1 && emit.CeilDiv(s.keys, tl.BN) < tl.Split || tl.Unit == emit.TensorF16 && (s.size|s.sizeV)%2 != 0 {
				continue
			}
			types := []numeric.DataType{tl.Unit.Type()}
			if tl.Unit == emit.SimtF32 {
				types = append(types, numeric.F16)
			}
			for _, typ := range types {
				t.Run(fmt.Sprint(tl, typ, s), func(t *testing.T) {
					tr := s.trial(t, tl, graph.AttentionAttrs{Causal: true}, typ, nil)
					_, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Async: ptxsim.Late, Races: true})
					if err != nil || !right {
						t.Fatal(right, err)
					}
				})
			}
		}
	}
}

// TestShapes: heads of sizes that fill vectors and that do not, heads that are shared, fewer and more keys than a tile, in one
// part and in several.
func TestShapes(t *testing.T) {
	for i, tl := range tiles() {
		for j, s := range []shape{
			{1, 1, 1, 16, 64, 32, 32, true}, {2, 4, 2, 37, 150, 64, 64, true}, {1, 4, 1, 5, 75, 80, 40, false}, {1, 2, 2, 70, 130, 128, 128, true},
			{1, 1, 1, 3, 2100, 32, 32, true}, {1, 1, 1, 5, 530, 192, 128, false},
		} {
			if max(s.size, s.sizeV) > tl.Most || tl.Split > 1 && emit.CeilDiv(s.keys, tl.BN) < tl.Split {
				continue
			}
			t.Run(fmt.Sprint(tl, s), func(t *testing.T) {
				tr := s.trial(t, tl, graph.AttentionAttrs{Causal: (i+j)%2 == 0}, tl.Unit.Type())
				_, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Async: ptxsim.Late, Races: true})
				if err != nil || !right {
					t.Fatal(right, err)
				}
			})
		}
	}
}
