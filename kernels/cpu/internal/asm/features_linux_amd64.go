//go:build !noasm

package asm

import (
	"sync"

	"golang.org/x/sys/unix"
)

// mayUseTiles asks the system for tile registers, once for the process: unlike others they are not given to those who do not ask.
var mayUseTiles = sync.OnceValue(func() bool {
	const (
		requestState = 0x1023 // ARCH_REQ_XCOMP_PERM
		tileData     = 18     // XFEATURE_XTILEDATA
	)
	_, _, refused := unix.RawSyscall(unix.SYS_ARCH_PRCTL, requestState, tileData, 0)
	return refused == 0
})
