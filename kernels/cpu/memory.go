package cpu

import (
	"fmt"
	"runtime/metrics"
	"sync/atomic"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/kernels"
)

// memory is what a device and those that [Backend.With] makes of it take together.
type memory struct {
	limit atomic.Int64 // bytes that may be taken; 0: all that are free
	taken atomic.Int64 // by Alloc
}

// take counts bytes of Alloc, or given back those of Free.
func (m *memory) take(bytes int64) {
	m.taken.Add(bytes)
	if outsideHeap {
		host.TakeOutside(bytes)
	}
}

// LimitMemory sets how many bytes the process may take, those of Go's heap included; 0 for all that are free.
func (b *Backend) LimitMemory(bytes int64) { b.memory.limit.Store(bytes) }

// MemoryLimit returns what LimitMemory set.
func (b *Backend) MemoryLimit() int64 { return b.memory.limit.Load() }

// MemoryInfo returns how much memory is free, and how much there is, in bytes: of the machine, or within the limit.
func (b *Backend) MemoryInfo() (free, total int64, err error) {
	free, total, known := host.Memory()
	limit := b.memory.limit.Load()
	if limit <= 0 {
		return free, total, nil
	}
	left := max(0, limit-b.memory.taken.Load()-liveHeap())
	if known {
		left = min(left, free)
	}
	return left, limit, nil
}

// liveHeap returns the bytes of Go's heap that were in use when it was collected last.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// Alloc returns zeroed memory outside Go's heap where the system has such. More than MemoryInfo has free is refused.
func (b *Backend) Alloc(n int) (kernels.Mem, error) {
	if n == 0 {
		return kernels.Mem{Host: []byte{}}, nil
	}
	if n > checkedBytes {
		if free, total, _ := b.MemoryInfo(); total > 0 && int64(n) > free {
			return kernels.Mem{}, fmt.Errorf("allocate %s: %s of %s are free", run.Bytes(int64(n)), run.Bytes(free), run.Bytes(total))
		}
	}
	data, err := allocate(n)
	if err != nil {
		return kernels.Mem{}, fmt.Errorf("allocate %d bytes: %w", n, err)
	}
	b.memory.take(int64(cap(data)))
	return kernels.Mem{Host: data}, nil
}

// checkedBytes is the size from which on an allocation is compared with what is free, which takes about 50 microseconds.
const checkedBytes = 1 << 20

// Free gives memory from Alloc back.
func (b *Backend) Free(m kernels.Mem) {
	if len(m.Host) > 0 {
		b.memory.take(-int64(cap(m.Host)))
		release(m.Host)
	}
}
