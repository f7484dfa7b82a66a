// Package supervisor has a GPU used by another process, since not every error leaves a process usable: a kernel that hangs, or
// one that takes the driver down, ends that process and nothing else. Worker is such a process; Sweep has workers check the
// pairs of a suite, and starts the next one behind what the last one did not survive; Steps has them bring a device up.
package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Worker is this program in a process of its own, which works on a device and says on standard output, a line at a time, what
// it begins and what came of it.
type Worker struct {
	Program  []string // and the arguments before Args; empty: this program's own file
	Args     []string
	Patience time.Duration // how long it may take to say a line; OpenPatience at least to say the first
	Stderr   io.Writer
}

// OpenPatience is how long a device may take to be opened.
const OpenPatience = time.Minute

// ErrSilent is what becomes of a worker that says nothing for too long.
var ErrSilent = errors.New("it did not answer and was killed")

// killGrace is how long a killed process may take to end: one that the device's driver holds may never.
const killGrace = 20 * time.Second

// Run starts the worker and calls line with each line of its output until it ends; that the process failed is an error. It
// is killed with ctx, and where it says nothing for longer than line returned last.
func (w Worker) Run(ctx context.Context, line func([]byte) time.Duration) error {
	program := w.Program
	if len(program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program = []string{self}
	}
	cmd := exec.Command(program[0], append(program[1:len(program):len(program)], w.Args...)...)
	cmd.Stderr = w.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines, stop := make(chan []byte), make(chan struct{})
	var unread error // what ended the lines before the output's end
	go func() {
		defer close(lines)
		in := bufio.NewScanner(out)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			select {
			case lines <- append([]byte(nil), in.Bytes()...):
			case <-stop:
				return
			}
		}
		unread = in.Err()
	}()
	ended, failure := w.listen(ctx, lines, line)
	if ended {
		failure = unread
	}
	close(stop)
	if failure != nil {
		_ = cmd.Process.Kill() // it may have ended
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	select {
	case err := <-gone:
		if failure != nil {
			return failure
		}
		return err
	case <-time.After(killGrace):
		_ = cmd.Process.Kill() // it has said all, and does not end
		return errors.Join(failure, fmt.Errorf("process %d does not end", cmd.Process.Pid))
	}
}

// listen passes lines on until there are no more, which is their end, or none for too long, or ctx ends.
func (w Worker) listen(ctx context.Context, lines <-chan []byte, line func([]byte) time.Duration) (ended bool, err error) {
	timer := time.NewTimer(max(w.Patience, OpenPatience))
	defer timer.Stop()
	for {
		select {
		case text, more := <-lines:
			if !more {
				return true, nil
			}
			timer.Reset(line(text))
		case <-timer.C:
			return false, ErrSilent
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
