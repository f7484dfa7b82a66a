package screen

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/networks"
)

// Hunt is the hunt with keys.
var Hunt = torture.Hunt{
	Name: "screen", Doc: "random keys, mouse events, resizes and signals for the workbench in a terminal",
	Share: 3, Limit: 3 * time.Minute, Memory: 2 << 30, Start: start,
}

// Bounds of what a person waits for, on a machine that is busy.
const (
	answers = 15 * time.Second // a key shows
	ends    = 8 * time.Second  // the program ends when it is asked to
	memory  = 2 << 30
)

type hunter struct {
	place torture.Place
	count map[string]int
}

func start(p torture.Place) (*torture.Worker, error) {
	h := &hunter{place: p, count: map[string]int{}}
	return &torture.Worker{Try: h.try, Count: func() map[string]int { return h.count }}, nil
}

// attempt is one try: what was typed is what shows a finding.
type attempt struct {
	*terminal
	rnd   *rand.Rand
	typed []string
	model []byte
}

func (h *hunter) try(ctx context.Context, seed uint64) []torture.Finding {
	rnd := rand.New(rand.NewPCG(seed, 31))
	dir := filepath.Join(h.place.Dir, fmt.Sprint(seed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
	}
	defer os.RemoveAll(dir)
	a := &attempt{rnd: rnd}
	args := []string{"--timing-cache", []string{"none", filepath.Join(dir, "timing")}[rnd.IntN(2)], "--threads", "1"}
	if rnd.IntN(2) == 0 {
		a.model = networks.Generate(seed).Encode()
		file := filepath.Join(dir, "model.onnx")
		if err := os.WriteFile(file, a.model, 0o644); err != nil {
			return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
		}
		args = append(args, file)
	}
	cmd := exec.CommandContext(ctx, h.place.Program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_CACHE_HOME="+dir, "GOTRACEBACK=all", "LANG=C.UTF-8")
	width, height := size(rnd)
	var err error
	if a.terminal, err = open(cmd, width, height); err != nil {
		return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
	}
	defer a.close()
	what := a.play(ctx, h.place.Planted)
	if ctx.Err() != nil {
		return nil
	}
	h.count["inputs"] += len(a.typed)
	h.count["bytes of output"] += len(a.written())
	if what == "" {
		return nil
	}
	files := map[string][]byte{"typed.txt": []byte(strings.Join(a.typed, "\n")), "output.txt": []byte(tail(a.written())), "screen.txt": []byte(a.text())}
	if a.model != nil {
		files["model.onnx"] = a.model
	}
	return []torture.Finding{{Kind: what, Text: strings.Join(a.typed[max(0, len(a.typed)-30):], "\n") + "\n\n" + a.text(),
		Command: "trtui " + strings.Join(args, " ") + ", and what typed.txt says", Files: files}}
}

func tail(s string) string { return s[max(0, len(s)-1<<20):] }

// play types, and returns what is wrong, "" for nothing.
func (a *attempt) play(ctx context.Context, planted string) string {
	a.pause(1500)
	for range 20 + a.rnd.IntN(120) {
		if what, ended := a.state(ctx); what != "" || ended {
			return what
		}
		if err := a.act(); err != nil {
			what, _ := a.state(ctx)
			if what == "" {
				what = err.Error()
			}
			return what
		}
	}
	if planted == LostWakeUp {
		_ = unix.Kill(a.cmd.Process.Pid, unix.SIGSTOP)
	}
	if what := a.alive(ctx); what != "" {
		return what
	}
	return a.end(ctx)
}

// LostWakeUp is the planted defect of this hunt: the program sleeps where a key should wake it.
const LostWakeUp = "lost-wake-up"

// act does one thing.
func (a *attempt) act() error {
	switch a.rnd.IntN(24) {
	case 0:
		width, height := size(a.rnd)
		a.typed = append(a.typed, fmt.Sprintf("size %d x %d", width, height))
		a.resize(width, height)
		return nil
	case 1:
		a.typed = append(a.typed, "SIGWINCH")
		return unix.Kill(a.cmd.Process.Pid, unix.SIGWINCH)
	case 2:
		a.pause(600)
		return nil
	}
	a.mu.Lock()
	width, height := a.width, a.height
	a.mu.Unlock()
	s := input(a.rnd, width, height)
	a.typed = append(a.typed, fmt.Sprintf("%q", s))
	if a.rnd.IntN(3) == 0 {
		a.pause(40)
	}
	return a.send(s)
}

func (a *attempt) pause(ms int) { time.Sleep(time.Duration(a.rnd.IntN(ms)) * time.Millisecond) }

var trouble = regexp.MustCompile(`panic:|fatal error:|goroutine \d+ \[|runtime error|Caught panic`)

// state returns what is wrong at this moment, and whether the program has ended.
func (a *attempt) state(ctx context.Context) (what string, ended bool) {
	out := a.written()
	if t := trouble.FindString(out); t != "" {
		a.settle(300*time.Millisecond, 2*time.Second)
		return "says " + t + culprit(a.written()), true
	}
	select {
	case err := <-a.ended:
		a.ended <- err
		a.typed = append(a.typed, "(it has ended)")
		return a.over(err), true
	default:
	}
	if m := torture.Memory(a.cmd.Process.Pid); m > memory {
		return fmt.Sprintf("takes more than %d MiB", memory>>20), true
	}
	return "", ctx.Err() != nil
}

var frame = regexp.MustCompile(`github\.com/trtui/trtui/[a-zA-Z0-9_/.*()]+`)

func culprit(out string) string {
	if _, stack, ok := strings.Cut(out, "panic"); ok {
		return " at " + frame.FindString(stack)
	}
	return ""
}

// over judges a program that has ended.
func (a *attempt) over(err error) string {
	a.settle(100*time.Millisecond, time.Second)
	if left := a.left(); left != "" {
		return "left with " + left
	}
	if err != nil && strings.Contains(err.Error(), "exit status") && !strings.Contains(err.Error(), "exit status 2") {
		return "ended with " + err.Error()
	}
	return ""
}

// alive sees that a key shows at a usual size, and that nothing is outside of it.
func (a *attempt) alive(ctx context.Context) string {
	a.typed = append(a.typed, "size 100 x 30")
	a.resize(100, 30)
	a.settle(400*time.Millisecond, 4*time.Second)
	if what, ended := a.state(ctx); what != "" || ended {
		return what
	}
	if a.cmd.ProcessState == nil {
		if o := a.outside(); o != "" {
			a.settle(time.Second, 5*time.Second)
			if o := a.outside(); o != "" {
				return "writes outside of its size: " + o
			}
		}
	}
	until := time.Now().Add(answers)
	before := a.text()
	for _, key := range []string{"\x1b[201~", "?", "\x1b", "?", "\t", "/", "x", "\x1b", "\x1b", "?", "\t"} {
		a.typed = append(a.typed, fmt.Sprintf("%q", key))
		if err := a.send(key); err != nil {
			return err.Error()
		}
		time.Sleep(150 * time.Millisecond)
		if a.text() != before {
			return ""
		}
	}
	for time.Now().Before(until) && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		if a.text() != before {
			return ""
		}
		if what, ended := a.state(ctx); what != "" || ended {
			return what
		}
	}
	if ctx.Err() != nil {
		return ""
	}
	_ = unix.Kill(a.cmd.Process.Pid, unix.SIGQUIT)
	return "keys do not show"
}

// end asks the program to end, one way or another.
func (a *attempt) end(ctx context.Context) string {
	ways := []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, 0}
	way := ways[a.rnd.IntN(len(ways))]
	name := way.String()
	if way == 0 {
		name = "ctrl+c"
		_ = a.send("\x03")
		time.AfterFunc(time.Second, func() { _ = a.send("\x03") }) // the first may close what is open
	} else {
		_ = unix.Kill(a.cmd.Process.Pid, way)
	}
	a.typed = append(a.typed, name)
	select {
	case err := <-a.ended:
		a.ended <- err
		return a.over(err)
	case <-ctx.Done():
		return ""
	case <-time.After(ends):
		return "does not end by " + name
	}
}
