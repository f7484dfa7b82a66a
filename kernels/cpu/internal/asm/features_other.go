//go:build !amd64 || noasm

package asm

// HostFeatures returns the empty set: without assembly every kernel is the generic one.
func HostFeatures() Features { return 0 }

func readsInTurn() bool { return false }
