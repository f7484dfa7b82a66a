package bringup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// rawKernel is a kernel of a text written by hand, for instructions that no tactic emits yet: one entry named "probe".
type rawKernel struct {
	p        *probe
	function driver.Function
	shared   int // bytes of dynamic shared memory
	threads  int
	look     Finding // what the compiler made of it
}

const rawEntry = "probe"

// rawText is such a text as it grows.
type rawText struct{ strings.Builder }

// line adds a line, or several.
func (t *rawText) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// raw compiles a text for the step's time.
func (p *probe) raw(text string, threads, shared int) (*rawKernel, error) {
	ctx := p.backend.Context()
	image, log, err := ctx.Link([]byte(text), driver.JITOptions{})
	if err != nil { // as it does where the driver gives no cubins away
		image = []byte(text)
	}
	m, own, err := ctx.ModuleLoad(image, driver.JITOptions{})
	if err != nil {
		return nil, err
	}
	p.modules = append(p.modules, m)
	k := &rawKernel{p: p, shared: shared, threads: threads}
	if k.function, err = ctx.ModuleGetFunction(m, rawEntry); err != nil {
		return nil, err
	}
	k.look.JITms, k.look.Log = milliseconds(log.Wall+own.Wall), driver.Warnings(log.Info+own.Info)
	if err := p.look(&k.look, m, rawEntry); err != nil {
		return nil, err
	}
	if k.look.SharedBytes += shared; shared > 0 {
		err = ctx.FuncSetMaxDynamicShared(k.function, shared)
	}
	return k, err
}

// launch enqueues it.
func (k *rawKernel) launch(blocks int, params []byte) error {
	return k.p.backend.Context().LaunchKernel(k.function, k.config(blocks), k.p.stream.Handle(), params)
}

// launchEarly enqueues it so that it may begin before the kernel before it has ended.
func (k *rawKernel) launchEarly(blocks int, params []byte) error {
	c := k.config(blocks)
	c.Overlap = true
	return k.p.backend.Context().LaunchKernel(k.function, c, k.p.stream.Handle(), params)
}

func (k *rawKernel) config(blocks int) driver.LaunchConfig {
	return driver.LaunchConfig{Grid: [3]int{blocks, 1, 1}, Block: [3]int{k.threads, 1, 1}, Shared: k.shared}
}

// finding is a row on the kernel, with what the compiler made of it.
func (k *rawKernel) finding(name string) Finding {
	f := k.look
	f.Name = name
	return f
}

// rawParams packs addresses and, behind them, numbers.
func rawParams(addresses []driver.Ptr, numbers ...int) []byte {
	var b []byte
	for _, a := range addresses {
		b = binary.LittleEndian.AppendUint64(b, uint64(a))
	}
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// lacks reports a step that the device does not have: instructions of sm_90 or, where exact, of sm_90a, whose code runs
// on no later one. The simulator has neither.
func (p *probe) lacks(name string, exact bool) bool {
	sm, need := p.backend.Context().Device().SM, "sm_90"
	if exact {
		need = "sm_90a"
	}
	if !p.small && (sm == 90 || sm > 90 && !exact) {
		return false
	}
	p.report(Finding{Name: name, Value: fmt.Sprintf("not on this device: needs %s", need)})
	return true
}

// allocate returns device memory for the step's time.
func (p *probe) allocate(bytes int) (driver.Ptr, error) {
	a, err := p.backend.Context().MemAlloc(bytes)
	if err == nil {
		p.memory = append(p.memory, a)
	}
	return a, err
}

// release gives back what raw and allocate took.
func (p *probe) release() error {
	var err error
	for _, m := range p.modules {
		err = errors.Join(err, p.backend.Context().ModuleUnload(m))
	}
	for _, a := range p.memory {
		err = errors.Join(err, p.backend.Context().MemFree(a))
	}
	return err
}

// patternBytes is the length of what fill repeats.
const patternBytes = 64 << 20

// fill writes random words to n bytes, a multiple of 4, and returns the sum of them all.
func (p *probe) fill(to driver.Ptr, n int) (uint32, error) {
	data := make([]byte, min(n, patternBytes))
	rnd := rand.New(rand.NewPCG(5, 5))
	for i := 0; i+8 <= len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], rnd.Uint64())
	}
	ctx := p.backend.Context()
	if err := ctx.MemcpyHtoD(to, data); err != nil {
		return 0, err
	}
	for at := len(data); at < n; at += len(data) {
		if err := ctx.MemcpyDtoDAsync(to+driver.Ptr(at), to, min(len(data), n-at), p.stream.Handle()); err != nil {
			return 0, err
		}
	}
	sum := sumOf(data) * uint32(n/len(data))
	return sum + sumOf(data[:n%len(data)]), p.stream.Wait()
}

// sums returns the sum of n words of the device.
func (p *probe) sums(from driver.Ptr, n int) (uint32, error) {
	if err := p.stream.Wait(); err != nil {
		return 0, err
	}
	data := make([]byte, 4*n)
	if err := p.backend.Context().MemcpyDtoH(data, from); err != nil {
		return 0, err
	}
	return sumOf(data), nil
}

// sumOf adds words up, without regard to what runs over.
func sumOf(data []byte) uint32 {
	var sum uint32
	for i := 0; i+4 <= len(data); i += 4 {
		sum += binary.LittleEndian.Uint32(data[i:])
	}
	return sum
}
