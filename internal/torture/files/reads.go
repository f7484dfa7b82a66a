//go:build linux

package files

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/trtui/trtui/internal/torture"
)

// readable is a kind of which there is a sound file.
type readable struct {
	kind
	sound []byte
}

// readableKinds returns all of them. Of a model that is deformed in its meaning, and of what has no end that tells, there is none.
func readableKinds(sound map[string][]byte) (list []readable) {
	own := map[string][]byte{
		"model's bytes": sound["model"], "engine": sound["engine"], "timing cache": sound["timing"], "configuration": []byte(`{"version": 1, "precision": "int8"}`),
		"recording": sound["recording.trtui"], "npy": npyFile("<f4", "(2, 1, 32, 32)", make([]byte, 8*side*side)),
		"npz": npzFile(map[string][]byte{"x.npy": npyFile("<f4", "(2, 1, 32, 32)", make([]byte, 8*side*side)), "y.npy": npyFile("|u1", "(2,)", []byte{1, 2})}),
		"idx": idxFile(8, []int{2, side, side}, pixels(2)), "idx, packed": gzipped(idxFile(8, []int{2, side, side}, pixels(2))),
		"image": picture("png"), "photograph": picture("jpg"), "labels": idxFile(8, []int{2}, []byte{1, 2}),
		"rules": []byte(rules), "keys": []byte(keys), "theme": []byte(theme), "budget": []byte(budget), "plugin": plugin,
		"tokenizer": []byte(tokenizer), "tokenizer of llama2.c": llama2c(), "ranges": sound["ranges.json"], "calibration cache": sound["calibration.cache"],
		"layers of trtexec": sound["layers.json"], "profile of trtexec": sound["profile.json"], "times of trtexec": sound["times.json"],
		"profile of ONNX Runtime": []byte(runtimeProfile), "inputs of Polygraphy": sound["inputs.json"], "outputs of Polygraphy": sound["outputs.json"],
		"prompt": []byte("a text"), "text for a language model": bytes.Repeat([]byte("abc "), 99),
	}
	for _, k := range all {
		if data := own[k.name]; data != nil {
			list = append(list, readable{k, data})
		}
	}
	weights := make([]byte, 4*besideElements)
	for i := range weights {
		weights[i] = byte(i) &^ 0xc0
	}
	return append(list,
		readable{kind{name: "weights beside a model", file: "weights.bin", commands: [][]string{
			with("run", "BESIDE", "--items", "1", "--timing-cache", "none"), with("inspect", "model", "BESIDE"), with("build", "BESIDE", "-o", "OUT", "--timing-cache", "none")}}, weights},
		readable{kind{name: "labels of images", file: "images/labels.tsv", commands: imageCommands}, []byte("picture.png\t1\npicture.png\t0\n")},
		readable{kind{name: folderOfImages, file: "images/picture.png", commands: imageCommands}, picture("png")},
	)
}

const folderOfImages = "folder of images"

// besideElements is how many elements the weights have.
const besideElements = 40000

// besideWeights returns a model whose weights are in a file beside it.
func besideWeights() []byte {
	entry := func(key, value string) []byte { return field(field(nil, 1, []byte(key)), 2, []byte(value)) }
	t := field(number(number(nil, 1, besideElements), 2, 1), 8, []byte("w"))
	t = field(field(number(t, 14, 1), 13, entry("location", "weights.bin")), 13, entry("length", fmt.Sprint(4*besideElements)))
	value := func(name string) []byte {
		shape := field(nil, 1, number(nil, 1, besideElements))
		return field(field(nil, 1, []byte(name)), 2, field(nil, 1, field(number(nil, 1, 1), 2, shape)))
	}
	n := field(field(field(field(nil, 1, []byte("x")), 1, []byte("w")), 2, []byte("y")), 4, []byte("Add"))
	g := field(field(field(nil, 1, n), 2, []byte("beside")), 5, t)
	g = field(field(g, 11, value("x")), 12, value("y"))
	return field(field(number(nil, 1, 8), 8, number(nil, 2, 17)), 7, g)
}

// trouble with reads.
type failure struct {
	what string
	from int64 // the first byte that cannot be read
	few  int   // bytes that a read gives
	list bool  // the folder cannot be listed
	met  int   // calls that it changed
}

func (f *failure) String() string {
	switch {
	case f.list:
		return "whose folder cannot be listed"
	case f.few > 0:
		return fmt.Sprintf("of which each read gives %d bytes", f.few)
	}
	return fmt.Sprintf("%s from byte %d on", f.what, f.from)
}

const (
	failing = "that cannot be read" // EIO
	ending  = "that ends"           // it was longer when it was opened
)

// answer judges a read of the file.
func (f *failure) answer(r torture.Read) torture.Answer {
	switch {
	case r.List != f.list:
	case f.list:
		f.met++
		return torture.Answer{Err: syscall.EIO}
	case f.few > 0:
		f.met++
		return torture.Answer{Most: f.few}
	case r.At < f.from:
		return torture.Answer{Most: int(f.from - r.At)}
	case f.what == failing:
		f.met++
		return torture.Answer{Err: syscall.EIO}
	default:
		f.met++
		return torture.Answer{End: true}
	}
	return torture.Answer{}
}

