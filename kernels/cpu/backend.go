// Package cpu is the backend that runs everywhere: its tactics are in a table (tactics.go), its memory is the host's,
// and its streams run what they are given at once, on a pool of workers.
package cpu

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Backend is the CPU. Open makes one.
type Backend struct {
	pool     *work.Pool
	features asm.Features
	tactics  []kernels.Tactic
	memory   *memory
}

// Open returns the CPU with the given number of workers; 0 means one for each processor that Go uses.
func Open(threads int) *Backend { return open(threads, asm.HostFeatures()) }

// OpenLimited returns the CPU as one that has fewer vector instructions, so that a plan of another machine can be
// reproduced: features is "generic" for none, or names joined by +, as in "avx2" or "avx512+vnni". What this processor
// lacks is an error.
func OpenLimited(threads int, features string) (*Backend, error) {
	want, err := asm.ParseFeatures(features)
	if err != nil {
		return nil, err
	}
	if host := asm.HostFeatures(); !host.Has(want) {
		return nil, fmt.Errorf("this processor has %v, not %v", host, want)
	}
	return open(threads, want), nil
}

func open(threads int, features asm.Features) *Backend {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &Backend{pool: work.NewPool(threads), memory: &memory{}, features: features, tactics: table(features, threads)}
}

// Info describes the processor.
func (b *Backend) Info() run.Info {
	device := deviceName()
	if b.features.String() != asm.HostFeatures().String() {
		device += fmt.Sprintf(", limited to %v", b.features)
	}
	return run.Info{
		Name: "cpu", Device: device, Threads: b.pool.Threads,
		Host:        true,
		Fingerprint: fmt.Sprintf("cpu %s %s %d threads", runtime.GOARCH, b.features, b.pool.Threads),
	}
}

// Tactics returns the ways to compute op that this processor can run. Those of Pointwise compute every op that is an
// element-wise program.
func (b *Backend) Tactics(op *graph.Op) []kernels.Tactic {
	_, elementwise := op.Attrs.(graph.Elementwise)
	var list []kernels.Tactic
	for _, t := range b.tactics {
		if t.Op == op || t.Op == nil || t.Op == graph.Pointwise && elementwise {
			list = append(list, t)
		}
	}
	return list
}

// Slice returns a part of m.
func (b *Backend) Slice(m kernels.Mem, offset, n int) kernels.Mem {
	return kernels.Mem{Host: m.Host[offset : offset+n : offset+n]}
}

// Upload copies src to dst.
func (b *Backend) Upload(_ kernels.Stream, dst kernels.Mem, src []byte) error {
	copy(dst.Host, src)
	return nil
}

// Download copies src to dst.
func (b *Backend) Download(_ kernels.Stream, dst []byte, src kernels.Mem) error {
	copy(dst, src.Host)
	return nil
}

// NewStream returns a stream over the backend's workers. Streams may be used at the same time: where the workers are
// busy with one, another does its work on the caller's own goroutine.
func (b *Backend) NewStream() (kernels.Stream, error) { return work.NewStream(b.pool), nil }

// NewStreamOf returns a stream with so many workers of its own, the caller's goroutine among them, so that it waits for no
// other stream and shares no processor's work with it. They end when it is closed.
func (b *Backend) NewStreamOf(threads int) (kernels.Stream, error) {
	if threads < 1 || threads > maxThreads {
		return nil, fmt.Errorf("%d threads: want 1 to %d", threads, maxThreads)
	}
	return work.NewOwnStream(threads), nil
}

// maxThreads bounds the workers of a stream: more than any machine has processors.
const maxThreads = 4096

// With returns the same device with further tactics, which come before its own: at equal cost they are preferred. Those of
// other streams and of the device it was made from stay as they are; closing either closes both. The error names a tactic
// that cannot be used.
func (b *Backend) With(tactics ...kernels.Tactic) (run.Backend, error) {
	for _, t := range tactics {
		if err := t.Check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(b.tactics, func(own kernels.Tactic) bool { return own.Name == t.Name }) {
			return nil, fmt.Errorf("tactic %s: there is one of this name", t.Name)
		}
		if t.Needs != 0 {
			return nil, fmt.Errorf("tactic %s needs abilities that the CPU does not name; let its Match say where it runs", t.Name)
		}
	}
	c := *b
	c.tactics = slices.Concat(tactics, b.tactics)
	return &c, nil
}

// Close stops the workers.
func (b *Backend) Close() error {
	b.pool.Close()
	return nil
}

// Loop returns the loop that a kernel's Launch may use on a stream of this backend: it calls f(0) to f(n-1), some of them at
// the same time, and returns when all have returned.
func Loop(s kernels.Stream) func(n int, f func(i int)) { return work.Loop(s) }
