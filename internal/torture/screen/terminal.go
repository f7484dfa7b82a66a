//go:build linux

package screen

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// terminal is a program in a pseudo-terminal.
type terminal struct {
	master, slave *os.File
	before        unix.Termios
	screen        *vt.SafeEmulator
	cmd           *exec.Cmd
	ended         chan error

	mu            sync.Mutex
	output        bytes.Buffer
	last          time.Time // of output
	width, height int
	resized       time.Time
	recent        [2]int // the largest size before, as long as the program may still write by it
	beyond        string // a place outside of the size, to which the program moved
	lost          bool   // the emulator has failed at some output
}

// open starts a program in a terminal.
func open(cmd *exec.Cmd, width, height int) (*terminal, error) {
	t := &terminal{cmd: cmd, screen: vt.NewSafeEmulator(width, height), ended: make(chan error, 1)}
	var err error
	if t.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, err
	}
	fd := int(t.master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		t.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.master.Close()
		return nil, err
	}
	t.width, t.height = width, height
	t.watch()
	t.resize(width, height)
	t.before = t.modes()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.slave, t.slave, t.slave
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	if err := cmd.Start(); err != nil {
		t.close()
		return nil, err
	}
	parts := make(chan []byte, 1<<12) // the program never waits for the emulator
	go t.read(parts)
	go func() {
		for b := range parts {
			t.show(b)
		}
	}()
	go t.answer()
	go func() { t.ended <- cmd.Wait() }()
	return t, nil
}

// show gives output to the emulator. What was written for a larger screen may name lines that are gone, on which a terminal stops at
// the last one and the emulator panics: it has lost output then.
func (t *terminal) show(b []byte) {
	defer func() {
		if recover() != nil {
			t.mu.Lock()
			t.lost = true
			t.mu.Unlock()
		}
	}()
	_, _ = t.screen.Write(b)
}

// incomplete reports whether the emulator has lost output.
func (t *terminal) incomplete() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

func (t *terminal) modes() unix.Termios {
	m, err := unix.IoctlGetTermios(int(t.slave.Fd()), unix.TCGETS)
	if err != nil {
		return unix.Termios{}
	}
	return *m
}

func (t *terminal) read(parts chan<- []byte) {
	defer close(parts)
	buf := make([]byte, 1<<16)
	for {
		n, err := t.master.Read(buf)
		t.mu.Lock()
		t.output.Write(buf[:n])
		t.last = time.Now()
		t.mu.Unlock()
		parts <- bytes.Clone(buf[:n])
		if err != nil {
			return
		}
	}
}

// answer passes the emulator's answers to questions on; what the program does not read in time is lost.
func (t *terminal) answer() {
	buf := make([]byte, 1<<10)
	for {
		n, err := t.screen.Read(buf)
		if err != nil {
			return
		}
		_ = t.send(string(buf[:n]))
	}
}

// resize changes the size that the program sees.
func (t *terminal) resize(width, height int) {
	t.mu.Lock()
	if time.Since(t.resized) > afterSize {
		t.recent = [2]int{}
	}
	t.recent = [2]int{max(t.recent[0], t.width), max(t.recent[1], t.height)}
	t.width, t.height, t.resized = width, height, time.Now()
	t.mu.Unlock()
	t.screen.Resize(width, height)
	_ = unix.IoctlSetWinsize(int(t.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
}

// send types; a program that does not read for a while is said to.
func (t *terminal) send(s string) error {
	done := make(chan error, 1)
	go func() {
		_, err := t.master.WriteString(s)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		return errors.New("the program reads nothing")
	}
}

func (t *terminal) written() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.output.String()
}

// settle waits until nothing has been written for a moment, or the time is up.
func (t *terminal) settle(quiet, within time.Duration) {
	began := time.Now()
	for time.Since(began) < within {
		t.mu.Lock()
		last := t.last
		t.mu.Unlock()
		if time.Since(began) > quiet && time.Since(last) > quiet {
			return
		}
		time.Sleep(quiet / 4)
	}
}

// drain waits until all is read that a program which has ended wrote, as far as the time goes.
func (t *terminal) drain(within time.Duration) {
	for began := time.Now(); time.Since(began) < within; time.Sleep(10 * time.Millisecond) {
		if n, err := unix.IoctlGetInt(int(t.master.Fd()), unix.TIOCINQ); err != nil || n == 0 {
			break
		}
	}
	t.settle(100*time.Millisecond, time.Second)
}

// text returns the screen.
func (t *terminal) text() string {
	var b strings.Builder
	for y := range t.screen.Height() {
		for x := range t.screen.Width() {
			if c := t.screen.CellAt(x, y); c != nil && c.Content != "" {
				b.WriteString(c.Content)
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// afterSize is how long after a change of size the program may write by the old one.
const afterSize = 2 * time.Second

// watch notes where the program moves to a place outside of its size: a terminal takes the nearest one inside.
func (t *terminal) watch() {
	check := func(what string, at, limit, before int) {
		if time.Since(t.resized) < afterSize {
			limit = max(limit, before)
		}
		if at > limit && at < 999 && t.beyond == "" { // 999 means the edge
			t.beyond = fmt.Sprintf("%s %d of %d x %d", what, at, t.width, t.height)
		}
	}
	for _, final := range []byte("HfdG\x60") {
		t.screen.RegisterCsiHandler(int(final), func(params ansi.Params) bool {
			first, _, _ := params.Param(0, 1)
			second, _, _ := params.Param(1, 1)
			t.mu.Lock()
			defer t.mu.Unlock()
			switch final {
			case 'H', 'f':
				check("row", first, t.height, t.recent[1])
				check("column", second, t.width, t.recent[0])
			case 'd':
				check("row", first, t.height, t.recent[1])
			default:
				check("column", first, t.width, t.recent[0])
			}
			return false // the emulator moves there, too
		})
	}
}

// outside returns where the program moved outside of its size.
func (t *terminal) outside() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.beyond
}

// switched are what output switches on and off.
var switched = []struct{ name, on, off string }{
	{"the alternate screen", ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor},
	{"a hidden cursor", ansi.ResetModeTextCursorEnable, ansi.SetModeTextCursorEnable},
	{"bracketed paste", ansi.SetModeBracketedPaste, ansi.ResetModeBracketedPaste},
	{"the mouse", ansi.SetModeMouseButtonEvent, ansi.ResetModeMouseButtonEvent},
	{"focus events", ansi.SetModeFocusEvent, ansi.ResetModeFocusEvent},
}

// left returns in what the terminal is not as it was.
func (t *terminal) left() string {
	if t.modes() != t.before {
		return "raw mode"
	}
	out := t.written()
	for _, m := range switched {
		if strings.LastIndex(out, m.on) > strings.LastIndex(out, m.off) {
			return m.name
		}
	}
	return ""
}

// stacks ends the program and has it write what it was doing.
func (t *terminal) stacks() {
	_ = unix.Kill(t.cmd.Process.Pid, unix.SIGABRT)
	t.settle(500*time.Millisecond, 5*time.Second)
}

// close ends the program and frees the terminal.
func (t *terminal) close() {
	if t.cmd.Process != nil {
		_ = unix.Kill(-t.cmd.Process.Pid, unix.SIGKILL)
	}
	t.slave.Close()
	t.master.Close()
	_ = t.screen.Close()
}
