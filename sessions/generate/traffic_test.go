package generate

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
)

// A token reads all weights but of tables the rows that it takes, and the whole room for keys and values.
func TestTraffic(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	const length = 32
	m, err := New(open(t, "testdata/gpt2.onnx"), "", 2, length, b, untimed(b))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := m.Traffic(); got.Bytes() != 0 {
		t.Errorf("before a token: %+v", got)
	}
	if _, err := m.Generate(t.Context(), Request{Prompt: []int{1, 2}, Most: 2}, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var want Traffic
	for _, c := range m.roles.cache {
		heads, _ := c.past.Dims[1].IsConst()
		size, _ := c.past.Dims[3].IsConst()
		want.State += int64(4 * heads * length * size)
	}
	for _, l := range m.decoder.(*cachedDecoder).single.loaded.Plan.Network.Layers {
		for i, x := range l.Inputs {
			switch {
			case x == nil || !x.IsConst():
			case l.Op == graph.Gather && i == 0:
				rowSize, _ := x.Dims[1].IsConst()
				want.Weights += int64(4 * rowSize)
			default:
				want.Weights += int64(len(x.Weights))
			}
		}
	}
	if got := m.Traffic(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
