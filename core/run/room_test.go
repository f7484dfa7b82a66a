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

func (n *narrow) Info() run.Info {
	info := n.Backend.Info()
	info.Host = false
	return info
}

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

// On the host weights count, too, and a limit is kept: what takes more is refused by the layer's name before it is taken.
func TestMemoryLimit(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	n, env := residual(t), map[string]int{"batch": 4}
	p, err := run.NewPlan(t.Context(), n, env, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	if free, total, err := b.MemoryInfo(); err != nil || total > 0 && (free <= 0 || free > total) {
		t.Errorf("%d of %d free, %v", free, total, err)
	}
	b.LimitMemory(1)
	var room *run.NoRoom
	_, err = run.Load(t.Context(), p, b)
	if !errors.As(err, &room) || room.Limit != 1 || room.Weights != int64(p.Memory.Weights) || room.Layer != "conv2" || !strings.Contains(err.Error(), "limit of 1 B on cpu") || !strings.Contains(err.Error(), "raise the limit") {
		t.Errorf("loaded: %v", err)
	}
	room = nil
	_, err = run.NewPlan(t.Context(), n, env, b, run.BestGuess)
	if !errors.As(err, &room) || room.Limit != 1 || room.Layer == "" || room.LayerBytes <= 0 {
		t.Errorf("planned: %v", err)
	}
	if _, err := b.Alloc(8 << 20); err == nil || !strings.Contains(err.Error(), "allocate 8.0 MiB") {
		t.Errorf("allocated: %v", err)
	}
	b.LimitMemory(1 << 30)
	m, err := b.Alloc(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	free, total, _ := b.MemoryInfo()
	b.Free(m)
	if more, _, _ := b.MemoryInfo(); total != 1<<30 || more < free+8<<20 && free < 1<<30-8<<20-64<<20 {
		t.Errorf("%d free with 8 MiB taken, %d without, of %d", free, more, total)
	}
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
