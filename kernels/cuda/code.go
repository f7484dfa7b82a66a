package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// code is one module in the driver.
type code struct {
	key       string
	binary    []byte // the driver's cubin; nil where it gives none
	module    driver.Module
	log       driver.JITLog
	functions map[string]driver.Function
	once      sync.Once
	err       error
}

// codeCache has every module that was loaded, by key: layers of one shape share theirs.
type codeCache struct {
	mu      sync.Mutex
	modules map[string]*code
	adopted map[string][]byte // binaries from engine files
}

// key names the code that the driver makes of a text: it holds as long as text, device and driver do.
func (b *Backend) key(text string) string {
	sum := sha256.Sum256([]byte(text))
	d := b.ctx.Device()
	return fmt.Sprintf("%s sm_%d driver %s", hex.EncodeToString(sum[:16]), d.SM, d.Driver)
}

// Adopt takes binaries from an engine file. What was made for another device or driver has other keys and is never
// looked up.
func (b *Backend) Adopt(list []kernels.Code) {
	b.codes.mu.Lock()
	defer b.codes.mu.Unlock()
	for _, c := range list {
		b.codes.adopted[c.Key] = c.Data
	}
}

// compile loads a module, once for each text.
func (b *Backend) compile(m *ptx.Module) (*code, error) {
	text := m.String()
	key := b.key(text)
	b.codes.mu.Lock()
	c := b.codes.modules[key]
	if c == nil {
		c = &code{key: key, binary: b.codes.adopted[key], functions: map[string]driver.Function{}}
		b.codes.modules[key] = c
	}
	b.codes.mu.Unlock()
	c.once.Do(func() { c.err = b.load(c, text) })
	return c, c.err
}

// load gives the module to the driver: the stored binary if it still takes that, else its own compilation, else the text.
func (b *Backend) load(c *code, text string) error {
	var err error
	if c.binary != nil {
		if c.module, _, err = b.ctx.ModuleLoad(c.binary, driver.JITOptions{}); err == nil {
			return nil
		}
		c.binary = nil
	}
	if c.binary, c.log, err = b.ctx.Link([]byte(text), driver.JITOptions{}); err == nil {
		if c.module, _, err = b.ctx.ModuleLoad(c.binary, driver.JITOptions{}); err == nil {
			return nil
		}
	}
	c.binary = nil
	c.module, c.log, err = b.ctx.ModuleLoad([]byte(text), driver.JITOptions{})
	return err
}

// function returns a kernel of a module, made ready for a launch.
func (b *Backend) function(c *code, l launch) (driver.Function, error) {
	b.codes.mu.Lock()
	defer b.codes.mu.Unlock()
	f, ok := c.functions[l.kernel]
	if !ok {
		var err error
		if f, err = b.ctx.ModuleGetFunction(c.module, l.kernel); err != nil {
			return 0, err
		}
		c.functions[l.kernel] = f
	}
	if l.shared > 0 {
		if most := b.ctx.Device().SharedPerBlockMax; l.shared > most {
			return 0, fmt.Errorf("it takes %d bytes of shared memory, the device has %d for a block", l.shared, most)
		}
		if err := b.ctx.FuncSetMaxDynamicShared(f, l.shared); err != nil {
			return 0, err
		}
	}
	return f, nil
}
