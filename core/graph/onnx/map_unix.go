//go:build unix

package onnx

import (
	"fmt"
	"os"
	"syscall"
)

// mapFile maps a file into memory, to be read only.
func mapFile(f *os.File) (mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return mapping{}, err
	}
	size := info.Size()
	if size == 0 || size != int64(int(size)) {
		return readMapping(f)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return mapping{}, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return mapping{data, func() error { return syscall.Munmap(data) }}, nil
}
