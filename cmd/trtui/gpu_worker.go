package main

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

// worker is this program in a process of its own, which works on a device and says on standard output, a line at a time, what
// it begins and what came of it. A kernel that hangs, or one that takes the driver down, ends that process and nothing else:
// the program that started it says which it was and starts another for the rest.
type worker struct {
	program  []string // and the arguments before args; empty: this program's own file
	args     []string
	patience time.Duration // how long it may take to say its first line
	stderr   io.Writer
}

// errSilent is what becomes of a worker that says nothing for too long.
var errSilent = errors.New("it did not answer and was killed")

// killGrace is how long a killed process may take to end: one that the device's driver holds may never.
const killGrace = 20 * time.Second

// run starts the worker and calls line with each line of its output until it ends; that the process failed is an error. It
// is killed with ctx, and where it says nothing for longer than line returned last.
func (w worker) run(ctx context.Context, line func([]byte) time.Duration) error {
	program := w.program
	if len(program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program = []string{self}
	}
	cmd := exec.Command(program[0], append(program[1:len(program):len(program)], w.args...)...)
	cmd.Stderr = w.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines, stop := make(chan []byte), make(chan struct{})
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
	}()
	failure := w.listen(ctx, lines, line)
	close(stop)
	if failure != nil {
		_ = cmd.Process.Kill() // it may have ended
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if failure != nil {
			return failure
		}
		return err
	case <-time.After(killGrace):
		return errors.Join(failure, fmt.Errorf("process %d does not end", cmd.Process.Pid))
	}
}

// listen passes lines on until there are no more, or none for too long, or ctx ends.
func (w worker) listen(ctx context.Context, lines <-chan []byte, line func([]byte) time.Duration) error {
	timer := time.NewTimer(w.patience)
	defer timer.Stop()
	for {
		select {
		case text, more := <-lines:
			if !more {
				return nil
			}
			timer.Reset(line(text))
		case <-timer.C:
			return errSilent
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
