package build

import (
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// cold lets a kernel find its constants where a network has them: in the device's memory, for those of all other layers were
// read since the last time, while the activations come from the layer before. Launched again and again on one set of constants,
// it would read them from the device's cache. So the launches of a round take turns with copies, as many as it takes for the
// first to be out of the cache when its turn comes again; and before a round the cache is emptied, and the kernel launched once
// without being timed, which brings the activations back.
type cold struct {
	tuner  *tuner
	stream kernels.Cached
	kernel kernels.Resident
	own    kernels.Mem   // where the constants are
	memory kernels.Mem   // of the copies
	copies []kernels.Mem // none where the constants alone fill the cache, or there is no memory for copies
	turn   int
}

const (
	passing   = 2   // what a cache held is out of it when so many times its size went through, whatever it replaces
	copyAlign = 256 // what copies of constants begin at a multiple of
)

// cold returns what keeps a kernel's constants, which are at own, out of the cache. It is nil where there are none, or no cache
// of the device's is known.
func (t *tuner) cold(k kernels.Kernel, own kernels.Mem) *cold {
	s, ok := t.stream.(kernels.Cached)
	r, resident := k.(kernels.Resident)
	if !ok || !resident || s.CacheBytes() <= 0 || len(r.Constants()) == 0 {
		return nil
	}
	return &cold{tuner: t, stream: s, kernel: r, own: own}
}

// spare returns memory that can be done without, and whether there is any. Only the loss of the device is an error.
func (t *tuner) spare(n int) (kernels.Mem, bool, error) {
	m, err := t.backend.Alloc(n)
	if r, ok := t.backend.(run.Recoverer); ok && err != nil && r.Lost(err) {
		return m, false, err
	}
	return m, err == nil, nil
}

// copy makes the copies for a round of n launches, fewer where memory does not suffice.
func (c *cold) copy(n int) error {
	size := len(c.kernel.Constants())
	pitch := (size + copyAlign - 1) / copyAlign * copyAlign
	through := passing * c.stream.CacheBytes()
	if size >= through {
		return nil
	}
	for n = min(n, (through+size-1)/size+1); n > 0; n /= 2 {
		m, ok, err := c.tuner.spare(n * pitch)
		if err != nil {
			return err
		}
		if ok {
			c.memory = m
			break
		}
	}
	for i := range n {
		m := c.tuner.backend.Slice(c.memory, i*pitch, size)
		if err := c.stream.Copy(m, c.own, size); err != nil {
			return err
		}
		c.copies = append(c.copies, m)
	}
	return nil
}

// next lets the kernel read the next copy from its next launch on.
func (c *cold) next() {
	if len(c.copies) > 0 {
		c.kernel.Place(c.copies[c.turn%len(c.copies)])
		c.turn++
	}
}

// empty enqueues what empties the cache, and a launch that reads the kernel's own constants and not a copy.
func (c *cold) empty(launch func() error) error {
	m, ok, err := c.tuner.emptying(passing * c.stream.CacheBytes())
	if err != nil || !ok {
		return err
	}
	if err := c.stream.Clear(m, passing*c.stream.CacheBytes()); err != nil {
		return err
	}
	c.kernel.Place(c.own)
	return launch()
}

// emptying returns the memory that is cleared to empty the cache, and whether there is any: it is asked for once.
func (t *tuner) emptying(n int) (kernels.Mem, bool, error) {
	if t.sweep == nil {
		m, ok, err := t.spare(n)
		if err != nil {
			return m, false, err
		}
		t.sweep = &buffer{}
		if ok {
			*t.sweep = buffer{mem: m, size: n}
		}
	}
	return t.sweep.mem, t.sweep.size > 0, nil
}

// close gives the copies back when no launch needs them any more.
func (c *cold) close() { c.tuner.backend.Free(c.memory) }
