//go:build !unix

package cpu

import (
	"github.com/trtui/trtui/core/run"
	"unsafe"
)

// outsideHeap says where allocate takes memory.
const outsideHeap = false

// allocate returns zeroed memory, aligned as slots are.
func allocate(n int) ([]byte, error) {
	b := make([]byte, n+run.Align)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (run.Align - 1)
	return b[skip : skip+n : skip+n], nil
}

func release([]byte) {}
