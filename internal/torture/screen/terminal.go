package screen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// margin is how far the emulator's screen is larger than what the program is told, to see what is written outside.
const margin = 6

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
}

// open starts a program in a terminal.
func open(cmd *exec.Cmd, width, height int) (*terminal, error) {
	t := &terminal{cmd: cmd, screen: vt.NewSafeEmulator(width+margin, height+margin), ended: make(chan error, 1)}
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
	t.resize(width, height)
	t.before = t.modes()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.slave, t.slave, t.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		t.close()
		return nil, err
	}
	go t.read()
	go func() { _, _ = io.Copy(t.master, t.screen) }() // the terminal's answers to questions
	go func() { t.ended <- cmd.Wait() }()
	return t, nil
}

func (t *terminal) modes() unix.Termios {
	m, err := unix.IoctlGetTermios(int(t.slave.Fd()), unix.TCGETS)
	if err != nil {
		return unix.Termios{}
	}
	return *m
}

func (t *terminal) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := t.master.Read(buf)
		t.mu.Lock()
		t.output.Write(buf[:n])
		t.last = time.Now()
		t.mu.Unlock()
		_, _ = t.screen.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// resize changes the size that the program sees.
func (t *terminal) resize(width, height int) {
	t.mu.Lock()
	t.width, t.height, t.resized = width, height, time.Now()
	t.mu.Unlock()
	t.screen.Resize(width+margin, height+margin)
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
	until := time.Now().Add(within)
	for time.Now().Before(until) {
		t.mu.Lock()
		still := time.Since(t.last) > quiet
		t.mu.Unlock()
		if still {
			return
		}
		time.Sleep(quiet / 4)
	}
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

// outside returns what is on the screen outside of the program's size.
func (t *terminal) outside() string {
	t.mu.Lock()
	width, height := t.width, t.height
	t.mu.Unlock()
	for y := range t.screen.Height() {
		for x := range t.screen.Width() {
			if c := t.screen.CellAt(x, y); (x >= width || y >= height) && c != nil && strings.TrimSpace(c.Content) != "" {
				return fmt.Sprintf("%q in column %d, row %d of %d x %d", c.Content, x+1, y+1, width, height)
			}
		}
	}
	return ""
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

// close ends the program and frees the terminal.
func (t *terminal) close() {
	if t.cmd.Process != nil {
		_ = unix.Kill(-t.cmd.Process.Pid, unix.SIGKILL)
	}
	t.slave.Close()
	t.master.Close()
	_ = t.screen.Close()
}
