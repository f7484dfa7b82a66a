package main

import (
	"testing"

	"github.com/trtui/trtui/kernels/cuda/bringup"
)

// TestFindingText: what a compiler did is not claimed of a device that has none.
func TestFindingText(t *testing.T) {
	local := 8
	for _, c := range []struct {
		f    bringup.Finding
		want string
	}{
		{bringup.Finding{Check: "jit", Name: "x", OK: true, JITms: 1.5, Registers: 40, LocalBytes: &local, SharedBytes: 64}, "jit     x: JIT 1.5 ms, 40 registers, 8 bytes local, 64 bytes shared"},
		{bringup.Finding{Check: "jit", Name: "x", OK: true, Estimated: true, JITms: 1.5, Registers: 40, SharedBytes: 64},
			"jit     x: read by the host in 1.5 ms, at least 40 registers, spills not known, 64 bytes shared"},
	} {
		if got := findingText(c.f); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
