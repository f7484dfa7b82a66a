//go:build amd64 && !noasm && !linux

package asm

// mayUseTiles returns false: how other systems give tile registers has not been tried.
func mayUseTiles() bool { return false }
