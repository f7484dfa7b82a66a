//go:build unix

package cpu

import (
	"golang.org/x/sys/unix"

	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// outsideHeap says where allocate takes memory.
const outsideHeap = true

// allocate returns zeroed, page-aligned memory that Go's collector does not see, what is large in huge pages where the system has these:
// the rows that a product reads and writes side by side lie in a page each otherwise. Its capacity is what was taken.
func allocate(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, work.Pages(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	work.InHugePages(b)
	return b[:n], nil
}

func release(b []byte) { unix.Munmap(b[:cap(b)]) }
