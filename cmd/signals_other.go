//go:build !unix

package cmd

import (
	"os"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// endSignals ask every command to end.
var (
	endSignals  = []os.Signal{os.Interrupt, syscall.SIGTERM}
	quitSignals []os.Signal
)

// hungUp returns nil where a terminal cannot be asked.
func hungUp(uintptr, <-chan struct{}) <-chan struct{} { return nil }

// jobs has nothing to do on systems without job control.
type jobs struct{}

func newJobs() *jobs { return &jobs{} }

func (*jobs) forward(*tea.Program) {}

func (*jobs) end() {}

func (*jobs) filter(_ tea.Model, msg tea.Msg) tea.Msg { return msg }
