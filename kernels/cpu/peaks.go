package cpu

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// Peaks measures the processor's ceilings, of one thread and of as many as the backend has, within half a second or so. It shares
// nothing with the backend's workers, which are to have nothing to do meanwhile.
func (b *Backend) Peaks(ctx context.Context) ([]run.Peaks, error) {
	m := meter{ctx, b, caches(), mostOccasions}
	var list []run.Peaks
	for _, threads := range slices.Compact([]int{1, b.pool.Threads}) {
		p, err := m.peaks(threads)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			p.Raise(list[0]) // what one thread reaches they all do
		}
		list = append(list, p)
	}
	return list, nil
}

// How often and for how long each peak is measured: until the best occasions agree, of which some are undisturbed even where the
// machine has other work.
const (
	leastOccasions = 8
	mostOccasions  = 64
	occasion       = 800 * time.Microsecond
	agreed         = 0.02 // the third best is less than the best by no more
)

// meter measures peaks.
type meter struct {
	ctx       context.Context
	backend   *Backend
	caches    []cache
	occasions int // at most
}

// peaks measures those of so many threads.
func (m meter) peaks(threads int) (p run.Peaks, err error) {
	p.Threads = threads
	for _, l := range asm.PeakLoops(m.backend.features) {
		k := run.Peak{Name: l.Type, By: l.By}
		m.rate(&k, threads, float64(l.Operations), func(_, n int) { l.Run(n) })
		p.Compute = append(p.Compute, k)
		if k.Name == "f32" { // what kernels on halves compute in, once these are widened
			k.Name, k.By = "f16", "as f32, from halves that are widened"
			p.Compute = append(p.Compute, k)
		}
	}
	if p.Memory, err = m.memory(threads); err != nil {
		return p, err
	}
	return p, m.ctx.Err()
}

// smallestLevel is what every processor keeps in its nearest cache, where the system does not tell of its caches.
const smallestLevel = 16 << 10

// memory measures the rates at which so many threads read their levels of memory, each a part of its own.
func (m meter) memory(threads int) ([]run.Peak, error) {
	levels := m.caches
	if len(levels) == 0 {
		levels = []cache{{1, 2 * smallestLevel, 1}}
	}
	var list []run.Peak
	var inner, held int64 // what the levels before it hold: of the last one, and of all
	for _, c := range levels {
		all := c.bytes * int64(c.instances(threads))
		size := all / 2
		if inner > 0 {
			size = min(size, 4*inner) // near its begin, others may have the rest of it
		}
		if size <= inner {
			continue // what no working set meets alone
		}
		k, err := m.reading(fmt.Sprintf("L%d", c.level), threads, size)
		if err != nil {
			return nil, err
		}
		held += all // where a level keeps what falls out of the one before it
		inner, k.Holds = all, held
		list = append(list, k)
	}
	k, err := m.reading("DRAM", threads, m.beyond(inner))
	if list = append(list, k); err != nil {
		return nil, err
	}
	for i := len(list) - 2; i >= 0; i-- { // a level that is nearer is no slower: it was disturbed
		if near, far := &list[i], list[i+1]; near.Rate < far.Rate {
			near.Rate, near.Spread = far.Rate, max(near.Spread, far.Spread)
		}
	}
	return list, nil
}

const (
	// How many bytes stand for memory that no cache holds.
	leastBeyond = 64 << 20
	mostBeyond  = 512 << 20
	readGrain   = 4 << 10 // asm.ReadAll reads multiples of it
)

// beyond returns a size that caches of so many bytes do not hold, but never more than a quarter of what is free.
func (m meter) beyond(cached int64) int64 {
	size := min(max(4*cached, leastBeyond), mostBeyond)
	if free, total, err := m.backend.MemoryInfo(); err == nil && total > 0 {
		size = min(size, free/4)
	}
	return max(size, smallestLevel)
}

