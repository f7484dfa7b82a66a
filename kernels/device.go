package kernels

import (
	"context"
	"io"

	"github.com/trtui/trtui/core/graph/numeric"
)

// What follows are abilities that kernels and streams of a device with memory and compilers of its own have beside the
// contract. A backend that shares the host's memory needs none of them.

// Resident is implemented by kernels that read constants from device memory: packed weights, tables. Whoever binds such
// a kernel places them before the first launch, all kernels' of a plan in one allocation.
type Resident interface {
	// Constants returns what is to be placed, at a multiple of 256.
	Constants() []byte
	// Place tells the kernel where it is.
	Place(Mem)
}

// Code is what a device's compiler made of a kernel, kept so that the next load need not compile.
type Code struct {
	Key  string // of the source, the target and the compiler: other code never has it
	Data []byte
}

// Compiled is implemented by kernels that were compiled for their device.
type Compiled interface {
	Code() []Code
}

// Explained is implemented by kernels that can show what runs on their device.
type Explained interface {
	Explain() (Explanation, error)
}

// Explanation is the code of a kernel and what is known of it.
type Explanation struct {
	Language string // "PTX"
	Compiler string // that tells of a simulated device's launches what the driver tells of a GPU's; empty: none was asked
	Text     string
	Launches []LaunchNote // in order
}

// LaunchNote is one launch of a function of the code.
type LaunchNote struct {
	Function    string
	Grid, Block [3]int
	Registers   int  // of a thread; those live at a time in the order of the text where SpillBytes is nil
	SharedBytes int  // of a block, static and dynamic
	SpillBytes  *int // local memory of a thread: what the registers did not hold; nil: not known, no compiler was asked
	Resident    int  // blocks that a multiprocessor holds at a time
}

// Noted is implemented by kernels that have something to say about themselves that a person who wonders about their time
// should know.
type Noted interface {
	Note() string // short; empty where there is nothing
}

// Note returns what a kernel says about itself.
func Note(k Kernel) string {
	if n, ok := k.(Noted); ok {
		return n.Note()
	}
	return ""
}

// Close gives back what a kernel holds of its device: code that was loaded for it. Whoever binds a kernel closes it after
// its last launch. Kernels that hold nothing need no Close.
func Close(k Kernel) error {
	if c, ok := k.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Capturer is implemented by streams that record work and replay it at once, with a single call to the driver.
type Capturer interface {
	// Capture returns what f puts into the stream, which does not run. Marks that f records are reached whenever the
	// graph runs.
	Capture(f func() error) (Graph, error)
}

// Watchable is implemented by streams of devices that are simulated: a launch runs while the host calls it, and takes so
// long that a person wants to see how far it is, and to end it.
type Watchable interface {
	// Watch ends the launches from now on when ctx does, with an error that wraps its, and tells how many of a launch's
	// blocks have run, one call at a time. It returns false, and does nothing, where launches take no time worth watching.
	Watch(ctx context.Context, tell func(done, total int)) bool
}

// Cached is implemented by streams of devices with a cache before their memory that outlives a launch: whoever times launches has
// to know what they find in it.
type Cached interface {
	CacheBytes() int                // 0: not known
	Copy(dst, src Mem, n int) error // enqueues a copy of n bytes within the device's memory
	Clear(m Mem, n int) error       // enqueues the writing of n zeros
}

// Graph is captured work. It runs on the stream that captured it.
type Graph interface {
	Launch() error
	Close() error
}

// Worded is implemented by streams of devices that compute with strings: in their memory an element is a number of I64, which this
// table gave. Whoever uses the stream fills and empties the table.
type Worded interface {
	Strings() *numeric.StringTable
}
