package emit

import "fmt"

// Kernels count threads, places and elements in 32 bits. That a tensor fits is checked for every tactic ([Tactic.Matches]).
// What grows beyond tensors is bounded here: threads where several share an element; and by the families, packed
// weights and windows that reach over the edge of an image.

// ThreadsFit returns an error where a kernel would number more threads than it can.
func ThreadsFit(n int) error {
	if n > MaxElements {
		return fmt.Errorf("%d threads, the kernel numbers up to %d", n, MaxElements)
	}
	return nil
}

// MaxElements bounds a tensor, so that indices are 31 bits wide.
const MaxElements = 1<<31 - 1

// MaxCompared bounds the elements that a kernel compares in pairs.
const MaxCompared = 1 << 17
