//go:build linux

package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Child is what became of a program that was run within bounds.
type Child struct {
	Code           int // its exit code; -1 where a signal ended it
	Signal         string
	Stdout, Stderr string // their ends
	Hung, Large    bool   // it was ended for taking too long, or too much memory
	Took           time.Duration
	Peak           int64 // the most memory it was seen to hold
	Resident       int64 // the most that it has had in memory, files that are mapped too, when it was seen last
}

// Bounds are what a program may take.
type Bounds struct {
	Time   time.Duration
	Memory int64
}

// Run runs a program to its end, or to its bounds. It is a process group of its own, all of which is killed at the end.
func Run(ctx context.Context, cmd *exec.Cmd, b Bounds) (Child, error) {
	stdout, stderr := &tail{limit: 1 << 20}, &tail{limit: 1 << 16}
	if cmd.Stdout == nil {
		cmd.Stdout = stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = stderr
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.WaitDelay = time.Second
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Child{}, err
	}
	var c Child
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(ctx, cmd.Process.Pid, b, done) })
	err := cmd.Wait()
	close(done)
	watch.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	c.Took, c.Stdout, c.Stderr, c.Code = time.Since(start), stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		c.Signal = status.Signal().String()
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) && !errors.Is(err, exec.ErrWaitDelay) {
		return c, err
	}
	return c, ctx.Err()
}

// watch ends the program when it exceeds its bounds: a hanging one with SIGQUIT first, for the stacks.
func (c *Child) watch(ctx context.Context, pid int, b Bounds, done chan struct{}) {
	late := time.After(b.Time)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			return
		case <-late:
			c.Hung = true
			_ = syscall.Kill(pid, syscall.SIGQUIT)
			select {
			case <-done:
			case <-time.After(2 * time.Second):
				_ = syscall.Kill(-pid, syscall.SIGKILL)
			}
			return
		case <-tick.C:
			rss := Memory(pid)
			c.Peak, c.Resident = max(c.Peak, rss), max(c.Resident, mostResident(pid))
			if b.Memory > 0 && rss > b.Memory {
				c.Large = true
				_ = syscall.Kill(-pid, syscall.SIGKILL)
				return
			}
		}
	}
}

// Memory returns the bytes that a process holds; 0 where that is not known.
func Memory(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(fields[1], 10, 64)
	shared, _ := strconv.ParseInt(fields[2], 10, 64) // files that are mapped
	return (resident - shared) * int64(os.Getpagesize())
}

// mostResident returns the most bytes that a process has had in memory; 0 where that is not known.
func mostResident(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	text, _, _ := strings.Cut(rest, "kB")
	kib, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return kib << 10
}

// tail keeps the last bytes of what is written to it.
type tail struct {
	mu    sync.Mutex
	limit int
	b     bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Write(p)
	if extra := t.b.Len() - t.limit; extra > 0 {
		t.b.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}
