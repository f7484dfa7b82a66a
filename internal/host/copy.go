package host

import (
	"sync"
	"time"
)

// copied is more than caches hold, and copies is how often it is copied: the fastest counts, since other work only adds.
const (
	copied = 64 << 20
	copies = 5
)

// CopyRate measures how many bytes a second a copy in memory reads and writes together, shared by so many threads. It takes about
// 50 ms.
func CopyRate(threads int) float64 {
	threads = max(1, threads)
	src, dst := make([]byte, copied), make([]byte, copied)
	for i := 0; i < len(src); i += 1 << 10 { // so that every page is there
		src[i], dst[i] = 1, 1
	}
	best := time.Duration(0)
	for range copies {
		var all sync.WaitGroup
		start := time.Now()
		for i := range threads {
			all.Go(func() {
				from, to := i*copied/threads, (i+1)*copied/threads
				copy(dst[from:to], src[from:to])
			})
		}
		all.Wait()
		if d := time.Since(start); best == 0 || d < best {
			best = d
		}
	}
	return 2 * copied / best.Seconds()
}
