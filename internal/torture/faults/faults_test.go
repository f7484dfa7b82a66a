//go:build linux

package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// TestSample: some tries of the hunt find nothing.
func TestSample(t *testing.T) {
	w, err := start(torture.Place{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for seed := range uint64(24) {
		for _, f := range w.Try(t.Context(), seed) {
			t.Errorf("%d: %s\n%s", seed, f.Kind, f.Text)
		}
	}
	if n := w.Count(); n["calls that failed"] == 0 || n["calls that failed on a GPU"] == 0 {
		t.Errorf("nothing failed: %v", n)
	}
}

// TestWrong judges the ends of trips by hand.
func TestWrong(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	for _, tt := range []struct {
		name string
		err  error
		leak bool
		want string
	}{
		{"done", nil, false, ""},
		{"named", fmt.Errorf("layer a: tactic b: launch: %w", errFault), false, ""},
		{"nameless", fmt.Errorf("layer a: launch: %w", errFault), false, "layer and tactic"},
		{"memory", fmt.Errorf("arena: alloc: %w", errFault), false, ""},
		{"silent", errors.New("no"), false, "does not say"},
		{"other result", fmt.Errorf("%w: output y", errWrong), false, "another result"},
		{"leak", nil, true, "left behind: 1 allocations"},
	} {
		d := newDevice(host, schedule{Call: launch}, 1)
		if tt.leak {
			if _, err := d.Alloc(100); err != nil {
				t.Fatal(err)
			}
		}
		d.failed = 1
		trip := trip{device: d, lowered: true}
		if got := trip.wrong(tt.err); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestDeviceHasStrings: what the processor computes with, the device that fails does, too.
func TestDeviceHasStrings(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	s, err := newDevice(host, schedule{}, 1).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if w, ok := s.(kernels.Worded); !ok || w.Strings() == nil {
		t.Error("it has no table of strings")
	}
}

// TestSchedule counts which calls fail.
func TestSchedule(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	for _, tt := range []struct {
		s    schedule
		want string
	}{
		{schedule{Call: alloc, First: 1}, ".x.."},
		{schedule{Call: alloc, First: 2, Often: true, Chance: 1}, "..xx"},
		{schedule{Call: bind, Often: true, Chance: 1}, "...."},
	} {
		d, got := newDevice(host, tt.s, 1), ""
		for range 4 {
			m, err := d.Alloc(8)
			d.Free(m)
			got += map[bool]string{true: ".", false: "x"}[err == nil]
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.s, got, tt.want)
		}
	}
}

// TestGPU judges what is left of a simulated GPU: a block that the driver did not take back is its own fault, others are not, and
// a lost device has nothing left.
func TestGPU(t *testing.T) {
	for _, tt := range []struct {
		s      schedule
		keeps  bool
		failed int
		want   string
	}{
		{schedule{Call: "MemFree", Result: driver.InvalidValue}, false, 1, ""},
		{schedule{Call: "MemFree", Result: driver.InvalidValue}, true, 0, "2 things, 0 of which could not be given back"},
		{schedule{Call: anyCall, First: 3, Result: driver.IllegalAddress}, true, 1, ""},
		{schedule{Call: "MemAlloc", First: 1, Result: driver.OutOfMemory}, false, 1, ""},
		{schedule{Call: "MemAlloc", First: 1, Result: driver.OutOfMemory}, true, 1, "1 things, 0 of which could not be given back"},
	} {
		g, err := newGPU(tt.s, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m, err := g.Alloc(256)
			if err != nil && !g.says(err.Error()) {
				t.Errorf("%s: %v", tt.s, err)
			}
			if !tt.keeps {
				g.Free(m)
			}
		}
		if got := g.left(); tt.want == "" && got != "" || !strings.Contains(got, tt.want) || g.failures() != tt.failed {
			t.Errorf("%s: left%s, want %s; %d failures, want %d", tt.s, got, tt.want, g.failures(), tt.failed)
		}
		g.Close()
	}
}
