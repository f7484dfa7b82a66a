//go:build linux

package files

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/trtui/trtui/internal/torture"
)

// Hunt is the hunt with deformed files.
var Hunt = torture.Hunt{
	Name: "files", Doc: "deformed models, engines, caches, configurations, recordings, data, and what other programs and people write",
	Share: 3, Sample: 120, Limit: 90 * time.Second, Memory: 4 << 30, Start: start,
}

// bounds are what reading a small file may take.
var bounds = torture.Bounds{Time: 30 * time.Second, Memory: 1 << 30}

// all are the kinds of files.
var all = slices.Concat(kinds, writtenKinds)

// hunter has the files that are deformed.
type hunter struct {
	place torture.Place
	kept  string            // the folder of the sound files
	sound map[string][]byte // by name
	count map[string]int
	total int // of the kinds' shares
}

func start(p torture.Place) (*torture.Worker, error) {
	h := &hunter{place: p, count: map[string]int{}}
	for _, k := range all {
		h.total += k.share
	}
	if err := unix.Mkfifo(h.path("pipe"), 0o600); err != nil {
		return nil, err
	}
	if err := os.Symlink("/etc/passwd", h.path("link")); err != nil {
		return nil, err
	}
	if err := h.prepare(); err != nil {
		return nil, err
	}
	return &torture.Worker{Try: h.try, Count: func() map[string]int { return h.count }}, nil
}

func (h *hunter) path(name string) string { return filepath.Join(h.place.Dir, name) }

// try gives the program one deformed file.
func (h *hunter) try(ctx context.Context, seed uint64) []torture.Finding {
	rnd := rand.New(rand.NewPCG(seed, 21))
	at := rnd.IntN(h.total)
	k := all[0]
	for _, k = range all {
		if at -= k.share; at < 0 {
			break
		}
	}
	data := k.make(rnd, h.sound)
	file, out := h.path(k.file), h.path("out")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return []torture.Finding{{Kind: "cannot write", Text: err.Error()}}
	}
	defer os.RemoveAll(h.path("images"))
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return []torture.Finding{{Kind: "cannot write", Text: err.Error()}}
	}
	defer os.Remove(file)
	defer os.Remove(out)
	words := k.commands[rnd.IntN(len(k.commands))]
	kept := func(name string) string { return filepath.Join(h.kept, name) }
	args := strings.Split(strings.NewReplacer("FILE", file, "FOLDER", h.path("images"), "OUT", out, "MODEL", kept("sound.onnx"), "IDX", kept("sound.idx"), "TEXT", kept("sound.txt"), "LANGUAGE", kept("language.onnx"), "CACHED", kept("cached.onnx"), "LLAMA", kept("llama.bin"),
		"RECORDING", kept("recording.trtui"), "LAYERS", kept("layers.json"), "PROFILE", kept("profile.json")).Replace(strings.Join(words, "\x00")), "\x00")
	cmd := exec.CommandContext(ctx, h.place.Program, args...)
	cmd.Dir = h.place.Dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+h.path("cache"), "GOTRACEBACK=all", "GOMAXPROCS=2", "TERM=dumb")
	if slices.Contains(words, "-") {
		in, err := os.Open(file)
		if err != nil {
			return []torture.Finding{{Kind: "cannot read", Text: err.Error()}}
		}
		defer in.Close()
		cmd.Stdin = in
	}
	c, err := torture.Run(ctx, cmd, bounds)
	if err != nil {
		return nil
	}
	h.count[k.name]++
	h.count[fmt.Sprint("exit code ", c.Code)]++
	what := wrong(c, filepath.Base(k.file))
	if what == "" {
		return nil
	}
	files := map[string][]byte{k.file: data, "sound.onnx": h.sound["model"]}
	return []torture.Finding{{Kind: fmt.Sprintf("%s of a %s by %s", what, k.name, words[0]), Text: report(c), Late: c.Hung,
		Command: "trtui " + strings.NewReplacer(h.place.Dir+"/", "", h.kept+"/", "").Replace(strings.Join(args, " ")), Files: files}}
}

var trouble = regexp.MustCompile(`(?m)^panic:|^fatal error:|^goroutine \d+|runtime error|internal error|unexpected fault address`)

// stale is what the program says of a flag that a command has no longer.
var stale = regexp.MustCompile(`has no --|unknown (flag|command)`)

// ofOthers is an error of something else than the file: a model without data, and one that is no language model, a text of which a
// tokenizer makes nothing, a flag.
var ofOthers = regexp.MustCompile(`--shapes|what it is for is not known|sound\.txt|of the limit of|--(tokens|length|ids|top-k|temperature)\b`)

// maxMessage bounds what the program says of a file that it cannot read.
const maxMessage = 16 << 10

// wrong returns what is wrong with how the program took a deformed file; "" if nothing is.
func wrong(c torture.Child, file string) string {
	said := c.Stdout + c.Stderr
	switch {
	case c.Hung:
		return "hangs" + at(c.Stderr)
	case c.Large:
		return fmt.Sprintf("takes more than %d MiB", bounds.Memory>>20)
	case c.Signal != "":
		return "ended by " + c.Signal + at(c.Stderr)
	case trouble.MatchString(said):
		return "says " + trouble.FindString(said) + at(said)
	case c.Code < 0 || c.Code > 2:
		return fmt.Sprintf("exit code %d", c.Code)
	case strings.ContainsAny(said, "\x1b\x07"):
		return "prints an escape of the file"
	case stale.MatchString(c.Stderr):
		return "the hunt's own command is not understood: " + general(c.Stderr)
	case c.Code == 2 && !strings.HasPrefix(c.Stderr, "trtui: "):
		return "an error without a message"
	case c.Code == 2 && !strings.Contains(c.Stderr, strings.TrimSuffix(file, filepath.Ext(file))) && !ofOthers.MatchString(c.Stderr):
		return "an error that does not name the file: " + general(c.Stderr)
	case c.Code == 2 && len(c.Stderr) > maxMessage:
		return "an error of many pages"
	}
	return ""
}

var specific = regexp.MustCompile("[\"'`][^\"'`]*[\"'`]|[0-9]+|/[^ ]*|[A-Za-z]+_#?[0-9.]*")

// general returns the beginning of a message without what differs from file to file.
func general(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = specific.ReplaceAllString(s, "#")
	return s[:min(len(s), 90)]
}

var frame = regexp.MustCompile(`github\.com/trtui/trtui/[a-zA-Z0-9_/.*()]+`)

// at returns the first function of ours in a stack.
func at(s string) string {
	if f := frame.FindString(s); f != "" {
		return " at " + f
	}
	return ""
}

// report is what a person wants to see of a child.
func report(c torture.Child) string {
	return fmt.Sprintf("exit code %d %s, %v, at most %d MiB\nstderr:\n%s\nstdout:\n%s", c.Code, c.Signal, c.Took.Round(time.Millisecond), c.Peak>>20, end(c.Stderr), end(c.Stdout))
}

func end(s string) string { return s[max(0, len(s)-6000):] }
