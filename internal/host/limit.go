package host

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	limit   atomic.Int64 // bytes that this process may take; 0: all that are free
	outside atomic.Int64 // bytes that it took outside of Go's heap
)

// margin is what is kept free of a limit: threads' stacks, the program's own pages as they are read, memory that is rounded up.
func margin(limit int64) int64 { return 8<<20 + limit/32 }

// SetMemoryLimit keeps this process to so many bytes; 0 for all that are free. [Memory] tells what is left of them, and Go's
// collector works as hard as it takes to stay within what is not taken outside of its heap. That alone refuses nothing: what takes
// much asks [Room] before it does.
func SetMemoryLimit(bytes int64) {
	if limit.Swap(bytes) != bytes {
		boundHeap()
	}
}

// MemoryLimit returns what SetMemoryLimit set.
func MemoryLimit() int64 { return limit.Load() }

// TakeOutside counts bytes that are taken outside of Go's heap, or with a negative number given back.
func TakeOutside(bytes int64) {
	outside.Add(bytes)
	if limit.Load() > 0 {
		boundHeap()
	}
}

// boundHeap tells Go's collector what the limit leaves for the heap.
func boundHeap() {
	bound.Lock()
	defer bound.Unlock()
	most := limit.Load()
	if most <= 0 {
		if bound.own {
			debug.SetMemoryLimit(bound.before)
		}
		bound.own = false
		return
	}
	resident, _ := pages()
	before := debug.SetMemoryLimit(max(most-margin(most)-resident.file-outside.Load(), 1<<20))
	if !bound.own {
		bound.own, bound.before = true, before
	}
}

// bound is how the collector is told: whether it has a limit of ours, and what it had before.
var bound struct {
	sync.Mutex
	own    bool
	before int64
}

// left returns how many bytes of a limit nothing has taken yet. Garbage is collected where it would count for much.
func left(limit int64) int64 {
	resident, _ := pages()
	free := limit - margin(limit) - resident.file - outside.Load()
	used, garbage := heap()
	if garbage > limit/16 && used > free/4 {
		runtime.GC()
		used, _ = heap()
	}
	return max(0, free-used)
}

// heap returns the bytes that Go has in use, and how many of them came since garbage was collected last, which may be garbage.
func heap() (used, since int64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	n := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return n(0) - n(1) - n(2), max(0, n(3)-n(4))
}

// residence is what a process has in the machine's memory, in bytes.
type residence struct{ all, file int64 } // file: pages of files, the program itself among them

// pages returns what this process has in memory; ok is false where the system does not tell.
func pages() (r residence, ok bool) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return r, false
	}
	fields := strings.Fields(string(data))
	if len(fields) < 3 {
		return r, false
	}
	all, _ := strconv.ParseInt(fields[1], 10, 64)
	file, err := strconv.ParseInt(fields[2], 10, 64)
	size := int64(os.Getpagesize())
	return residence{all * size, file * size}, err == nil
}

// Shortage is the error of what needs more memory than is free, or than a limit leaves.
type Shortage struct {
	What  string // needs it; "" where it was taken unseen
	Need  int64  // bytes
	Free  int64  // bytes that are free
	Limit int64  // of SetMemoryLimit, 0 where there is none
}

func (e *Shortage) Error() string {
	switch {
	case e.What == "":
		return fmt.Sprintf("this takes %s of memory, and the limit is %s", amount(e.Need), amount(e.Limit))
	case e.Limit > 0:
		return fmt.Sprintf("%s needs %s of memory, and of the limit of %s %s are left", e.What, amount(e.Need), amount(e.Limit), amount(e.Free))
	}
	return fmt.Sprintf("%s needs %s of memory, and %s are free", e.What, amount(e.Need), amount(e.Free))
}

// amount writes bytes in MiB, less than one of these in KiB.
func amount(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// fewBytes is the size from which on memory is asked for.
const fewBytes = 1 << 20

// Room returns a [*Shortage] where so many bytes are not free.
func Room(what string, bytes int64) error {
	if bytes < fewBytes {
		return nil
	}
	if free, _, ok := Memory(); ok && bytes > free {
		return &Shortage{What: what, Need: bytes, Free: free, Limit: MemoryLimit()}
	}
	return nil
}

// Share returns the most bytes that something may keep for which fewer do as well: no more than an eighth of a limit. It does not
// depend on what is free at the moment, so that what follows from it is the same each time.
func Share(most int) int {
	if all := limit.Load(); all > 0 {
		return int(min(int64(most), all/8))
	}
	return most
}

// How often a process that has a limit is looked at, and whether it has got one.
const (
	watchTick = 5 * time.Millisecond
	idleTick  = 250 * time.Millisecond
)

// WatchMemory returns a context that ends with a [*Shortage] as its cause once the process takes more than its limit: the last line,
// behind estimates and the collector. Between two looks at it, a process may take more: some MiB, as fast as pages can be had. Call
// stop when it is needed no longer.
func WatchMemory(ctx context.Context) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for ctx.Err() == nil {
			most, tick := limit.Load(), watchTick
			if most <= 0 {
				tick = idleTick
			} else if r, ok := pages(); ok && r.all > most {
				cancel(&Shortage{Need: r.all, Limit: most})
			}
			select {
			case <-ctx.Done():
			case <-time.After(tick):
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
