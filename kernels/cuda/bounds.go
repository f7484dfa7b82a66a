package cuda

import "fmt"

// Kernels count threads, places and elements in 32 bits. That a tensor fits is checked for every tactic ([tactic.matches]).
// What grows beyond tensors is bounded here: threads where several share an element; and by the families, packed
// weights and windows that reach over the edge of an image.

// threadsFit returns an error where a kernel would number more threads than it can.
func threadsFit(n int) error {
	if n > maxElements {
		return fmt.Errorf("%d threads, the kernel numbers up to %d", n, maxElements)
	}
	return nil
}

// maxElements bounds a tensor, so that indices are 31 bits wide.
const maxElements = 1<<31 - 1

// maxCompared bounds the elements that a kernel compares in pairs.
const maxCompared = 1 << 17
