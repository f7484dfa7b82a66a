//go:build !unix

package onnx

import "os"

// mapFile reads a file, since this system's way of mapping it is not used.
func mapFile(f *os.File) (mapping, error) { return readMapping(f) }
