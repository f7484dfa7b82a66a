//go:build linux

package crash

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/internal/torture"
)

// killedTiming: what a timing cache knew it still knows, and it can be read.
func killedTiming(t *test) {
	timing := t.path("timing")
	t.well("run", t.model, "-q", "--items", "1", "--timing-cache", timing)
	before := lines(t.read(timing))
	t.killed(600*time.Millisecond, t.command("run", t.model, "-q", "--items", "1", "--precision", "int8", "--timing-cache", timing))
	t.kept(before, timing, "what it knew before")
	c := t.well("run", t.model, "-q", "--items", "1", "--timing-cache", timing)
	if strings.Contains(c.Stderr, "damaged") {
		t.errorf(c, "the timing cache is damaged")
	}
}

// kept checks that a timing cache still has entries.
func (t *test) kept(before map[string]bool, timing, what string) {
	after := lines(t.read(timing))
	for l := range before {
		if !after[l] && !known(after, l) {
			t.errorf(torture.Child{}, "the timing cache lost %s", what)
			return
		}
	}
}

// known reports whether a cache has an entry for what a line is about, perhaps measured again.
func known(after map[string]bool, line string) bool {
	about, _, _ := strings.Cut(line, `"Time"`)
	for l := range after {
		if strings.HasPrefix(l, about) {
			return true
		}
	}
	return false
}

// killedRecording: as far as it went a recording can be read, or the error names it.
func killedRecording(t *test) {
	file := t.path("some.trtui")
	t.killed(2*time.Second, t.command("record", t.model, "-q", "-o", file, "--timing-cache", "none"))
	if t.read(file) == nil {
		return
	}
	for _, args := range [][]string{{"inspect", "recording", file}, {"replay", file}} {
		c := t.run(t.command(args...))
		if c.Code != 0 && !strings.Contains(c.Stderr, "some.trtui") {
			t.errorf(c, "%s of what was recorded fails without its name", args[0])
		}
	}
	if leftover, _ := os.ReadDir(t.dir); len(leftover) > 8 {
		t.errorf(torture.Child{}, "%d files are left", len(leftover))
	}
}

// fullDisk: on a disk that is full the program says so, and leaves what was there.
func fullDisk(t *test) {
	disk, saved := t.path("disk"), t.path("saved")
	for _, dir := range []string{disk, saved} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.errorf(torture.Child{}, "cannot begin: %v", err)
			return
		}
	}
	k := t.rnd.IntN(len(writers) + len(elsewhere))
	writes, cache := k < len(writers), false
	var args []string
	if writes {
		args = t.words(writers[k].args, disk+"/old")
	} else {
		w := elsewhere[k-len(writers)]
		args, cache = t.words(w.args, disk), w.cache
	}
	size := []int{4, 8, 12, 16, 24, 32, 48, 64, 128}[t.rnd.IntN(9)]
	script := fmt.Sprintf("mount -t tmpfs -o size=%dk none %s || exit 77; printf sound >%s/old; %q \"$@\"; code=$?; cp -r %s/. %s/; exit $code", size, disk, disk, t.place.Program, disk, saved)
	cmd := t.command(args...)
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", script, "sh"}, args...)
	if !apart(cmd) {
		return
	}
	c := t.run(cmd)
	if c.Code == 77 {
		t.findings = nil // no disks can be made here
		return
	}
	old := t.read(saved + "/old")
	if left, _ := filepath.Glob(saved + "/" + host.PartialPrefix + "*"); len(left) > 0 {
		t.errorf(c, "a part of a file is left")
	}
	switch told := strings.Contains(c.Stderr, "space") || strings.Contains(c.Stderr, "full"); {
	case writes && c.Code == 0:
		t.whole(k, saved+"/old")
	case !bytes.Equal(old, []byte("sound")):
		t.errorf(c, "the file that was there is lost")
	case cache && c.Code != 0:
		t.errorf(c, "no room for a cache ends it")
	case !cache && c.Code == 2 && !told:
		t.errorf(c, "the error does not tell of the disk: %s", general(c.Stderr))
	case !cache && c.Code == 2 && !strings.Contains(c.Stderr, disk):
		t.errorf(c, "the error does not name the file: %s", general(c.Stderr))
	}
}

// elsewhere are commands that write other files than one that was there. Without a cache a command goes on.
var elsewhere = []struct {
	args  string
	cache bool
}{
	{"record MODEL -q -o FILE/new.trtui --random-items 4 --timing-cache none", false},
	{"export csv MODEL -q --random-items 4 --timing-cache none -o FILE/tables", false},
	{"export trex MODEL -q --random-items 4 --timing-cache none -o FILE/trex", false},
	{"tune-precision MODEL -q --random-items 8 --min-sqnr 40 --engines 2 --timing-cache none --resume FILE/state", false},
	{"debug reduce MODEL -q --time 5s --check false -o FILE/small.onnx", false},
	{"run MODEL -q --items 1 --timing-cache FILE/timing", true},
	{"bench MODEL -q --iterations 1 --timing-cache none --backend cudasim --code-cache FILE/code", true},
}

