package work

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	hugePage  = 2 << 20
	manyBytes = 1 << 20 // from here on huge pages pay
)

// inHugePages asks for huge pages for v if it is large, its neighbours in the first and the last one included: a processor
// that reads megabytes once a run would look up a page for every few lines otherwise. What is refused is in small pages.
func inHugePages(v []float32) {
	if 4*len(v) < manyBytes {
		return
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(v)))
	end := (first + uintptr(4*len(v)) + hugePage - 1) &^ (hugePage - 1)
	first &^= hugePage - 1
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, end-first, unix.MADV_HUGEPAGE)
}
