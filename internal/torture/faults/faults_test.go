//go:build linux

package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/kernels/cpu"
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
	if w.Count()["calls that failed"] == 0 {
		t.Error("nothing failed")
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
