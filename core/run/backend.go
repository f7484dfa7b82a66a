package run

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Backend is a device and its tactics. It is safe for concurrent use.
type Backend interface {
	Info() Info
	// Tactics returns the ways to compute op, best guess first, the reference last. Only tactics whose Needs the device
	// has are returned.
	Tactics(op *graph.Op) []kernels.Tactic
	// Alloc returns memory of at least n bytes, aligned to 256, zeroed.
	Alloc(n int) (kernels.Mem, error)
	Free(kernels.Mem)
	// Slice returns the n bytes of m that start at offset.
	Slice(m kernels.Mem, offset, n int) kernels.Mem
	Upload(s kernels.Stream, dst kernels.Mem, src []byte) error
	Download(s kernels.Stream, dst []byte, src kernels.Mem) error
	NewStream() (kernels.Stream, error)
	Close() error
}

// Info describes a backend.
type Info struct {
	Name        string // "cpu", "cuda:0"
	Device      string // the processor's or the GPU's own name
	Fingerprint string // what a plan depends on: instruction sets, or SM and driver
	Threads     int    // workers, on a CPU
	// Align is what the bytes of every tensor must begin at a multiple of, slices of larger tensors too; 0 for anywhere.
	Align int
	// Host says that its memory is the host's, where kernels keep the constants that they pack, too.
	Host bool
	// Estimated says that times on this backend are a model's, not measured.
	Estimated bool
}

// Compiler is implemented by backends that compile kernels as they bind them, which takes long: several are bound at a
// time.
type Compiler interface {
	// Adopt gives the backend code that it, or another process, made before. What is stale it ignores.
	Adopt([]kernels.Code)
	// CodeUse tells where the code came from that was bound until now.
	CodeUse() CodeUse
}

// Threaded is implemented by backends that compute with threads of the host.
type Threaded interface {
	// NewStreamOf returns a stream with so many threads of its own, which end when it is closed.
	NewStreamOf(threads int) (kernels.Stream, error)
}

// CodeUse is how many modules of code were compiled, and how many were found in the files where earlier compilations are
// kept. Err is why those files cannot be used, if they cannot: what they would save is compiled.
type CodeUse struct {
	Compiled int
	Filed    int
	Err      error
}

// Recoverer is implemented by backends whose device can be lost: after some errors it refuses everything until it is
// started anew.
type Recoverer interface {
	// Lost reports whether err says that the device is lost.
	Lost(err error) bool
	// Recover starts the device anew. All that was loaded or allocated on it has been closed before.
	Recover() error
}

// lost reports whether err says that b has lost its device.
func lost(b Backend, err error) bool {
	r, ok := b.(Recoverer)
	return ok && r.Lost(err)
}
