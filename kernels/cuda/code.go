package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// code is one module in the driver.
type code struct {
	ctx    driver.Context
	key    string
	users  int // kernels; counted by the cache
	once   sync.Once
	err    error
	module driver.Module
	binary compiled // of the driver's; empty where it gives none

	mu        sync.Mutex
	functions map[string]driver.Function
	shared    map[string]int // bytes of dynamic shared memory that each may use
	spills    int            // bytes of a thread, of the greediest function
}

// codeCache has the modules that kernels use, by key: layers of one shape share theirs. The last user's end unloads it;
// its binary is kept, so that the next one need not compile.
type codeCache struct {
	mu       sync.Mutex
	loaded   map[string]*code
	binaries map[string]compiled
	order    []string   // of binaries, the oldest first
	bytes    int        // of binaries
	files    *codeFiles // nil where none are kept
	use      run.CodeUse
}

// compiled is what the driver's compiler made of a text, and what it warned of.
type compiled struct {
	cubin    []byte
	warnings string
}

// maxBinaryBytes is how much memory binaries may take: a cubin has some ten kilobytes.
const maxBinaryBytes = 256 << 20

func newCodeCache() codeCache {
	return codeCache{loaded: map[string]*code{}, binaries: map[string]compiled{}}
}

// codeKey names the code that the driver makes of a text: it holds as long as text, device and driver do.
func codeKey(d driver.Device, text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s sm_%d driver %s", hex.EncodeToString(sum[:]), d.SM, d.Compiler())
}

// keep remembers a binary; the oldest ones go where there are too many.
func (c *codeCache) keep(key string, b compiled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.binaries[key]; ok || len(b.cubin) == 0 || len(b.cubin) > maxBinaryBytes {
		return
	}
	c.binaries[key] = b
	c.order = append(c.order, key)
	for c.bytes += len(b.cubin); c.bytes > maxBinaryBytes; c.order = c.order[1:] {
		c.bytes -= len(c.binaries[c.order[0]].cubin)
		delete(c.binaries, c.order[0])
	}
}

// forget drops a binary that the driver refused.
func (c *codeCache) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.binaries[key]; ok {
		c.bytes -= len(b.cubin)
		delete(c.binaries, key)
		c.order = slices.DeleteFunc(c.order, func(k string) bool { return k == key })
	}
}

// count adds one to a number of c.use.
func (c *codeCache) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// modules returns how many are loaded.
func (c *codeCache) modules() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.loaded)
}

// acquire loads a work's module for one more user. Several modules are compiled at a time where several goroutines ask.
func (c *codeCache) acquire(ctx driver.Context, w *emit.Work) (*code, error) {
	text := w.Text()
	key := codeKey(ctx.Device(), text)
	c.mu.Lock()
	k := c.loaded[key]
	if k == nil {
		k = &code{ctx: ctx, key: key, binary: c.binaries[key], functions: map[string]driver.Function{}, shared: map[string]int{}}
		c.loaded[key] = k
	}
	k.users++
	c.mu.Unlock()
	k.once.Do(func() { k.err = c.load(k, w.Module, text) })
	if k.err != nil {
		_ = c.release(k) // there is nothing to unload
		return nil, k.err
	}
	return k, nil
}

// release ends a use. The last one unloads the module.
func (c *codeCache) release(k *code) error {
	c.mu.Lock()
	k.users--
	last := k.users == 0
	if last && c.loaded[k.key] == k {
		delete(c.loaded, k.key)
	}
	c.mu.Unlock()
	if !last || k.module == 0 {
		return nil
	}
	return k.ctx.ModuleUnload(k.module)
}

// load gives the module to the driver: the stored binary, of memory or of a file, if it takes that, else its own
// compilation, else the text. What is compiled is checked before: a driver says less about a fault, and takes some in silence; the check takes less than a
// millisecond, for most.
func (c *codeCache) load(k *code, m *ptx.Module, text string) error {
	if k.binary.cubin != nil {
		if err := k.loadBinary(); err == nil || exhausted(err) {
			return err
		}
		c.forget(k.key)
	}
	if filed, err := c.loadFile(k); filed {
		return err
	}
	if err := m.Check(); err != nil {
		return err
	}
	c.count(&c.use.Compiled)
	cubin, log, err := k.ctx.Link([]byte(text), driver.JITOptions{})
	k.binary = compiled{cubin, driver.Warnings(log.Info)}
	if err == nil {
		if err = k.loadBinary(); err == nil {
			c.keep(k.key, k.binary)
			if c.files != nil {
				c.files.save(k.key, k.binary)
			}
			return nil
		}
	}
	if exhausted(err) {
		return err
	}
	k.module, log, err = k.ctx.ModuleLoad([]byte(text), driver.JITOptions{})
	k.binary = compiled{nil, driver.Warnings(log.Info)}
	return err
}

// loadBinary gives the driver the binary that there is.
func (k *code) loadBinary() (err error) {
	k.module, _, err = k.ctx.ModuleLoad(k.binary.cubin, driver.JITOptions{})
	return err
}

// loadFile loads the binary that an earlier process left. It reports false where there is none that the driver takes.
func (c *codeCache) loadFile(k *code) (bool, error) {
	if c.files == nil {
		return false, nil
	}
	b, ok := c.files.load(k.key)
	if !ok {
		return false, nil
	}
	k.binary = b
	err := k.loadBinary()
	if err == nil {
		c.count(&c.use.Filed)
		c.keep(k.key, k.binary)
	} else if !exhausted(err) {
		c.files.forget(k.key)
		return false, nil
	}
	return true, err
}

// exhausted reports whether another way to load the same code cannot do better: the device is out of memory, or lost.
func exhausted(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && (e.OutOfMemory() || e.Sticky())
}

// function returns a kernel of the module, made ready for a launch.
func (k *code) function(l emit.Launch) (driver.Function, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.functions[l.Kernel]
	if !ok {
		var err error
		if f, err = k.ctx.ModuleGetFunction(k.module, l.Kernel); err != nil {
			return 0, err
		}
		a, err := k.ctx.FuncAttributes(f)
		if err != nil {
			return 0, err
		}
		if k.functions[l.Kernel] = f; !a.Declared {
			k.spills = max(k.spills, a.LocalBytes)
		}
	}
	if l.Shared <= k.shared[l.Kernel] {
		return f, nil
	}
	if most := k.ctx.Device().SharedPerBlockMax; l.Shared > most {
		return 0, fmt.Errorf("it takes %d bytes of shared memory, the device has %d for a block", l.Shared, most)
	}
	if err := k.ctx.FuncSetMaxDynamicShared(f, l.Shared); err != nil {
		return 0, err
	}
	k.shared[l.Kernel] = l.Shared
	return f, nil
}

// note sums up what the compiler did that costs speed: registers that did not suffice, and what it warned of.
func (k *code) note() string {
	var notes []string
	if k.spills > 0 {
		notes = append(notes, fmt.Sprintf("spills %d bytes", k.spills))
	}
	if k.binary.warnings != "" {
		notes = append(notes, k.binary.warnings)
	}
	return strings.Join(notes, "; ")
}