// noHome: where nothing can be kept the program works without.
func noHome(t *test) {
	cmd := t.command("run", t.model, "-q", "--items", "1")
	var env []string
	for _, e := range cmd.Env {
		if name, _, _ := strings.Cut(e, "="); name != "HOME" && name != "XDG_CACHE_HOME" {
			env = append(env, e)
		}
	}
	switch t.rnd.IntN(5) {
	case 0:
	case 1:
		env = append(env, "HOME=/proc/none")
	case 2:
		env = append(env, "HOME=/dev/null", "XDG_CACHE_HOME=/dev/full")
	case 3:
		env = append(env, "HOME=relative")
	case 4:
		cache := t.path("cache/trtui/timing.jsonl")
		if err := os.MkdirAll(cache, 0o755); err != nil {
			t.errorf(torture.Child{}, "cannot begin: %v", err)
		}
		env = append(env, "XDG_CACHE_HOME="+t.path("cache"))
	}
	cmd.Env = env
	t.commands = append(t.commands, "with "+strings.Join(env[len(env)-1:], " "))
	if c := t.run(cmd); c.Code != 0 && t.ctx.Err() == nil {
		t.errorf(c, "run fails: %s", general(c.Stderr))
	}
}

// sharedCache: four processes on one cache lose nothing of each other's.
func sharedCache(t *test) {
	timing := t.path("timing")
	precisions := []string{"fp32", "fp16", "int8", "fp32"}
	children := make([]torture.Child, len(precisions))
	var cmds []*exec.Cmd
	for _, p := range precisions {
		cmds = append(cmds, t.command("build", t.model, "-q", "-o", t.path(fmt.Sprint(len(cmds))), "--precision", p, "--timing-cache", timing))
	}
	var wait sync.WaitGroup
	for i, cmd := range cmds {
		wait.Go(func() { children[i], _ = torture.Run(t.ctx, cmd, bounds) })
	}
	wait.Wait()
	for _, c := range children {
		if t.sane(c); c.Code != 0 && t.ctx.Err() == nil {
			t.errorf(c, "build fails: %s", general(c.Stderr))
		}
	}
	before := lines(t.read(timing))
	for _, p := range precisions[:3] { // all is known: nothing new is timed
		t.well("build", t.model, "-q", "-o", t.path("again"), "--precision", p, "--timing-cache", timing)
	}
	t.kept(before, timing, "entries when all processes had ended")
	c := t.well("run", t.model, "-q", "--items", "1", "--timing-cache", timing)
	if strings.Contains(c.Stderr, "damaged") {
		t.errorf(c, "the timing cache is damaged")
	}
}

// sharedRecording: of two recorders on one file one records, and the other leaves it alone.
func sharedRecording(t *test) {
	file := t.path("some.trtui")
	cmds := []*exec.Cmd{t.command("record", t.model, "-q", "-o", file, "--timing-cache", "none"), t.command("record", t.model, "-q", "-o", file, "--timing-cache", "none")}
	children := make([]torture.Child, len(cmds))
	pause := time.Duration(t.rnd.IntN(1500)) * time.Millisecond * time.Duration(t.rnd.IntN(2))
	var wait sync.WaitGroup
	for i, cmd := range cmds {
		wait.Go(func() {
			time.Sleep(time.Duration(i) * pause)
			children[i], _ = torture.Run(t.ctx, cmd, bounds)
		})
	}
	wait.Wait()
	good, late := 0, false
	for _, c := range children {
		t.sane(c)
		if c.Code == 0 {
			good++
		}
		late = late || c.Hung
	}
	if good != 1 && !late && t.ctx.Err() == nil {
		t.errorf(children[0], "%d of 2 recorders say that all went well", good)
	}
	t.well("inspect", "recording", file)
}

// fullOutput: what cannot be written is an error.
func fullOutput(t *test) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer full.Close()
	args := [][]string{{"inspect", "model", t.model}, {"run", t.model, "-q", "--items", "1", "--timing-cache", "none"}, {"version"},
		{"inspect", "passes", t.model, "--format", "json"}}[t.rnd.IntN(4)]
	cmd := t.command(args...)
	cmd.Stdout = full
	if c := t.run(cmd); c.Code != 2 && t.ctx.Err() == nil {
		t.errorf(c, "%s ends with %d", args[0], c.Code)
	}
}
