package build_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// project multiplies rows of 8 by weights, and adds a bias.
func (d *linked) project(x *graph.Tensor, in, out int) *graph.Tensor {
	return d.Add(d.MatMul(x, d.weights(in, out)), d.weights(out))
}

// heads cuts [2,5,count*size] into heads, [2,count,5,size].
func (d *linked) heads(x *graph.Tensor, count, size int) *graph.Tensor {
	return d.Transpose(d.Reshape(x, 2, 5, count, size), 0, 2, 1, 3)
}

// TestScaleThroughAttention scales the channels of values, and the weights that read what attention gives; where that cannot be, the
// reason names what stands in the way.
func TestScaleThroughAttention(t *testing.T) {
	rows := []int{2, 5, 8}
	scores := func(d *linked, q, k *graph.Tensor) *graph.Tensor { return d.MatMul(q, d.Transpose(k, 0, 1, 3, 2)) }
	joined := func(d *linked, y *graph.Tensor, width int) *graph.Tensor {
		return d.Reshape(d.Transpose(y, 0, 2, 1, 3), 2, 5, width)
	}
	for _, c := range []struct {
		name  string
		links int
		why   string
		make  func(d *linked, x *graph.Tensor) *graph.Tensor
	}{
		{"one product for all three", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Attention(d.project(x, 8, 8), d.project(x, 8, 8), d.project(x, 8, 8), nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.project(y, 8, 8)
		}},
		{"values of another tensor", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Attention(d.project(x, 8, 8), d.project(x, 8, 8), d.project(d.Activation(elementwise.Tanh, x), 8, 8), nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2, Causal: true})
			return d.Add(d.project(y, 8, 8), x)
		}},
		{"queries in groups", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Attention(d.project(x, 8, 16), d.project(x, 8, 8), d.project(x, 8, 8), nil, graph.AttentionAttrs{Heads: 4, KVHeads: 2})
			return d.project(y, 16, 8)
		}},
		{"values without queries and keys of their own kind", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Attention(x, x, d.project(x, 8, 12), nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.project(y, 12, 8)
		}},
		{"heads in an axis of their own", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			q, k, v := d.heads(d.project(x, 8, 16), 4, 4), d.heads(d.project(x, 8, 8), 2, 4), d.heads(d.project(x, 8, 8), 2, 4)
			return d.project(joined(d, d.Attention(q, k, v, nil, graph.AttentionAttrs{}), 16), 16, 8)
		}},
		{"packed", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			qkv := d.Transpose(d.Reshape(d.project(x, 8, 24), 2, 5, 3, 2, 4), 2, 0, 3, 1, 4)
			part := func(i int64) *graph.Tensor {
				return d.Gather(qkv, d.Constant(fmt.Sprint("i", i), numeric.Values(numeric.I64, []int64{i})), 0)
			}
			return d.project(joined(d, d.Attention(part(0), part(1), part(2), nil, graph.AttentionAttrs{}), 8), 8, 8)
		}},
		{"packed and cut", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			qkv := d.Split(d.project(x, 8, 24), 2, 8, 8, 8)
			return d.project(d.Attention(qkv[0], qkv[1], qkv[2], nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2}), 8, 8)
		}},
		{"its parts", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			q, k, v := d.heads(d.project(x, 8, 8), 2, 4), d.heads(d.project(x, 8, 8), 2, 4), d.heads(d.project(x, 8, 8), 2, 4)
			return d.project(joined(d, d.MatMul(d.Relu(scores(d, q, k)), v), 8), 8, 8)
		}},
		{"its parts, values on the left", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			q, k, v := d.heads(d.project(x, 8, 8), 2, 4), d.heads(d.project(x, 8, 8), 2, 4), d.heads(d.project(x, 8, 8), 2, 4)
			y := d.MatMul(d.Transpose(v, 0, 1, 3, 2), d.Relu(scores(d, k, q)))
			return d.project(d.Reshape(d.Transpose(y, 0, 3, 1, 2), 2, 5, 8), 8, 8)
		}},
		{"an activation of values", 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor { // divided as the last step of their product
			y := d.Attention(x, x, d.Activation(elementwise.Gelu, d.project(x, 8, 8)), nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.project(y, 8, 8)
		}},
		{"values that are keys", 0, "is also used by", func(d *linked, x *graph.Tensor) *graph.Tensor {
			k := d.project(x, 8, 8)
			return d.project(d.Attention(d.project(x, 8, 8), k, k, nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2}), 8, 8)
		}},
		{"values that a sum reads", 0, "is also used by", func(d *linked, x *graph.Tensor) *graph.Tensor {
			v := d.project(x, 8, 8)
			y := d.Attention(d.project(x, 8, 8), d.project(x, 8, 8), v, nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.Add(d.project(y, 8, 8), d.Activation(elementwise.Tanh, v))
		}},
		{"a result that a sum reads", 0, "which does not multiply its channels by constant weights alone", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Attention(d.project(x, 8, 8), d.project(x, 8, 8), d.project(x, 8, 8), nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.Add(d.project(y, 8, 8), d.Activation(elementwise.Tanh, y))
		}},
		{"values that are normalised", 0, "not from a product with constant weights alone", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Attention(x, x, d.normed(d.Activation(elementwise.Tanh, x)), nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.project(y, 8, 8)
		}},
		{"past values in front", 0, "not from a product with constant weights alone", func(d *linked, x *graph.Tensor) *graph.Tensor {
			v := d.Concat(1, d.Activation(elementwise.Tanh, x), d.project(x, 8, 8))
			y := d.Attention(d.project(x, 8, 8), d.Concat(1, x, d.project(x, 8, 8)), v, nil, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.project(y, 8, 8)
		}},
		{"a past", 0, "past values", func(d *linked, x *graph.Tensor) *graph.Tensor {
			past := d.heads(d.Activation(elementwise.Tanh, x), 2, 4)
			y, _, _ := d.AttentionWithPast(d.project(x, 8, 8), d.project(x, 8, 8), d.project(x, 8, 8), nil, past, past, graph.AttentionAttrs{Heads: 2, KVHeads: 2})
			return d.project(y, 8, 8)
		}},
		{"heads that meet batches", 0, "channels cannot be followed", func(d *linked, x *graph.Tensor) *graph.Tensor {
			turned := func(y *graph.Tensor) *graph.Tensor { return d.Reshape(d.heads(y, 2, 4), 4, 5, 4) }
			y := d.Attention(turned(d.project(x, 8, 8)), turned(d.project(x, 8, 8)), turned(d.project(x, 8, 8)), nil, graph.AttentionAttrs{Heads: 1, KVHeads: 1})
			return d.project(d.Reshape(d.Transpose(d.Reshape(y, 2, 2, 5, 4), 0, 2, 1, 3), 2, 5, 8), 8, 8)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &linked{graph.Define("n"), rand.New(rand.NewPCG(1, 2)), 0}
			d.Output("y", c.make(d, d.Input("x", numeric.F32, symbolic.Shape(rows...)...)))
			if links, why, dB := scaleLinks(t, d, rows); links != c.links || !strings.Contains(why, c.why) || c.why == "" && why != "" || dB < 120 {
				t.Errorf("%d links (%q), want %d (%q); %.1f dB of what it was", links, why, c.links, c.why, dB)
			}
		})
	}
}

