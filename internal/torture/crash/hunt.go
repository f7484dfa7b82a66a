//go:build linux

package crash

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/networks"
)

// Hunt is the hunt with what happens to programs.
var Hunt = torture.Hunt{
	Name: "crash", Doc: "kill -9 at random moments, full disks, no home, several processes on one file, limits of memory, engines of other processors, plugins that change",
	Share: 2, Sample: 16, Limit: 2 * time.Minute, Memory: 4 << 30, Start: start,
}

// trial is one thing that is tried.
type trial struct {
	name string
	try  func(t *test)
}

var trials = []trial{
	{"killed while a file is written", killedWriter},
	{"killed while tactics are timed", killedTiming},
	{"killed while it records", killedRecording},
	{"a full disk", fullDisk},
	{"no home", noHome},
	{"several processes on one cache", sharedCache},
	{"two recorders on one file", sharedRecording},
	{"output that cannot be written", fullOutput},
	{"a limit of memory", littleMemory},
	{"an engine of another processor", otherProcessor},
	{"a plugin that changes", changedPlugin},
}

var bounds = torture.Bounds{Time: 60 * time.Second, Memory: 2 << 30}

// test is one try of a trial; what is wrong is noted with errorf.
type test struct {
	ctx      context.Context
	place    torture.Place
	dir      string
	rnd      *rand.Rand
	model    string // a small model
	commands []string
	findings []torture.Finding
	trial    string
}

func start(p torture.Place) (*torture.Worker, error) {
	count := map[string]int{}
	return &torture.Worker{
		Try: func(ctx context.Context, seed uint64) []torture.Finding {
			rnd := rand.New(rand.NewPCG(seed, 41))
			k := trials[rnd.IntN(len(trials))]
			t := &test{ctx: ctx, place: p, dir: filepath.Join(p.Dir, fmt.Sprint(seed)), rnd: rnd, trial: k.name}
			defer os.RemoveAll(t.dir)
			if err := t.begin(seed); err != nil {
				return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
			}
			k.try(t)
			count[k.name]++
			if ctx.Err() != nil {
				return nil
			}
			return t.findings
		},
		Count: func() map[string]int { return count },
	}, nil
}

// begin writes the model, one whose layers have several tactics.
func (t *test) begin(seed uint64) error {
	t.model = t.path("model.onnx")
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(t.model, networks.Convolutions(seed).Encode(), 0o644)
}

func (t *test) path(name string) string { return filepath.Join(t.dir, name) }

// command returns the program with arguments, at home in the test's folder.
func (t *test) command(args ...string) *exec.Cmd {
	t.commands = append(t.commands, "trtui "+strings.Join(args, " "))
	cmd := exec.CommandContext(t.ctx, t.place.Program, args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "HOME="+t.dir, "XDG_CACHE_HOME="+t.path("cache"), "GOTRACEBACK=all")
	return cmd
}

// run runs a command to its end and checks what holds of all of them.
func (t *test) run(cmd *exec.Cmd) torture.Child {
	c, err := torture.Run(t.ctx, cmd, bounds)
	if err != nil && t.ctx.Err() == nil {
		t.errorf(c, "cannot run: %v", err)
	}
	t.sane(c)
	return c
}

var trouble = regexp.MustCompile(`(?m)^panic:|^fatal error:|^goroutine \d+|runtime error|internal error`)

// sane checks what holds whatever happens.
func (t *test) sane(c torture.Child) {
	switch {
	case t.ctx.Err() != nil:
	case c.Hung:
		t.errorf(c, "hangs")
	case c.Large:
		t.errorf(c, "takes more than %d MiB", bounds.Memory>>20)
	case trouble.MatchString(c.Stderr):
		t.errorf(c, "says %s", trouble.FindString(c.Stderr))
	case c.Signal == "" && (c.Code < 0 || c.Code > 2):
		t.errorf(c, "exit code %d", c.Code)
	case c.Code == 2 && !strings.Contains(c.Stderr, "trtui: "):
		t.errorf(c, "an error without a message")
	}
}

// well is run of what must succeed.
func (t *test) well(args ...string) torture.Child {
	c := t.run(t.command(args...))
	if c.Code != 0 && t.ctx.Err() == nil {
		t.errorf(c, "%s fails: %s", args[0], general(c.Stderr))
	}
	return c
}

// killed runs a command and kills it after at most so long.
func (t *test) killed(within time.Duration, cmd *exec.Cmd) {
	after := time.Duration(t.rnd.Int64N(int64(within)))
	t.commands = append(t.commands, fmt.Sprintf("(killed after %v)", after.Round(time.Millisecond)))
	if err := cmd.Start(); err != nil {
		t.errorf(torture.Child{}, "cannot run: %v", err)
		return
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// errorf notes what is wrong, with what the last command said.
func (t *test) errorf(c torture.Child, format string, args ...any) {
	t.findings = append(t.findings, torture.Finding{
		Kind: t.trial + ": " + fmt.Sprintf(format, args...), Command: strings.Join(t.commands, "; "), Late: c.Hung,
		Text: fmt.Sprintf("exit code %d %s\nstderr:\n%s\nstdout:\n%s", c.Code, c.Signal, end(c.Stderr), end(c.Stdout)),
	})
}

func end(s string) string { return s[max(0, len(s)-4000):] }

var specific = regexp.MustCompile("[\"'`][^\"'`]*[\"'`]|[0-9]+|/[^ ]*")

// general returns the beginning of a message without what differs from one to the other.
func general(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = specific.ReplaceAllString(s, "#")
	return s[:min(len(s), 90)]
}

func (t *test) read(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return data
}

// lines returns the lines of a file as a set.
func lines(data []byte) map[string]bool {
	set := map[string]bool{}
	for _, l := range bytes.Split(data, []byte("\n")) {
		if len(l) > 0 {
			set[string(l)] = true
		}
	}
	return set
}
