//go:build !linux

package crash

import "os/exec"

func apart(*exec.Cmd) bool { return false }