// TestEqualizeAttention: one channel of an attention's values is fifty times as wide as the others, and meets weights that are as much
// smaller. In 8 bits the others are lost; equalised, by weights or by what channels reach, they have what they had without it.
func TestEqualizeAttention(t *testing.T) {
	const rows, width, heads, wide = 16, 64, 4, 5
	network := func(by float32, shared int) *graph.Network {
		d := &linked{graph.Define("attention"), rand.New(rand.NewPCG(5, 6)), 0}
		x := d.Reshape(d.Input("x", numeric.F32, symbolic.Shape(rows, width)...), 1, rows, width)
		v, o := d.weights(width, width/shared), d.weights(width, width)
		w, _ := v.Const()
		for i := wide; i < w.Len(); i += width / shared {
			w.F32()[i] *= by
		}
		w, _ = o.Const()
		for h := range heads {
			if from := h / shared * width / heads; from <= wide && wide < from+width/heads { // of heads that read the channel
				row := h*width/heads + wide - from
				for i := range width {
					w.F32()[row*width+i] /= by
				}
			}
		}
		y := d.Attention(d.MatMul(x, d.weights(width, width)), d.MatMul(x, d.weights(width, width/shared)), d.MatMul(x, v), nil, graph.AttentionAttrs{Heads: heads, KVHeads: heads / shared})
		d.Output("y", d.MatMul(y, o))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, shared := range []int{1, 2} {
		even, _ := lowerEqualized(t, network(1, shared), "off", rows, width)
		plain, _ := lowerEqualized(t, network(50, shared), "off", rows, width)
		for _, how := range []string{"weights", "activations"} {
			got, l := lowerEqualized(t, network(50, shared), how, rows, width)
			t.Logf("%d heads share values: %.1f dB without a wide channel, %.1f with it, %s %.1f dB", shared, even, plain, how, got)
			if got < plain+8 || got < even-3 {
				t.Errorf("%s: %.1f dB, without %.1f, and %.1f without a wide channel", how, got, plain, even)
			}
			if len(l.Steps[0].Fired) != 1 || !strings.Contains(l.Steps[0].Fired[0].Note, "(channel 5)") {
				t.Errorf("%s: %+v", how, l.Steps[0])
			}
		}
	}
}
