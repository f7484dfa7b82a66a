package work

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	hugePage  = 2 << 20
	manyBytes = 1 << 18 // from here on huge pages pay
)

// inHugePages asks for huge pages for n bytes at v if these are many, their neighbours in the first and the last one included: a processor
// that reads megabytes once a run would look up a page for every few lines otherwise. Memory that was in use before, as most of an
// engine's that is read from a file, has small pages already: those are made one where Linux knows how, from 6.1 on. What is refused
// is in small pages.
func inHugePages(v unsafe.Pointer, n int) {
	if n < manyBytes {
		return
	}
	first := uintptr(v)
	end := (first + uintptr(n) + hugePage - 1) &^ (hugePage - 1)
	first &^= hugePage - 1
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, end-first, unix.MADV_HUGEPAGE)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, end-first, unix.MADV_COLLAPSE)
}

// Pages returns the bytes to map for n of which huge pages are to be asked: whole ones, unless half of one would be in vain.
func Pages(n int) int {
	if n < hugePage/2 {
		return n
	}
	return (n + hugePage - 1) &^ (hugePage - 1)
}

// InHugePages asks for huge pages for memory that was just mapped, of so many bytes as [Pages] says.
func InHugePages(b []byte) {
	if len(b) >= hugePage {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // what is refused is in small pages
	}
}
