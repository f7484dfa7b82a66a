package recording

import (
	"os"
	"syscall"
)

// Locks of an open file, which know nothing of processes: F_OFD_GETLK and F_OFD_SETLK.
const (
	getOpenFileLock = 36
	setOpenFileLock = 37
)

// heldByte is the byte that is locked: far behind all that SQLite reads, writes or locks.
const heldByte = 1 << 60

// hold says that a recording is being written, for as long as the file is open. Where that cannot be said nobody will know.
func hold(f *os.File) {
	lock := heldLock()
	_ = syscall.FcntlFlock(f.Fd(), setOpenFileLock, &lock)
}

// isHeld reports whether a recording is being written.
func isHeld(f *os.File) bool {
	lock := heldLock()
	return syscall.FcntlFlock(f.Fd(), getOpenFileLock, &lock) == nil && lock.Type != syscall.F_UNLCK
}

func heldLock() syscall.Flock_t {
	return syscall.Flock_t{Type: syscall.F_WRLCK, Start: heldByte, Len: 1}
}
