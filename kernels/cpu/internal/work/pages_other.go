//go:build !linux

package work

import "unsafe"

// inHugePages does nothing: other systems choose the pages themselves.
func inHugePages(unsafe.Pointer, int) {}

// Pages returns n: see pages_linux.go.
func Pages(n int) int { return n }

// InHugePages does nothing.
func InHugePages([]byte) {}
