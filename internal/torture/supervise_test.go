//go:build linux

package torture

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slow is a hunt whose tries are late: that of number 0 the first time, that of number 1 always; that of number 2 says at once
// that something else is wrong. Its worker's folder remembers which were tried.
var slow = Hunt{Name: "slow", Share: 1, Limit: 2 * time.Second, Start: func(p Place) (*Worker, error) {
	return &Worker{Try: func(ctx context.Context, seed uint64) []Finding {
		number, marker := seed&0xffffffff, filepath.Join(p.Dir, "tried")
		_, err := os.Stat(marker)
		if number == 2 {
			return []Finding{{Kind: "wrong"}}
		}
		if number == 1 || err != nil {
			_ = os.WriteFile(marker, nil, 0o600)
			time.Sleep(time.Minute)
		}
		return nil
	}}, nil
}}

// TestMain serves the hunt where the supervisor started the test as its worker.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TORTURE_SERVES"); dir != "" {
		if err := slow.Serve(context.Background(), Place{Dir: dir}, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestLate: what is late is a finding if it is so again, what is wrong is one at once.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		number uint64
		found  int
		says   string
	}{{0, 0, "late once"}, {1, 1, "it hangs"}, {2, 1, "wrong"}} {
		state, err := OpenState(t.TempDir(), 7)
		if err != nil {
			t.Fatal(err)
		}
		marks := t.TempDir()
		var out bytes.Buffer
		s := Supervisor{Hunts: []Hunt{slow}, State: state, Jobs: 1, For: time.Minute, Only: []uint64{c.number}, Out: &out,
			Command: func(ctx context.Context, _ Hunt, _ string) *exec.Cmd {
				cmd := exec.CommandContext(ctx, os.Args[0])
				cmd.Env = append(os.Environ(), "TORTURE_SERVES="+marks)
				return cmd
			}}
		found, err := s.Run(context.Background())
		if err != nil || found != c.found || !strings.Contains(out.String(), c.says) {
			t.Errorf("number %d: %d found, %v, and it says %q, want %d and %q", c.number, found, err, out.String(), c.found, c.says)
		}
	}
}
