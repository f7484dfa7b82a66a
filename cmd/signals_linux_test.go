package cmd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"github.com/trtui/trtui/sessions/recording"
)

// roleVar makes the test's program something else: the program itself, or a shell that runs it as a job.
const roleVar = "TRTUI_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "program":
		Main(Own{})
	case "stuck":
		ctx, _ := untilSignal(context.Background())
		endAfter(ctx)
		fmt.Println("ready")
		select {}
	case "peak":
		os.Exit(peak(os.Args[1:]))
	case "shell":
		os.Exit(shell())
	}
	os.Exit(runTests(m))
}

// shell runs the program as a job in the foreground of its terminal and tells file 3 what becomes of it. A process whose
// session has no shell is not stopped by SIGTSTP.
func shell() int {
	events := os.NewFile(3, "events")
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), roleVar+"=program")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(events, err)
		return 1
	}
	fmt.Fprintln(events, "pid", cmd.Process.Pid)
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED|unix.WCONTINUED, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			fmt.Fprintln(events, err)
			return 1
		case status.Stopped():
			fmt.Fprintln(events, "stopped")
		case status.Continued():
			fmt.Fprintln(events, "continued")
		default:
			fmt.Fprintln(events, "ended", status.ExitStatus(), status.Signal())
			return 0
		}
	}
}

// pty is the program in a terminal of its own.
type pty struct {
	t             *testing.T
	master, slave *os.File
	before        unix.Termios
	events        *bufio.Reader
	pid           int

	mu     sync.Mutex
	output bytes.Buffer
}

// startPTY starts the program with arguments in a new terminal of 120 by 40 cells.
func startPTY(t *testing.T, args ...string) *pty {
	t.Helper()
	p := &pty{t: t}
	p.openPTY()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"=shell", "TERM=xterm-256color", "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.slave, p.slave, p.slave
	cmd.ExtraFiles = []*os.File{write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	p.events = bufio.NewReader(read)
	if _, err := fmt.Sscanf(p.event(time.Minute), "pid %d", &p.pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Kill(p.pid, unix.SIGKILL) // it has ended, unless the test failed
		_ = cmd.Wait()
		read.Close()
		p.slave.Close()
		p.master.Close()
	})
	go p.read()
	return p
}

func (p *pty) openPTY() {
	p.t.Helper()
	var err error
	if p.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		p.t.Skipf("no pseudo-terminals here: %v", err)
	}
	fd := int(p.master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		p.t.Fatal(err)
	}
	if p.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		p.t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		p.t.Fatal(err)
	}
	p.before = p.termios()
}

func (p *pty) termios() unix.Termios {
	p.t.Helper()
	state, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *state
}

// read takes what the program writes, as a terminal does.
func (p *pty) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.output.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *pty) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// event returns the next thing that happened to the job, or "" if nothing did in time.
func (p *pty) event(within time.Duration) string {
	line := make(chan string, 1)
	go func() {
		s, _ := p.events.ReadString('\n')
		line <- strings.TrimSpace(s)
	}()
	select {
	case s := <-line:
		return s
	case <-time.After(within):
		return ""
	}
}

// await waits until the program has written s since the output was from bytes long.
func (p *pty) await(from int, s string) {
	p.t.Helper()
	for range 600 {
		if strings.Contains(p.written()[from:], s) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("%q was not written", s)
}

func (p *pty) signal(s unix.Signal) {
	p.t.Helper()
	if err := unix.Kill(p.pid, s); err != nil {
		p.t.Fatalf("%v: %v", s, err)
	}
}

// checkEnd checks that the program ends in time and leaves the terminal as it was.
func (p *pty) checkEnd(what string) {
	p.t.Helper()
	if e := p.event(2 * time.Second); !strings.HasPrefix(e, "ended ") || strings.HasPrefix(e, "ended 0 ") {
		p.t.Errorf("%s: after 2 s %q, want the end", what, e)
	}
	p.checkRestored(what)
}

// checkRestored checks that the terminal is as it was: its modes, and those that output switches.
func (p *pty) checkRestored(what string) {
	p.t.Helper()
	if p.termios() != p.before {
		p.t.Errorf("%s: the terminal is in raw mode", what)
	}
	left := p.left()
	for wait := 0; len(left) > 0 && wait < 100; wait++ { // what reads the terminal may be behind
		time.Sleep(20 * time.Millisecond)
		left = p.left()
	}
	for _, name := range left {
		p.t.Errorf("%s: left with %s", what, name)
	}
}

// left returns the modes that what was written has switched on and not off again.
func (p *pty) left() (names []string) {
	out := p.written()
	for _, m := range []struct{ name, on, off string }{
		{"the alternate screen", ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor},
		{"a hidden cursor", ansi.ResetModeTextCursorEnable, ansi.SetModeTextCursorEnable},
		{"bracketed paste", ansi.SetModeBracketedPaste, ansi.ResetModeBracketedPaste},
		{"the mouse", ansi.SetModeMouseButtonEvent, ansi.ResetModeMouseButtonEvent},
		{"focus events", ansi.SetModeFocusEvent, ansi.ResetModeFocusEvent},
	} {
		if strings.LastIndex(out, m.on) > strings.LastIndex(out, m.off) {
			names = append(names, m.name)
		}
	}
	return names
}

// TestSignals: whatever signal comes whenever, the workbench ends and leaves the terminal as it was.
func TestSignals(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	tries := 8
	if testing.Short() {
		tries = 2
	}
	random := rand.New(rand.NewPCG(1, 2)) // most of them early: while it starts the terminal changes hands
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		for range tries {
			after := time.Duration(math.Pow(random.Float64(), 3) * float64(4*time.Second))
			t.Run(fmt.Sprintf("%v after %d ms", s, after.Milliseconds()), func(t *testing.T) {
				if signal.Ignored(s) { // and so does what we start: under nohup
					t.Skipf("%v is ignored here", s)
				}
				t.Parallel()
				p := startPTY(t, "--timing-cache", "none")
				time.Sleep(after)
				p.signal(s)
				p.checkEnd(s.String())
			})
		}
	}
}

