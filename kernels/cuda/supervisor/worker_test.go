package supervisor_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/trtui/trtui/kernels/cuda/supervisor"
)

// TestWorkerIsKilled: one that says nothing, one whose time is up, and one that is not there.
func TestWorkerIsKilled(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no shell")
	}
	said := ""
	line := func(text []byte) time.Duration {
		said += string(text)
		return 100 * time.Millisecond
	}
	w := supervisor.Worker{Program: []string{"/bin/sh", "-c", "echo one; exec sleep 60"}, Patience: 5 * time.Second, Stderr: io.Discard}
	begin := time.Now()
	if err := w.Run(t.Context(), line); !errors.Is(err, supervisor.ErrSilent) || said != "one" {
		t.Errorf("%v after %q", err, said)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := w.Run(ctx, func([]byte) time.Duration { return time.Minute }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
	w.Program, begin = []string{"/bin/sh", "-c", "exec head -c 3000000 /dev/zero"}, time.Now()
	if err := w.Run(t.Context(), func([]byte) time.Duration { return time.Minute }); !errors.Is(err, bufio.ErrTooLong) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v of a line without end, after %v", err, time.Since(begin))
	}
	w.Program = []string{"/no/such/program"}
	if err := w.Run(t.Context(), line); err == nil {
		t.Error("a program that is not there was run")
	}
}
