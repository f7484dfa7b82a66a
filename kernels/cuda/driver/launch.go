//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// launchBuffer is what a launch points the driver to: the packed parameters and the array that names them
// (CU_LAUNCH_PARAM_BUFFER_POINTER and its kin), and where it has attributes the launch itself. It holds addresses of itself,
// so it lies outside the Go heap; it is used again as soon as the driver has copied it, which is before a launch returns.
type launchBuffer struct {
	extra      [5]uintptr
	size       uintptr
	_          [16]byte
	params     [MaxParams]byte // at a multiple of 64, as a tensor map among the parameters must be
	config     launchConfig
	attributes [2]launchAttribute
}

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      Stream
	attributes  uintptr
	count       uint32
}

// launchAttribute is CUlaunchAttribute: the id, and a union of 64 bytes.
type launchAttribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

// Attributes of launches (CUlaunchAttributeID).
const (
	attributeCluster = 4 // the cluster's extents
	attributeOverlap = 6 // programmatic stream serialization: whether it is allowed
)

// configure writes a launch with its attributes, and returns where.
func (b *launchBuffer) configure(l LaunchConfig, s Stream) uintptr {
	b.config = launchConfig{grid: uint32s(l.Grid), block: uint32s(l.Block), shared: uint32(l.Shared), stream: s,
		attributes: uintptr(unsafe.Pointer(&b.attributes))}
	add := func(id uint32, values ...uint32) {
		a := &b.attributes[b.config.count]
		*a = launchAttribute{id: id}
		copy(a.value[:], values)
		b.config.count++
	}
	if c := uint32s(l.Cluster); l.Cluster != [3]int{} {
		add(attributeCluster, c[0], c[1], c[2])
	}
	if l.Overlap {
		add(attributeOverlap, 1)
	}
	return uintptr(unsafe.Pointer(&b.config))
}

// address is that of the array, which is what the driver is given.
func (b *launchBuffer) address() uintptr { return uintptr(unsafe.Pointer(&b.extra)) }

func (g *gpu) launchBuffer(params []byte) (*launchBuffer, error) {
	b, err := g.takeLaunchBuffer()
	if err != nil {
		return nil, err
	}
	b.size = uintptr(copy(b.params[:], params))
	return b, nil
}

func (g *gpu) takeLaunchBuffer() (*launchBuffer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.buffers); n > 0 {
		b := g.buffers[n-1]
		g.buffers = g.buffers[:n-1]
		return b, nil
	}
	mem, err := syscall.Mmap(-1, 0, int(unsafe.Sizeof(launchBuffer{})), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("a launch's parameter buffer: %w", err)
	}
	const end, pointer, size = 0, 1, 2 // CU_LAUNCH_PARAM_...
	b := (*launchBuffer)(unsafe.Pointer(unsafe.SliceData(mem)))
	b.extra = [5]uintptr{pointer, uintptr(unsafe.Pointer(&b.params)), size, uintptr(unsafe.Pointer(&b.size)), end}
	g.mapped = append(g.mapped, mem)
	g.buffers = append(g.buffers, nil)[:len(g.buffers)] // room for putting it back
	return b, nil
}

func (g *gpu) putLaunchBuffer(b *launchBuffer) {
	g.mu.Lock()
	g.buffers = append(g.buffers, b)
	g.mu.Unlock()
}

func (g *gpu) freeLaunchBuffers() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var errs []error
	for _, mem := range g.mapped {
		errs = append(errs, syscall.Munmap(mem))
	}
	g.buffers, g.mapped = nil, nil
	return errors.Join(errs...)
}

func (g *gpu) LaunchKernel(f Function, l LaunchConfig, s Stream, params []byte) error {
	attributes := l.attributes()
	if attributes && l.Cluster == [3]int{} {
		if _, err := g.cuda.address(cuLaunchKernelEx); err != nil {
			attributes = false // it is a hint
		}
	}
	call := cuLaunchKernel
	if attributes {
		call = cuLaunchKernelEx
	}
	if err := g.checkLaunch(call, l, len(params)); err != nil {
		return err
	}
	b, err := g.launchBuffer(params)
	if err != nil {
		return err
	}
	if attributes {
		err = g.do(call, b.configure(l, s), uintptr(f), 0, b.address())
	} else {
		err = g.do(call, uintptr(f), uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2]),
			uintptr(l.Block[0]), uintptr(l.Block[1]), uintptr(l.Block[2]), uintptr(l.Shared), uintptr(s),
			0, b.address())
	}
	g.putLaunchBuffer(b)
	switch {
	case err == nil:
		return nil
	case l.Cluster != [3]int{}:
		return detail(err, "grid %v in clusters of %v, block %v, %d bytes shared", l.Grid, l.Cluster, l.Block, l.Shared)
	}
	return detail(err, "grid %v, block %v, %d bytes shared", l.Grid, l.Block, l.Shared)
}

// checkLaunch refuses what would be cut off on its way to the driver, and passes on what the driver judges better.
func (g *gpu) checkLaunch(s symbol, l LaunchConfig, params int) error {
	for i := range l.Grid {
		if uint(l.Grid[i]) > 1<<31-1 || uint(l.Block[i]) > 1<<31-1 || uint(l.Cluster[i]) > 1<<31-1 {
			return g.invalid(s, "grid %v, block %v, cluster %v", l.Grid, l.Block, l.Cluster)
		}
	}
	if uint(l.Shared) > 1<<31-1 || params > MaxParams {
		return g.invalid(s, "%d bytes shared, %d bytes of parameters", l.Shared, params)
	}
	return nil
}