// reading measures the rate at which threads read so many bytes again and again, each its part.
func (m meter) reading(name string, threads int, size int64) (run.Peak, error) {
	if err := m.ctx.Err(); err != nil {
		return run.Peak{}, err
	}
	each := int(max(size/int64(threads)&^(readGrain-1), readGrain))
	mem, err := m.backend.Alloc(each * threads)
	if err != nil {
		return run.Peak{}, fmt.Errorf("measure the rate of %s: %w", name, err)
	}
	defer m.backend.Free(mem)
	for i := 0; i < len(mem.Host); i += 4 << 10 { // else all pages are the one page of zeros
		mem.Host[i] = 1
	}
	k := run.Peak{Name: name, By: fmt.Sprintf("reading %s", run.Bytes(int64(each*threads)))}
	at := make([]int, threads)
	piece := min(each, 1<<20) // of what is larger, so that an occasion is as long
	m.rate(&k, threads, float64(piece), func(thread, n int) {
		own := mem.Host[thread*each:][:each]
		for range n {
			if at[thread]+piece > each {
				at[thread] = 0
			}
			asm.ReadAll(m.backend.features, own[at[thread]:][:piece])
			at[thread] += piece
		}
	})
	return k, nil
}

// rate measures what threads do at a time: f does n pieces of work, of a size, as one of them. It is the sum of what each does in
// its own time, on the best of the occasions on which they were at work at the same time.
func (m meter) rate(k *run.Peak, threads int, size float64, f func(thread, n int)) {
	n := 1
	for n < 1<<30 {
		begin := time.Now()
		f(0, n)
		if took := time.Since(begin); took >= occasion/4 {
			n = max(1, int(float64(n)*float64(occasion)/float64(took)))
			break
		}
		n *= 2
	}
	var best [3]float64 // descending
	for i, met := 0, 0; i < m.occasions && m.ctx.Err() == nil; i++ {
		spans := together(threads, func(thread int) { f(thread, n) })
		if !spans.overlap() {
			if best[0] == 0 {
				k.Rate = max(k.Rate, size*float64(n)*float64(threads)/spans.all().Seconds()) // if there is nothing better
			}
			continue
		}
		r := 0.0
		for _, s := range spans {
			r += size * float64(n) / max(s[1].Sub(s[0]), 1).Seconds()
		}
		for j := range best {
			if r > best[j] {
				best[j], r = r, best[j]
			}
		}
		if met++; met >= leastOccasions && best[2] > (1-agreed)*best[0] {
			break
		}
	}
	if k.Spread = 1; best[0] > 0 {
		k.Rate, k.Spread = best[0], 1-best[1]/best[0]
	}
}

// spans are when each of several threads began and ended its work.
type spans [][2]time.Time

// overlap reports whether they were at work at the same time for most of it. Threads that have to share a processor take turns.
func (s spans) overlap() bool {
	last, first, shortest := s[0][0], s[0][1], s[0][1].Sub(s[0][0])
	for _, x := range s {
		if x[0].After(last) {
			last = x[0]
		}
		if x[1].Before(first) {
			first = x[1]
		}
		shortest = min(shortest, x[1].Sub(x[0]))
	}
	return first.Sub(last) > shortest*3/4
}

// all returns the time from the first that began to the last that ended.
func (s spans) all() time.Duration {
	first, last := s[0][0], s[0][1]
	for _, x := range s {
		if x[0].Before(first) {
			first = x[0]
		}
		if x[1].After(last) {
			last = x[1]
		}
	}
	return max(last.Sub(first), 1)
}

// together runs f by so many threads that wait for each other to begin.
func together(threads int, f func(thread int)) spans {
	var ready atomic.Int32
	var done sync.WaitGroup
	list := make(spans, threads)
	for i := range threads {
		done.Go(func() {
			ready.Add(1)
			for spins := 0; int(ready.Load()) < threads; spins++ {
				if spins > patience {
					time.Sleep(time.Microsecond) // there are fewer processors
				}
			}
			begin := time.Now()
			f(i)
			list[i] = [2]time.Time{begin, time.Now()}
		})
	}
	done.Wait()
	return list
}

// patience is how often a thread looks for the others before it sleeps: for a millisecond or so.
const patience = 1 << 20
