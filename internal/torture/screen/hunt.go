//go:build linux

package screen

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
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
	Share: 3, Sample: 8, Limit: 3 * time.Minute, Memory: 2 << 30, Start: start,
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

// Toggles has the workbench build one configuration after the other for some time, and returns what memory it held at all times
// of the second third of it, and of the last: not what it takes for a while, as to measure how fast memory is, for which that must
// be more than the caches have.
func Toggles(ctx context.Context, p torture.Place, seed uint64, dir string, within time.Duration) (early, late int64, err error) {
	rnd := rand.New(rand.NewPCG(seed, 32))
	cmd := exec.CommandContext(ctx, p.Program, "--timing-cache", filepath.Join(dir, "timing"), "--threads", "1")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	t, err := open(cmd, 120, 40)
	if err != nil {
		return 0, 0, err
	}
	defer t.close()
	began := time.Now()
	early, late = math.MaxInt64, math.MaxInt64
	for time.Since(began) < within && ctx.Err() == nil {
		if err := t.send([]string{"f", "c", "R", "r", "1", "2", "4", "6", "x", " ", "\x1b"}[rnd.IntN(11)]); err != nil {
			return 0, 0, err
		}
		time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond)
		switch m, past := torture.Memory(cmd.Process.Pid), time.Since(began); {
		case past > 2*within/3:
			late = min(late, m)
		case past > within/3:
			early = min(early, m)
		}
	}
	return early, late, ctx.Err()
}

// attempt is one try: what was typed is what shows a finding.
type attempt struct {
	*terminal
	rnd   *rand.Rand
	typed []string
	model []byte
	disk  *disk // where it is at home, if nothing can be written there
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
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir, "GOTRACEBACK=all", "LANG=C.UTF-8")
	width, height := size(rnd)
	if rnd.IntN(4) == 0 {
		d := disks[rnd.IntN(len(disks))]
		d.dir = filepath.Join(dir, "disk")
		if err := os.Mkdir(d.dir, 0o755); err != nil {
			return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
		}
		cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+d.dir, "XDG_CONFIG_HOME="+d.dir)
		d.on(cmd)
		a.disk, width, height = &d, 100, 30
	}
	var err error
	if a.terminal, err = open(cmd, width, height); err != nil {
		return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
	}
	defer a.close()
	what := a.play(ctx)
	if ctx.Err() != nil || a.disk != nil && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == cannot {
		return nil // no disks can be made here
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
		Command: "trtui " + strings.Join(args, " ") + ", and what typed.txt says", Files: files,
		Late: what == unseen || strings.HasPrefix(what, endless)}}
}

// What a machine that has other work may be to blame for.
const (
	unseen  = "keys do not show"
	endless = "does not end by "
)

func tail(s string) string { return s[max(0, len(s)-1<<20):] }

// play types, and returns what is wrong, "" for nothing.
func (a *attempt) play(ctx context.Context) string {
	a.pause(1500)
	if a.disk != nil {
		if what := a.refused(a.disk); what != "" {
			return what
		}
	}
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
	if what := a.alive(ctx); what != "" {
		return what
	}
	if a.disk != nil {
		if what := a.half(a.disk); what != "" {
			return what
		}
	}
	return a.end(ctx)
}

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
	if o := a.outside(); o != "" && a.outsideAgain() {
		return "writes outside of its size: " + o, true
	}
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
	a.drain(10 * time.Second)
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
	if o := a.garbled(); o != "" {
		return o
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
	a.stacks()
	return unseen
}

// outsideAgain reports whether the program writes outside of its size once it has had time to learn it: one that waits for the
// processor may go on by an old one for longer than it should.
func (a *attempt) outsideAgain() bool {
	a.settle(time.Second, 20*time.Second)
	time.Sleep(afterSize)
	a.mu.Lock()
	a.beyond = ""
	width, height := a.width, a.height
	a.mu.Unlock()
	for _, h := range []int{height + 1, height} {
		a.resize(width, h)
		a.settle(500*time.Millisecond, 5*time.Second)
		_ = a.send("j")
		a.settle(500*time.Millisecond, 5*time.Second)
	}
	return a.outside() != ""
}

// garbled compares the screen, where it stands still, with what a repaint makes of it: what was written outside of its place
// would be gone.
func (a *attempt) garbled() string {
	still := func() (string, bool) {
		before := a.text()
		a.settle(700*time.Millisecond, time.Second)
		return before, before == a.text()
	}
	for range 2 {
		before, ok := still()
		if !ok || a.incomplete() {
			return ""
		}
		a.resize(100, 31)
		a.settle(300*time.Millisecond, 2*time.Second)
		a.resize(100, 30)
		a.settle(300*time.Millisecond, 2*time.Second)
		after, ok := still()
		if !ok || before == after {
			return ""
		}
		if a.rows(before, after) < 2 { // a number that has been measured again
			return ""
		}
		a.typed = append(a.typed, "(before a repaint:)", before, "(after it:)", after)
	}
	return "the screen is another one when it is painted anew"
}

// rows counts the lines that differ.
func (a *attempt) rows(before, after string) int {
	x, y := strings.Split(before, "\n"), strings.Split(after, "\n")
	n := max(len(x), len(y)) - min(len(x), len(y))
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			n++
		}
	}
	return n
}

// end asks the program to end, one way or another.
func (a *attempt) end(ctx context.Context) string {
	ways := []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, 0}
	way := ways[a.rnd.IntN(len(ways))]
	if way != 0 && signal.Ignored(way) { // as those of what nohup starts
		way = unix.SIGTERM
	}
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
		a.stacks()
		return endless + name
	}
}
