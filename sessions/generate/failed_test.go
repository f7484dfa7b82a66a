package generate

import (
	"errors"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

var errCopy = errors.New("a copy fails")

// weak is a backend of which one copy to the device fails.
type weak struct {
	run.Backend
	until int // copies before it
}

func (w *weak) Upload(s kernels.Stream, to kernels.Mem, from []byte) error {
	if w.until--; w.until == -1 {
		return errCopy
	}
	return w.Backend.Upload(s, to, from)
}

// A model that looks ahead is known as one though the device failed when that was tried: each text is the one that there is without.
func TestTriedAgain(t *testing.T) {
	table := make([]float32, 8*8)
	for i := range table {
		table[i] = float32(i*i*7%23) - 11
	}
	d := graph.Define("ahead")
	x := d.Gather(d.Weights("table", table, 8, 8), d.Input("ids", numeric.I64, symbolic.Const(1), symbolic.Symbol("s")), 0)
	d.Output("logits", d.Add(x, d.Mul(d.Reduce(graph.ReduceMean, x, true, 1), d.Weights("much", []float32{9}, 1))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	host := cpu.Open(1)
	defer host.Close()
	write := func(m *Model) (list []int, err error) {
		_, err = m.Generate(t.Context(), Request{Prompt: []int{1, 2, 3}, Most: 4}, func(token int) error {
			list = append(list, token)
			return nil
		})
		return list, err
	}
	sound, err := New(n, "", 3, 16, host, untimed(host))
	if err != nil {
		t.Fatal(err)
	}
	defer sound.Close()
	want, err := write(sound)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for until := range 8 {
		w := &weak{host, until}
		m, err := New(n, "", 3, 16, w, untimed(w))
		if err != nil {
			t.Fatal(err)
		}
		got, err := write(m)
		if errors.Is(err, errCopy) {
			failed++
			got, err = write(m)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("behind a failure of copy %d: %v, %v; want %v", until, got, err, want)
		}
		m.Close()
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
}
