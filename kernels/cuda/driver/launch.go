//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// launchBuffer is what a launch points the driver to: the packed parameters and the array that names them
// (CU_LAUNCH_PARAM_BUFFER_POINTER and its kin). It holds addresses of itself, so it lies outside the Go heap; it is used
// again as soon as the driver has copied it, which is before a launch returns.
type launchBuffer struct {
	extra  [5]uintptr
	size   uintptr
	_      [16]byte
	params [MaxParams]byte // at a multiple of 64, as a tensor map among the parameters must be
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

func (g *gpu) LaunchKernel(f Function, grid, block [3]int, shared int, s Stream, params []byte) error {
	if err := g.checkLaunch(cuLaunchKernel, grid, block, shared, len(params)); err != nil {
		return err
	}
	b, err := g.launchBuffer(params)
	if err != nil {
		return err
	}
	err = g.do(cuLaunchKernel, uintptr(f), uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]),
		uintptr(block[0]), uintptr(block[1]), uintptr(block[2]), uintptr(shared), uintptr(s),
		0, b.address())
	g.putLaunchBuffer(b)
	if err != nil {
		return detail(err, "grid %v, block %v, %d bytes shared", grid, block, shared)
	}
	return nil
}

// checkLaunch refuses what would be cut off on its way to the driver, and passes on what the driver judges better.
func (g *gpu) checkLaunch(s symbol, grid, block [3]int, shared, params int) error {
	for i := range grid {
		if uint(grid[i]) > 1<<31-1 || uint(block[i]) > 1<<31-1 {
			return g.invalid(s, "grid %v, block %v", grid, block)
		}
	}
	if uint(shared) > 1<<31-1 || params > MaxParams {
		return g.invalid(s, "%d bytes shared, %d bytes of parameters", shared, params)
	}
	return nil
}
