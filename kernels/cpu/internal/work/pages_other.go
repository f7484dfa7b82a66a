//go:build !linux

package work

import "unsafe"

// inHugePages does nothing: other systems choose the pages themselves.
func inHugePages(unsafe.Pointer, int) {}
