package generate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/kernels/cpu"
)

// A text ends where the model has no more positions, and a prompt that is longer is refused; what texts are filled up with takes none.
func TestLongest(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	// placed is a model that looks positions up in a table, by what index makes of them.
	placed := func(index func(d *graph.Definition, positions *graph.Tensor) *graph.Tensor) *graph.Network {
		d := graph.Define("placed")
		weights := func(name string, rows int) *graph.Tensor {
			list := make([]float32, rows*8)
			for i := range list {
				list[i] = float32(i*i*7%23) - 11
			}
			return d.Weights(name, list, rows, 8)
		}
		s := symbolic.Symbol("s")
		x := d.Gather(weights("words", 8), d.Input("ids", numeric.I64, symbolic.Const(1), s), 0)
		d.Output("logits", d.Add(x, d.Gather(weights("places", 20), index(d, d.Input("position_ids", numeric.I64, symbolic.Const(1), s)), 0)))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	as := func(_ *graph.Definition, p *graph.Tensor) *graph.Tensor { return p }
	behind := func(d *graph.Definition, p *graph.Tensor) *graph.Tensor {
		two := numeric.NewValue(numeric.I64, 1)
		two.Ints()[0] = 2
		return d.Add(p, d.Constant("two", two))
	}
	told := func(d *graph.Definition, p *graph.Tensor) *graph.Tensor { return d.Abs(p) } // by the engine alone
	for _, c := range []struct {
		name      string
		network   *graph.Network
		positions int
	}{{"a model without state", placed(as), 20}, {"one whose positions begin with 2", placed(behind), 18}, {"one whose positions are computed", placed(told), 20},
		{"one with state", open(t, "testdata/gpt2.onnx"), 128}} {
		m, err := New(c.network, "", 3, 1000, b, untimed(b))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for range 2 {
			times, err := m.Generate(t.Context(), Request{Prompt: []int{1, 2, 3}, Most: 900}, func(int) error { return nil })
			if err != nil || times.Ended != Full || len(times.Tokens) != c.positions-2 {
				t.Errorf("%s: %+v, %v", c.name, times, err)
			}
		}
		_, err = m.Generate(t.Context(), Request{Prompt: make([]int, c.positions+1), Most: 1}, func(int) error { return nil })
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the prompt has %d tokens: the model takes no text of ", c.positions+1)) {
			t.Errorf("%s, a long prompt: %v", c.name, err)
		}
	}
}

// What the state of a text takes is asked for beforehand.
func TestRoomForState(t *testing.T) {
	n := open(t, "testdata/llama.onnx") // whose positions have no end
	host.SetMemoryLimit(1 << 30)
	defer host.SetMemoryLimit(0)
	if _, err := New(n, "", 4, MaxLength, nil, nil); !errors.As(err, new(*host.Shortage)) || !strings.Contains(err.Error(), "the state of a text of 16777216 tokens") {
		t.Error(err)
	}
	for _, length := range []int{-1, 0, MaxLength + 1} {
		if _, err := New(n, "", 4, length, nil, nil); err == nil {
			t.Errorf("a text of %d tokens", length)
		}
	}
}
