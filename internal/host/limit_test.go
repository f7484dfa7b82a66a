package host

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// What is taken in Go's heap and outside of it is missing from a limit, and what is given back is there again.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	const most, part = 1 << 30, 64 << 20
	SetMemoryLimit(most)
	defer SetMemoryLimit(0)
	free, total, ok := Memory()
	if !ok || total != most || free <= 0 || free >= most {
		t.Fatalf("%d of %d free, %v", free, total, ok)
	}
	if set := debug.SetMemoryLimit(-1); set >= most || set < most/2 {
		t.Errorf("the collector keeps to %d", set)
	}
	held := make([]byte, part)
	with, _, _ := Memory()
	if d := free - with; d < part-1<<20 || d > part+16<<20 {
		t.Errorf("%d bytes of heap are %d of the limit", part, d)
	}
	TakeOutside(part)
	both, _, _ := Memory()
	if d := with - both; d < part-8<<20 || d > part+8<<20 {
		t.Errorf("%d bytes outside are %d of the limit", part, d)
	}
	TakeOutside(-part)
	runtime.KeepAlive(held)
	var short *Shortage
	if err := Room("a model", 2*most); !errors.As(err, &short) || short.Limit != most || !strings.Contains(err.Error(), "a model needs 2048 MiB") {
		t.Errorf("%v", err)
	}
	if err := Room("little", part); err != nil {
		t.Error(err)
	}
	if got := Share(most); got != most/8 {
		t.Errorf("a share of %d", got)
	}
	SetMemoryLimit(0)
	if set := debug.SetMemoryLimit(-1); set != before {
		t.Errorf("the collector keeps to %d without a limit, and kept to %d before", set, before)
	}
	if got := Share(most); got != most {
		t.Errorf("a share of %d without a limit", got)
	}
}

// A process that takes more than its limit is told.
func TestWatchMemory(t *testing.T) {
	if _, ok := pages(); !ok {
		t.Skip("the system does not tell what a process has in memory")
	}
	ctx, stop := WatchMemory(context.Background())
	defer stop()
	SetMemoryLimit(1 << 40)
	defer SetMemoryLimit(0)
	time.Sleep(30 * time.Millisecond)
	if err := context.Cause(ctx); err != nil {
		t.Fatalf("below the limit: %v", err)
	}
	SetMemoryLimit(1 << 20)
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("nothing tells")
	}
	var short *Shortage
	if err := context.Cause(ctx); !errors.As(err, &short) || short.Limit != 1<<20 || short.Need <= short.Limit {
		t.Errorf("%v", err)
	}
}