// tryReads gives the program a sound file of which reads fail, end early, or give few bytes. What it cannot read is an error that
// names the file, never half a result; few bytes at a time are as good as many.
func (h *hunter) tryReads(ctx context.Context, rnd *rand.Rand) []torture.Finding {
	k := h.readable[rnd.IntN(len(h.readable))]
	f := &failure{what: []string{failing, ending}[rnd.IntN(2)], from: int64(rnd.IntN(len(k.sound)))}
	switch rnd.IntN(6) {
	case 0:
		f.few = 1 + rnd.IntN(1<<rnd.IntN(12))
		f.few = max(f.few, len(k.sound)/4000) // each is asked for
	case 1:
		f.from = 0
	case 2:
		f.list = k.name == folderOfImages
	}
	return h.given(k.kind, k.sound, k.commands[rnd.IntN(len(k.commands))], func(g given) []torture.Finding {
		if err := h.beside(g); err != nil {
			return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
		}
		sound, err := torture.Run(ctx, g.command(ctx), bounds)
		if err != nil {
			return nil
		}
		_ = os.WriteFile(g.file, k.sound, 0o644) // a cache may have more now
		victim := g.file
		if f.list {
			victim = filepath.Dir(victim)
		}
		c, err := torture.RunReading(ctx, g.command(ctx), bounds, func(r torture.Read) torture.Answer {
			if r.Path != victim {
				return torture.Answer{}
			}
			return f.answer(r)
		})
		if err != nil {
			return nil
		}
		if f.met > 0 {
			h.count["reads: "+k.name]++
		}
		if what := f.wrong(g, sound, c); what != "" {
			return g.finding(fmt.Sprintf("%s of a %s", what, k.name), fmt.Sprintf(", with a %s %v", filepath.Base(g.file), f), c)
		}
		return nil
	})
}

// beside writes what a file is for: the model of weights, the picture of labels.
func (h *hunter) beside(g given) error {
	if i := slices.Index(g.args, "BESIDE"); i >= 0 {
		g.args[i] = h.path("beside.onnx")
		return os.WriteFile(g.args[i], besideWeights(), 0o644)
	}
	if filepath.Base(g.file) == "labels.tsv" {
		return os.WriteFile(h.path("images/picture.png"), picture("png"), 0o644)
	}
	return nil
}

// caches are kinds without which a command goes on.
var caches = []string{"timing cache"}

// wrong returns what is wrong with how a command took a file whose reads fail; sound is how it took it before.
func (f *failure) wrong(g given, sound, c torture.Child) string {
	name := filepath.Base(g.file)
	if f.list {
		name = filepath.Base(filepath.Dir(g.file))
	}
	if what := wrong(c, name); what != "" {
		return what + " where reads fail"
	}
	now, err := os.ReadFile(g.file)
	names := strings.Contains(c.Stderr, strings.TrimSuffix(name, filepath.Ext(name))) || g.in != nil && strings.Contains(c.Stderr, "/dev/stdin")
	cache := slices.Contains(caches, g.kind.name)
	switch {
	case err != nil || !cache && !bytes.Equal(now, g.data):
		return "a read that fails changes the file"
	case cache && !holds(now, g.data):
		return "a read that fails loses what the file had"
	case f.met == 0:
		return ""
	case f.few > 0 && c.Code != sound.Code:
		return fmt.Sprintf("exit code %d, not %d, of short reads", c.Code, sound.Code)
	case f.few > 0 && g.words[0] == "run" && !same(c.Stdout, sound.Stdout):
		return "another result of short reads"
	case f.few > 0:
		return ""
	case f.what == ending && g.in != nil: // that is what there is to read
		return ""
	case c.Code != 2 && !cache:
		return fmt.Sprintf("exit code %d of a file %s", c.Code, f.what)
	case !names:
		return fmt.Sprintf("a file %s is not named", f.what)
	}
	return ""
}

// holds reports whether a cache has a line on each thing that another has one on.
func holds(now, before []byte) bool {
	for line := range bytes.Lines(before) {
		about, _, _ := bytes.Cut(line, []byte(`"Time"`))
		if !bytes.Contains(now, about) {
			return false
		}
	}
	return true
}

// same reports whether two texts are the same word by word, and nearly the same number by number.
func same(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return slices.EqualFunc(x, y, func(a, b string) bool {
		if a == b {
			return true
		}
		trim := func(s string) string { return strings.Trim(s, ",;:()[]{}") }
		m, err1 := strconv.ParseFloat(trim(a), 64)
		n, err2 := strconv.ParseFloat(trim(b), 64)
		return err1 == nil && err2 == nil && math.Abs(m-n) <= 0.02*math.Max(1, math.Abs(n))
	})
}
