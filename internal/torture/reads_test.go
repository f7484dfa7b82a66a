//go:build linux

package torture

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRunReading: reads of one file fail, end early or give few bytes, others are as they are, and the answer is seen by what reads.
func TestRunReading(t *testing.T) {
	dir := t.TempDir()
	some, other := filepath.Join(dir, "some"), filepath.Join(dir, "other")
	for _, name := range []string{some, other} {
		if err := os.WriteFile(name, []byte(strings.Repeat("0123456789", 1000)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		answer Answer
		code   int
		bytes  int
	}{
		{"as it is", Answer{}, 0, 20000},
		{"an error", Answer{Err: syscall.EIO}, 1, 10000},
		{"an end", Answer{End: true}, 0, 10000},
		{"few bytes", Answer{Most: 7}, 0, 20000},
	} {
		asked := 0
		c, err := RunReading(context.Background(), exec.Command("cat", some, other), Bounds{Time: time.Minute}, func(r Read) Answer {
			if r.Path != some {
				return Answer{}
			}
			asked++
			return tt.answer
		})
		if err != nil {
			t.Skip(err)
		}
		if c.Code != tt.code || len(c.Stdout) != tt.bytes || asked == 0 {
			t.Errorf("%s: exit code %d, %d bytes, asked %d times: %s", tt.name, c.Code, len(c.Stdout), asked, c.Stderr)
		}
		if tt.answer.Most > 0 && asked < 1000 {
			t.Errorf("%s: asked %d times", tt.name, asked)
		}
	}
}
