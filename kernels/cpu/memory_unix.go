//go:build unix

package cpu

import "golang.org/x/sys/unix"

// outsideHeap says where allocate takes memory.
const outsideHeap = true

// allocate returns zeroed, page-aligned memory that Go's collector does not see.
func allocate(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func release(b []byte) { unix.Munmap(b[:len(b):cap(b)]) }
