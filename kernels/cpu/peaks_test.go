package cpu

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/run"
)

// TestPeaks measures this machine, as it is and as one without vector instructions, on few occasions.
func TestPeaks(t *testing.T) {
	for _, open := range []func() (*Backend, error){
		func() (*Backend, error) { return Open(2), nil },
		func() (*Backend, error) { return OpenLimited(1, "generic") },
	} {
		b, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		b.LimitMemory(1 << 28) // for less of what stands for DRAM
		m := meter{t.Context(), b, caches(), 3}
		p, err := m.peaks(b.pool.Threads)
		if err == nil {
			err = p.Check()
		}
		if err != nil || p.Threads != b.pool.Threads {
			t.Fatalf("%v: %+v, %v", b.features, p, err)
		}
		for _, list := range [][]run.Peak{p.Compute, p.Memory} {
			for _, k := range list {
				t.Logf("%v, %d threads: %s %.1f G/s by %s, holds %d, spread %.3f", b.features, p.Threads, k.Name, k.Rate/1e9, k.By, k.Holds, k.Spread)
			}
		}
	}
}

func TestPeaksEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := Open(1)
	defer b.Close()
	if _, err := b.Peaks(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestCaches reads what a system tells, and nothing of what it cannot mean.
func TestCaches(t *testing.T) {
	dir := t.TempDir()
	write := func(index, level, kind, size, shared string) {
		for name, text := range map[string]string{"level": level, "type": kind, "size": size, "shared_cpu_list": shared} {
			if err := os.MkdirAll(filepath.Join(dir, index), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, index, name), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("index0", "1", "Data", "48K", "0,64")
	write("index1", "1", "Instruction", "32K", "0,64")
	write("index2", "2", "Unified", "2048K", "0,64")
	write("index3", "3", "Unified", "60M", "0-31,64-95")
	write("index4", "4", "Unified", "-1K", "0-127")
	write("index5", "5", "Unified", "1G", "7-0")
	write("index6", "x", "Unified", "1G", "0")
	list := cachesBelow(dir)
	want := []cache{{1, 48 << 10, 2}, {2, 2 << 20, 2}, {3, 60 << 20, 64}}
	if len(list) != len(want) {
		t.Fatalf("got %v", list)
	}
	for i, c := range list {
		if c != want[i] {
			t.Errorf("got %v, want %v", c, want[i])
		}
	}
	if n := list[0].instances(3); n != 2 {
		t.Errorf("three threads have %d caches that two share", n)
	}
	if got := cachesBelow(filepath.Join(dir, "none")); got != nil {
		t.Errorf("of no folder: %v", got)
	}
}