// A terminal that is gone ends the workbench where SIGHUP is ignored, too, as under nohup.
func TestTerminalGone(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if !signal.Ignored(unix.SIGHUP) {
		signal.Ignore(unix.SIGHUP)
		defer signal.Reset(unix.SIGHUP)
	}
	p := startPTY(t, "--timing-cache", "none")
	p.await(0, ansi.SetModeAltScreenSaveCursor)
	p.master.Close()
	if e := p.event(hangTick + endGrace + 5*time.Second); !strings.HasPrefix(e, "ended ") {
		t.Errorf("%q, want the end", e)
	}
}

// TestSecondSignal: a second signal ends a program that is ending.
func TestSecondSignal(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, after := range []time.Duration{0, 2 * oneRequest} {
		p := startPTY(t, "--timing-cache", "none")
		p.await(0, ansi.SetModeAltScreenSaveCursor)
		p.signal(unix.SIGTERM)
		time.Sleep(after)
		_ = unix.Kill(p.pid, unix.SIGTERM) // it may have ended
		p.checkEnd("two signals")
	}
}

// What does not look up ends all the same some time after a signal, and says so.
func TestSignalUnheeded(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=stuck")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(abandonGrace+20*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(errs.String(), "trtui: stopped") {
		t.Errorf("%v: %s", err, &errs)
	}
}

// TestSuspend: the workbench gives the terminal back when it is stopped, takes it and paints when it goes on, and ends
// when it is asked to while it is stopped.
func TestSuspend(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p := startPTY(t, "--timing-cache", "none")
	p.await(0, "Overview")
	for _, ask := range []func(){
		func() { p.signal(unix.SIGTSTP) },
		func() { _, _ = p.master.WriteString("\x1a") },
		func() { p.signal(unix.SIGTSTP) },
	} {
		ask()
		if e := p.event(5 * time.Second); e != "stopped" {
			t.Fatalf("%q, want the program to stop", e)
		}
		p.checkRestored("stopped")
		from := len(p.written())
		p.signal(unix.SIGCONT)
		if e := p.event(5 * time.Second); e != "continued" {
			t.Fatalf("%q, want the program to go on", e)
		}
		p.await(from, ansi.SetModeAltScreenSaveCursor)
		p.await(from, "Overview")
		if p.termios() == p.before {
			t.Error("the terminal is not in raw mode")
		}
	}
	p.signal(unix.SIGSTOP)
	if e := p.event(5 * time.Second); e != "stopped" {
		t.Fatalf("%q, want the program to stop", e)
	}
	from := len(p.written())
	p.signal(unix.SIGCONT)
	p.event(5 * time.Second)
	p.await(from, "Overview")
	p.signal(unix.SIGTSTP)
	if e := p.event(5 * time.Second); e != "stopped" {
		t.Fatalf("%q, want the program to stop", e)
	}
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT)
	p.event(5 * time.Second)
	p.checkEnd("ended while stopped")
}

// TestRecordingSignal: a recording that a signal ends is complete as far as it went.
func TestRecordingSignal(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder := t.TempDir()
	p := startPTY(t, "--timing-cache", "none", "--recordings", folder)
	p.await(0, "Overview")
	_, _ = p.master.WriteString("w")
	var files []string
	for range 200 {
		if files, _ = filepath.Glob(filepath.Join(folder, "*"+recording.Extension)); len(files) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(files) == 0 {
		t.Fatal("nothing is being recorded")
	}
	time.Sleep(time.Second)
	p.signal(unix.SIGTERM)
	p.checkEnd("recording")
	r, err := recording.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if rep, err := r.Report(); err != nil || !rep.Complete {
		t.Errorf("the recording is cut short: %v", err)
	}
}

// While an engine is measured beside a baseline, the rounds are counted.
func TestCheckProgress(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	budget := filepath.Join(t.TempDir(), "b.yaml")
	if err := os.WriteFile(budget, []byte("limits:\n  latency_p50: baseline + 900 %\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := startPTY(t, "check", digitsFile, "--budget", budget, "--baseline", digitsFile, "--duration", "5s")
	p.await(0, "measuring 5/45")
}
