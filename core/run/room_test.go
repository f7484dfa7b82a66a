package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// narrow is the CPU in the role of a device with little memory of its own.
type narrow struct {
	run.Backend
	free  int64
	taken int
}

func (n *narrow) MemoryInfo() (free, total int64, err error) { return n.free, 1 << 20, nil }

func (n *narrow) Alloc(size int) (kernels.Mem, error) {
	n.taken++
	return n.Backend.Alloc(size)
}

// An engine that does not fit is refused before anything is allocated, with its sizes, the largest layer and what to do;
// tactics whose workspace does not fit are not chosen.
func TestNoRoom(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	n, env := residual(t), map[string]int{"batch": 4}
	plan := func(b run.Backend) *run.Plan {
		t.Helper()
		p, err := run.NewPlan(t.Context(), n, env, b, run.BestGuess)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan(host)
	need := int64(p.Memory.Peak + p.Memory.IO)
	d := &narrow{Backend: host, free: need - 1}
	_, err := run.Load(t.Context(), p, d)
	var room *run.NoRoom
	if !errors.As(err, &room) || d.taken > 0 {
		t.Fatalf("%v after %d allocations", err, d.taken)
	}
	if room.Arena != int64(p.Memory.Peak) || room.IO != int64(p.Memory.IO) || room.Free != d.free || room.LayerBytes <= 0 {
		t.Errorf("%+v", room)
	}
	for _, want := range []string{"the engine needs ", "arena ", "layer " + room.Layer, "choose a smaller batch, or choose fp16, or end what else"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	d.free = need
	l, err := run.Load(t.Context(), p, d)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d.free, d.taken = need-1, 0
	if _, err = l.NewContext(); !errors.As(err, &room) || d.taken > 0 || !strings.HasPrefix(err.Error(), "a context of the engine needs") {
		t.Errorf("%v after %d allocations", err, d.taken)
	}

	refused := 0
	d.free = 1
	for _, s := range plan(d).Steps {
		if s.Scratch >= 0 {
			t.Errorf("step %s has a workspace", s.Name)
		}
		for _, c := range s.Candidates {
			if strings.Contains(c.Reason, "of workspace, and 1 B are free") {
				refused++
			}
		}
	}
	if p.Memory.Workspace > 0 && refused == 0 {
		t.Errorf("no tactic was refused for its workspace")
	}
	t.Logf("%d tactics refused; a workspace of %d bytes without the limit", refused, p.Memory.Workspace)
}
