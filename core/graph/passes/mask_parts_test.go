package passes

import (
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// tokens is what is true for keys that are tokens, here all of them, as nothing but the input says.
func (n attnNet) tokens() *graph.Tensor {
	return n.op("GreaterOrEqual", elementwise.GreaterEqual, n.input("tokens", 2, 1, 1, 6), n.scalar(-1000))
}

// everywhere is true, of queries.
func (n attnNet) everywhere() *graph.Tensor {
	return n.AddConst("everywhere", numeric.Values(numeric.Bool, []uint8{1, 1, 1, 1, 1, 1}, 1, 1, 6, 1))
}

// TestMaskParts: of a mask that hides what is behind And more, the first is the attribute, and the rest is as small as it was.
func TestMaskParts(t *testing.T) {
	for _, c := range []struct {
		name   string
		causal bool
		mask   string // its shape
		build  func(n attnNet) *graph.Tensor
	}{
		{"causal and padded by choice", true, "[2,1,1,6]", func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				return n.where(n.op("And", elementwise.And, n.causal(), n.tokens()), s, n.scalar(inf))
			})
		}},
		{"causal and padded by sum", true, "[2,1,1,6]", func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				seen := n.op("And", elementwise.And, n.op("And", elementwise.And, n.everywhere(), n.causal()), n.tokens())
				return n.op("Add", elementwise.Add, s, n.where(seen, n.scalar(0), n.scalar(inf)))
			})
		}},
		{"padded alone, and true everywhere", false, "[2,1,1,6]", func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				return n.where(n.op("And", elementwise.And, n.everywhere(), n.tokens()), s, n.scalar(inf))
			})
		}},
		{"padded by a number, and true everywhere", false, "[2,1,1,6]", func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				seen := n.op("And", elementwise.And, n.everywhere(), n.tokens())
				return n.op("Add", elementwise.Add, s, n.where(seen, n.scalar(0), n.scalar(-math.MaxFloat32)))
			})
		}},
		{"hidden behind or padded", true, "[2,1,1,6]", func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				gone := n.op("Or", elementwise.Or, n.op("Not", elementwise.Not, n.causal()), n.op("Not", elementwise.Not, n.tokens()))
				return n.where(gone, n.scalar(inf), s)
			})
		}},
		{"causal and padded, hidden by a number", false, "[2,1,6,6]", func(n attnNet) *graph.Tensor { // rows without keys are means
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				return n.where(n.op("And", elementwise.And, n.causal(), n.tokens()), s, n.scalar(-math.MaxFloat32))
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := attnNet{newNet(t, c.name)}
			src := n.output(c.build(n))
			got, steps := runPass(t, src, []pass.Pass{recognise.Attention}, pass.Config{})
			sameMeaning(t, src, got, 1e-5)
			if note := steps[0].Fired[0].Note; strings.Contains(note, "stays whole") != (c.mask == "[2,1,6,6]") {
				t.Errorf("it is noted: %q", note)
			}
			found := 0
			for _, l := range got.Layers {
				if l.Op != graph.Attention {
					continue
				}
				found++
				mask := ""
				if m := l.Input(graph.AttentionMask); m != nil {
					mask = symbolic.Format(m.Dims)
				}
				if causal := l.Attrs.(graph.AttentionAttrs).Causal; causal != c.causal || mask != c.mask {
					t.Errorf("causal %v, a mask of %s, want %v and %s", causal, mask, c.causal, c.mask)
				}
			}
			if found != 1 {
				t.Errorf("%d attentions in\n%s", found, got)
			}
		})
	}
}
