package run

import (
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
)

func somePeaks() *Peaks {
	return &Peaks{Threads: 1, Compute: []Peak{{Name: "f32", Rate: 100e9}, {Name: "i8", Rate: 400e9}},
		Memory: []Peak{{Name: "L1", Rate: 200e9, Holds: 1000}, {Name: "L2", Rate: 100e9, Holds: 10000}, {Name: "DRAM", Rate: 10e9}}}
}

// TestFloor computes by hand the least times of steps, and what bounds them.
func TestFloor(t *testing.T) {
	for _, c := range []struct {
		what                  string
		w                     Work
		time, compute, memory time.Duration
		bound                 string
	}{
		{"arithmetic", Work{Operations: 1e6, Traffic: []Traffic{{1000, 1000}}}, 10000, 10000, 5, "f32"},
		{"of bytes", Work{Operations: 1e6, Type: numeric.I8, Traffic: []Traffic{{1000, 1000}}}, 2500, 2500, 5, "i8"},
		{"of halves, which are computed as floats", Work{Operations: 1e6, Type: numeric.F16}, 10000, 10000, 0, "f32"},
		{"nearest level", Work{Operations: 10, Traffic: []Traffic{{1000, 500}}}, 5, 1, 5, "L1"},
		{"a tenth of it stays in L1, the rest in L2", Work{Traffic: []Traffic{{10000, 10000}}}, 95, 0, 95, "L2"},
		{"a hundredth in L1, a tenth by L2, the rest comes from DRAM", Work{Traffic: []Traffic{{100000, 100000}}}, 9095, 0, 9095, "DRAM"},
		{"small weights that were read long ago", Work{Traffic: []Traffic{{100, 1e6}, {1000, 1000}}}, 15, 0, 15, "DRAM"},
		{"nothing", Work{}, 0, 0, 0, ""},
	} {
		if c.w.Type == 0 {
			c.w.Type = numeric.F32
		}
		if f := somePeaks().Floor(&c.w); f != (Floor{c.time, c.compute, c.memory, c.bound}) {
			t.Errorf("%s: %+v", c.what, f)
		}
	}
}

func TestRaise(t *testing.T) {
	p, other := somePeaks(), somePeaks()
	other.Compute[1].Rate, other.Memory[1].Rate, other.Memory[1].Holds, other.Memory[2].Rate = 500e9, 150e9, 77, 5e9
	p.Raise(*other)
	if p.Compute[1].Rate != 500e9 || p.Memory[1].Rate != 150e9 || p.Memory[1].Holds != 10000 || p.Memory[2].Rate != 10e9 {
		t.Errorf("got %+v", p)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.Memory[0].Holds = 20000
	if p.Check() == nil {
		t.Error("a level that holds more than the one behind it passes")
	}
}

// TestLevel finds what holds some bytes.
func TestLevel(t *testing.T) {
	for bytes, want := range map[int64]string{0: "L1", 1000: "L1", 1001: "L2", 10001: "DRAM"} {
		if got := somePeaks().Level(bytes).Name; got != want {
			t.Errorf("%d bytes are in %s, want %s", bytes, got, want)
		}
	}
}
