//go:build unix

package cmd

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// apart makes a process a group of its own, all of which ends where it is ended.
func apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return unix.Kill(-c.Process.Pid, unix.SIGKILL) }
}

// endedBy names the signal that ended a process; "" where none did.
func endedBy(c *exec.Cmd) string {
	if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return s.Signal().String()
	}
	return ""
}
