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
	Share: 3, Sample: 120, Limit: 2 * time.Minute, Memory: 4 << 30, Start: start,
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

	readable []readable // files of which reads fail
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
	h.readable = readableKinds(h.sound)
	return &torture.Worker{Try: h.try, Count: func() map[string]int { return h.count }}, nil
}

func (h *hunter) path(name string) string { return filepath.Join(h.place.Dir, name) }

// try gives the program one deformed file, or a sound one of which reads fail.
func (h *hunter) try(ctx context.Context, seed uint64) []torture.Finding {
	rnd := rand.New(rand.NewPCG(seed, 21))
	at := rnd.IntN(h.total)
	k := all[0]
	for _, k = range all {
		if at -= k.share; at < 0 {
			break
		}
	}
	if rnd.IntN(5) == 0 {
		return h.tryReads(ctx, rnd)
	}
	return h.given(k, k.make(rnd, h.sound), k.commands[rnd.IntN(len(k.commands))], func(g given) []torture.Finding {
		bounds := bounds
		if k.name == "plugin" {
			bounds.Time = patience
		}
		c, err := torture.Run(ctx, g.command(ctx), bounds)
		if err != nil {
			return nil
		}
		h.count[k.name]++
		h.count[fmt.Sprint("exit code ", c.Code)]++
		if what := wrong(c, filepath.Base(k.file)); what != "" {
			return g.finding(what+" of a "+k.name, "", c)
		}
		return nil
	})
}

// given is a file and a command that reads it.
type given struct {
	h     *hunter
	kind  kind
	data  []byte
	file  string // FILE
	out   string // OUT
	words []string
	args  []string
	in    *os.File // the file, where the command reads its standard input
}

// given has a file there while it is tried.
func (h *hunter) given(k kind, data []byte, words []string, try func(given) []torture.Finding) []torture.Finding {
	g := given{h: h, kind: k, data: data, words: words, file: h.path(k.file), out: h.path("out")}
	err := os.MkdirAll(filepath.Dir(g.file), 0o755)
	defer os.RemoveAll(h.path("images"))
	if err == nil {
		err = os.WriteFile(g.file, data, 0o644)
	}
	defer os.Remove(g.file)
	defer os.Remove(g.out)
	if err == nil && slices.Contains(words, "-") {
		if g.in, err = os.Open(g.file); err == nil {
			defer g.in.Close()
		}
	}
	if err != nil {
		return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
	}
	kept := func(name string) string { return filepath.Join(h.kept, name) }
	g.args = strings.Split(strings.NewReplacer("FILE", g.file, "FOLDER", h.path("images"), "OUT", g.out, "MODEL", kept("sound.onnx"), "IDX", kept("sound.idx"), "TEXT", kept("sound.txt"), "LANGUAGE", kept("language.onnx"), "CACHED", kept("cached.onnx"), "LLAMA", kept("llama.bin"), "POWERED", kept("powered.onnx"),
		"RECORDING", kept("recording.trtui"), "LAYERS", kept("layers.json"), "PROFILE", kept("profile.json")).Replace(strings.Join(words, "\x00")), "\x00")
	return try(g)
}

func (g given) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.h.place.Program, g.args...)
	cmd.Dir = g.h.place.Dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+g.h.path("cache"), "GOTRACEBACK=all", "GOMAXPROCS=2", "TERM=dumb")
	if g.in != nil {
		_, _ = g.in.Seek(0, 0)
		cmd.Stdin = g.in
	}
	return cmd
}

// finding returns what is wrong with how the program took a file, with the circumstances that its bytes do not have.
func (g given) finding(what, circumstances string, c torture.Child) []torture.Finding {
	files := map[string][]byte{g.kind.file: g.data, "sound.onnx": g.h.sound["model"]}
	command := "trtui " + strings.NewReplacer(g.h.place.Dir+"/", "", g.h.kept+"/", "").Replace(strings.Join(g.args, " ")) + circumstances
	return []torture.Finding{{Kind: what + " by " + g.words[0], Text: report(c), Late: c.Hung, Command: command, Files: files}}
}

var trouble = regexp.MustCompile(`(?m)^panic:|^fatal error:|^goroutine \d+|runtime error|internal error|unexpected fault address`)

// stale is what the program says of a flag that a command has no longer.
var stale = regexp.MustCompile(`has no --|unknown (flag|command)`)

// ofOthers is an error of something else than the file: a model without data, and one that is no language model, a text of which a
// tokenizer makes nothing, a flag.
var ofOthers = regexp.MustCompile(`--shapes|/dev/stdin|what it is for is not known|sound\.txt|of the limit of|--(tokens|length|ids|top-k|temperature)\b`)

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
