package cpu

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestHugePages: huge pages are asked for what is large, and all that was taken is given back.
func TestHugePages(t *testing.T) {
	for _, c := range []struct {
		bytes, taken int
		huge         bool
	}{{1000, 1000, false}, {1<<20 - 1, 1<<20 - 1, false}, {3 << 20, 4 << 20, true}} {
		var m memory
		b := &Backend{memory: &m}
		mem, err := b.Alloc(c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		if taken := m.taken.Load(); len(mem.Host) != c.bytes || taken != int64(c.taken) {
			t.Errorf("%d bytes: got %d, took %d, want %d", c.bytes, len(mem.Host), taken, c.taken)
		}
		if flags, ok := pageFlags(unsafe.Pointer(unsafe.SliceData(mem.Host))); ok && strings.Contains(flags, " hg") != c.huge {
			t.Errorf("%d bytes: the mapping's flags are%s", c.bytes, flags)
		}
		b.Free(mem)
		if taken := m.taken.Load(); taken != 0 {
			t.Errorf("%d bytes: %d were not given back", c.bytes, taken)
		}
		if flags, ok := pageFlags(unsafe.Pointer(unsafe.SliceData(mem.Host))); ok && flags != "" {
			t.Errorf("%d bytes: still mapped", c.bytes)
		}
	}
}

// pageFlags returns the flags of the mapping that has a byte, empty where none has, if the system tells and has huge pages.
func pageFlags(at unsafe.Pointer) (flags string, ok bool) {
	maps, err := os.ReadFile("/proc/self/smaps")
	if _, none := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || none != nil || !strings.Contains(string(maps), "VmFlags:") {
		return "", false
	}
	within := false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			within = from <= uintptr(at) && uintptr(at) < to
		}
		if rest, found := strings.CutPrefix(line, "VmFlags:"); found && within {
			return strings.TrimRight(rest, "\n") + " ", true
		}
	}
	return "", true
}
