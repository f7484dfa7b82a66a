//go:build unix

package cmd

import (
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// endSignals ask every command to end; quitSignals ask the workbench, too, and have a command print its stacks.
var (
	endSignals  = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP}
	quitSignals = []os.Signal{unix.SIGQUIT}
)

// hangTick is how often it is asked whether a terminal is still there, and somebody wants to know.
const hangTick = time.Second

// hungUp returns what is closed once nothing is at the other end of a terminal: a program that ignores SIGHUP is not told.
func hungUp(terminal uintptr, stopped <-chan struct{}) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		for {
			poll := []unix.PollFd{{Fd: int32(terminal)}}
			_, err := unix.Poll(poll, int(hangTick.Milliseconds()))
			switch {
			case err != nil && err != unix.EINTR: // this system does not tell
				return
			case err == nil && poll[0].Revents&unix.POLLHUP != 0:
				close(gone)
				return
			}
			select {
			case <-stopped:
				return
			default:
			}
		}
	}()
	return gone
}

// jobs stops and continues a program of the workbench as a shell asks for it.
type jobs struct {
	stop, cont chan os.Signal
	quit       chan struct{}
	suspended  atomic.Bool   // suspend waits for continued, and paints what there is to paint
	continued  chan struct{} // to suspend, from forward: one alone takes what cont has
}

// newJobs catches the signals of job control until end is called.
func newJobs() *jobs {
	j := &jobs{
		stop: make(chan os.Signal, 1), cont: make(chan os.Signal, 1), quit: make(chan struct{}), continued: make(chan struct{}, 1),
	}
	signal.Notify(j.stop, unix.SIGTSTP)
	signal.Notify(j.cont, unix.SIGCONT)
	return j
}

// forward has the program suspend itself where it is asked to stop, and paint anew where it goes on after a SIGSTOP, which
// left it no time to give the terminal back.
func (j *jobs) forward(p *tea.Program) {
	for {
		select {
		case <-j.quit:
			return
		case <-j.stop:
			p.Send(tea.SuspendMsg{})
		case <-j.cont:
			if j.suspended.Load() {
				select {
				case j.continued <- struct{}{}:
				default:
				}
			} else {
				p.Send(repaintMsg{})
			}
		}
	}
}

func (j *jobs) end() {
	signal.Stop(j.stop)
	signal.Stop(j.cont)
	close(j.quit)
}

// repaintMsg asks for the terminal's modes to be set and everything to be painted again.
type repaintMsg struct{}

// filter does what suspends a program in its own way: Bubble Tea's waits for SIGCONT without end where the system stops no
// process, as in a session without a shell.
func (j *jobs) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case tea.SuspendMsg:
		return tea.Exec(pause(j.suspend), resumed)()
	case repaintMsg:
		return tea.Exec(pause(func() {}), resumed)()
	}
	return msg
}

func resumed(error) tea.Msg { return tea.ResumeMsg{} }

// How long a process may run on after it stopped itself, in ticks that pass while it runs. Where there is no shell that could
// continue it, the system does not stop it.
const (
	stopTick  = 20 * time.Millisecond
	stopTicks = 10
)

// suspend stops the job and returns when it goes on. A Go program that has caught SIGTSTP once is not stopped by it any
// more; SIGTTIN does the same, and like it nothing where there is no shell, which SIGSTOP would.
func (j *jobs) suspend() {
	j.suspended.Store(true)
	defer j.suspended.Store(false)
	select {
	case <-j.continued: // by an earlier one
	default:
	}
	_ = unix.Kill(0, unix.SIGTTIN) // cannot fail: it is our own group
	tick := time.NewTicker(stopTick)
	defer tick.Stop()
	for on, ticks := false, 0; !on && ticks < stopTicks; ticks++ {
		select {
		case <-j.continued:
			on = true
		case <-tick.C:
		}
	}
	select {
	case <-j.stop: // asked for twice
	default:
	}
}

// pause is what runs while the program has given the terminal back.
type pause func()

// settle is how long the renderer that was stopped has to come to its end. Bubble Tea does not wait for that: the ticker,
// which the old renderer stops last, may be the one that the new renderer has just started, and nothing is painted any more.
const settle = 30 * time.Millisecond

func (p pause) Run() error {
	p()
	time.Sleep(settle)
	return nil
}

func (pause) SetStdin(io.Reader)  {}
func (pause) SetStdout(io.Writer) {}
func (pause) SetStderr(io.Writer) {}
