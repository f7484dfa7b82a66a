//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"bytes"
	"math"
	"runtime"
	"time"
	"unsafe"
)

// Options of the driver's compiler (CUjit_option).
const (
	jitMaxRegisters  = 0
	jitWallTime      = 2
	jitInfoLog       = 3
	jitInfoLogSize   = 4
	jitErrorLog      = 5
	jitErrorLogSize  = 6
	jitOptLevel      = 7
	jitLogVerbose    = 12
	jitLineInfo      = 13
	jitInputPTX      = 1 // CUjitInputType
	jitLogBytes      = 64 << 10
	jitOptionsAtMost = 9
)

// jitOptions are the options of one compilation as the driver wants them: numbers, and values in slots of a pointer's
// size, scalars by value. The driver writes results into slots and buffers until the link state is destroyed, so all lie
// pinned until unpin.
type jitOptions struct {
	n           int
	ids         *[jitOptionsAtMost]int32
	values      *[jitOptionsAtMost]uintptr
	info, error []byte
	pinner      runtime.Pinner
}

func newJITOptions(o JITOptions) *jitOptions {
	j := &jitOptions{
		ids: new([jitOptionsAtMost]int32), values: new([jitOptionsAtMost]uintptr),
		info: make([]byte, jitLogBytes), error: make([]byte, jitLogBytes),
	}
	j.pinner.Pin(j.ids)
	j.pinner.Pin(j.values)
	j.pinner.Pin(&j.info[0])
	j.pinner.Pin(&j.error[0])
	j.add(jitWallTime, 0)
	j.add(jitInfoLog, uintptr(data(j.info)))
	j.add(jitInfoLogSize, jitLogBytes)
	j.add(jitErrorLog, uintptr(data(j.error)))
	j.add(jitErrorLogSize, jitLogBytes)
	j.add(jitLogVerbose, 1)
	if o.MaxRegisters > 0 {
		j.add(jitMaxRegisters, uintptr(o.MaxRegisters))
	}
	if o.OptLevel > 0 {
		j.add(jitOptLevel, uintptr(o.OptLevel))
	}
	if o.LineInfo {
		j.add(jitLineInfo, 1)
	}
	return j
}

func (j *jitOptions) add(id int32, value uintptr) {
	j.ids[j.n], j.values[j.n] = id, value
	j.n++
}

func (j *jitOptions) unpin() { j.pinner.Unpin() }

// log reads the results; the wall time is a float in milliseconds in the low half of the first slot.
func (j *jitOptions) log() JITLog {
	ms := math.Float32frombits(uint32(j.values[0]))
	return JITLog{Info: cString(j.info), Error: cString(j.error), Wall: milliseconds(ms)}
}

// milliseconds converts the driver's unit of time.
func milliseconds(ms float32) time.Duration {
	return time.Duration(math.Round(float64(ms) * float64(time.Millisecond)))
}

// terminated returns PTX text with the NUL that the driver looks for; a cubin, which knows its size, as it is.
func terminated(image []byte) []byte {
	if bytes.HasPrefix(image, []byte("\x7fELF")) || bytes.HasSuffix(image, []byte{0}) {
		return image
	}
	return append(bytes.Clone(image), 0)
}

// explain adds the compiler's error log to a driver's error.
func explain(err error, log JITLog) error {
	if e, ok := err.(*Error); ok {
		e.Log = log.Error
	}
	return err
}

func (g *gpu) ModuleLoad(image []byte, o JITOptions) (Module, JITLog, error) {
	if len(image) == 0 {
		return 0, JITLog{}, g.invalid(cuModuleLoadDataEx, "an empty image")
	}
	j := newJITOptions(o)
	defer j.unpin()
	var m Module
	err := g.doPointers(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&m)), uintptr(data(terminated(image))),
		uintptr(j.n), uintptr(unsafe.Pointer(j.ids)), uintptr(unsafe.Pointer(j.values)))
	log := j.log()
	return m, log, explain(detail(err, "%d bytes", len(image)), log)
}

// Link names no target: the current context's device decides, and newer drivers refuse one.
func (g *gpu) Link(ptx []byte, o JITOptions) ([]byte, JITLog, error) {
	if len(ptx) == 0 {
		return nil, JITLog{}, g.invalid(cuLinkAddData, "empty text")
	}
	j := newJITOptions(o)
	defer j.unpin()
	var state uintptr
	err := g.doPointers(cuLinkCreate, uintptr(j.n), uintptr(unsafe.Pointer(j.ids)), uintptr(unsafe.Pointer(j.values)),
		uintptr(unsafe.Pointer(&state)))
	if err != nil {
		return nil, j.log(), err
	}
	cubin, err := g.link(state, terminated(ptx))
	log := j.log()
	if derr := g.do(cuLinkDestroy, state); err == nil {
		err = derr
	}
	if err != nil {
		return nil, log, explain(err, log)
	}
	return cubin, log, nil
}

// link compiles text and copies the cubin, which belongs to the link state.
func (g *gpu) link(state uintptr, text []byte) ([]byte, error) {
	name := []byte("kernel.ptx\x00")
	err := g.doPointers(cuLinkAddData, state, jitInputPTX, uintptr(data(text)), uintptr(len(text)), uintptr(data(name)), 0, 0, 0)
	if err != nil {
		return nil, detail(err, "%d bytes", len(text))
	}
	var cubin unsafe.Pointer
	var size uint64
	err = g.doPointers(cuLinkComplete, state, uintptr(unsafe.Pointer(&cubin)), uintptr(unsafe.Pointer(&size)))
	if err != nil {
		return nil, err
	}
	return bytes.Clone(unsafe.Slice((*byte)(cubin), size)), nil
}

func (g *gpu) ModuleUnload(m Module) error { return g.do(cuModuleUnload, uintptr(m)) }

func (g *gpu) ModuleGetFunction(m Module, name string) (Function, error) {
	var f Function
	text := append([]byte(name), 0)
	err := g.doPointers(cuModuleGetFunction, uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(data(text)))
	return f, detail(err, "%s", name)
}

func (g *gpu) FuncAttributes(f Function) (FuncAttributes, error) {
	var a FuncAttributes
	for number, to := range []*int{&a.MaxThreads, &a.SharedBytes, &a.ConstBytes, &a.LocalBytes, &a.Registers,
		&a.PTXVersion, &a.BinaryVersion} { // in the order of CUfunction_attribute
		var v int32
		if err := g.doPointers(cuFuncGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(number), uintptr(f)); err != nil {
			return FuncAttributes{}, detail(err, "attribute %d", number)
		}
		*to = int(v)
	}
	return a, nil
}

func (g *gpu) FuncSetMaxDynamicShared(f Function, n int) error {
	const maxDynamicShared = 8
	err := g.do(cuFuncSetAttribute, uintptr(f), maxDynamicShared, uintptr(n))
	return detail(err, "%d bytes of dynamic shared memory", n)
}

func (g *gpu) MaxActiveBlocks(f Function, threads, shared int) (int, error) {
	var n int32
	err := g.doPointers(cuOccupancyMaxActiveBlocks, uintptr(unsafe.Pointer(&n)), uintptr(f), uintptr(threads), uintptr(shared))
	return int(n), detail(err, "%d threads, %d bytes", threads, shared)
}
