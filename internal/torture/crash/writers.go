//go:build linux

package crash

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/internal/torture"
)

// writer is a command that writes a file as a whole.
type writer struct {
	args  string // words, of which MODEL, FILE and ENGINE, one that can be refitted, are names
	whole func(t *test, file string)
}

var writers = []writer{
	{"build MODEL -q --timing-cache none -o FILE", engineRuns},
	{"refit ENGINE -q --weights MODEL -o FILE", engineRuns},
	{"export MODEL -o FILE", modelRuns},
	{"export MODEL --optimized -o FILE", modelRuns},
	{"export MODEL -q --qdq --random-items 4 -o FILE", modelRuns},
	{"run MODEL -q --items 1 --timing-cache none --save-outputs FILE", archiveOpens},
	{"run MODEL -q --items 1 --timing-cache none --save-inputs FILE", archiveOpens},
	{"calibrate MODEL -q --random-items 4 -o FILE", rangesServe},
	{"calibrate MODEL -q --random-items 4 --calibration-cache FILE", rangesServe},
	{"tune-precision MODEL -q --random-items 8 --min-sqnr 40 --engines 2 --timing-cache none -o FILE", configurationServes},
	{"export html MODEL -q --random-items 4 --timing-cache none -o FILE", endsWith("</html>\n")},
	{"export md MODEL -q --random-items 4 --timing-cache none -o FILE", endsWith("|\n")},
	{"export svg MODEL -q --random-items 4 --timing-cache none -o FILE", endsWith("</svg>\n")},
	{"export netron MODEL -q --random-items 4 --timing-cache none -o FILE", isJSON},
	{"export trace MODEL -q --random-items 4 --timing-cache none -o FILE", isJSON},
	{"exec --onnx=MODEL --iterations=3 --duration=0 --warmUp=0 --saveEngine=FILE", engineRuns},
	{"exec --onnx=MODEL --iterations=3 --duration=0 --warmUp=0 --exportLayerInfo=FILE", isJSON},
	{"exec --onnx=MODEL --iterations=3 --duration=0 --warmUp=0 --exportProfile=FILE", isJSON},
	{"exec --onnx=MODEL --iterations=300 --duration=0 --warmUp=0 --exportTimes=FILE", isJSON},
}

// words returns a command line for a file.
func (t *test) words(args, file string) []string {
	words, engine := strings.Fields(args), t.path("refitted.engine")
	for i, w := range words {
		if w == "ENGINE" {
			t.well("build", t.model, "-q", "--keep-source", "--timing-cache", "none", "-o", engine)
		}
		words[i] = strings.NewReplacer("MODEL", t.model, "FILE", file, "ENGINE", engine).Replace(w)
	}
	return words
}

// whole checks a file of a writer.
func (t *test) whole(writer int, file string) { writers[writer].whole(t, file) }

func engineRuns(t *test, file string) {
	t.well("run", t.named(file, "copy.engine"), "-q", "--items", "1", "--timing-cache", "none")
}

func modelRuns(t *test, file string) {
	t.well("run", t.named(file, "copy.onnx"), "-q", "--items", "1", "--timing-cache", "none")
}

func rangesServe(t *test, file string) {
	t.well("run", t.model, "-q", "--items", "1", "--timing-cache", "none", "--precision", "int8", "--ranges", file)
}

func configurationServes(t *test, file string) {
	t.well("run", t.model, "-q", "--items", "1", "--timing-cache", "none", "--config", file)
}

func isJSON(t *test, file string) {
	if !json.Valid(t.read(file)) {
		t.errorf(torture.Child{}, "what was exported is no JSON")
	}
}

func endsWith(end string) func(t *test, file string) {
	return func(t *test, file string) {
		if !bytes.HasSuffix(t.read(file), []byte(end)) {
			t.errorf(torture.Child{}, "what was exported does not end with %q", end)
		}
	}
}

// named gives a file another name, for what tells by it what a file is.
func (t *test) named(file, name string) string {
	if err := os.WriteFile(t.path(name), t.read(file), 0o644); err != nil {
		t.errorf(torture.Child{}, "cannot write: %v", err)
	}
	return t.path(name)
}

func archiveOpens(t *test, file string) {
	z, err := zip.OpenReader(file)
	if err != nil {
		t.errorf(torture.Child{}, "the outputs that were saved: %v", err)
		return
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil {
			t.errorf(torture.Child{}, "the outputs that were saved: %v", err)
		}
	}
}

// killedWriter: a file that is written over another is the old one or the new one, whole, and no more than one partial file
// is left, which the next writer removes in time.
func killedWriter(t *test) {
	k := t.rnd.IntN(len(writers))
	dir := t.path("out")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.errorf(torture.Child{}, "cannot begin: %v", err)
		return
	}
	out := filepath.Join(dir, "file")
	args := t.words(writers[k].args, out)
	t.well(args...)
	if t.rnd.IntN(2) == 0 {
		t.killed(600*time.Millisecond, t.command(args...))
	} else {
		t.killedIn(dir, args)
	}
	if old := t.read(out); len(old) == 0 {
		t.errorf(torture.Child{}, "the file is gone")
		return
	}
	t.whole(k, out)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.errorf(torture.Child{}, "cannot look: %v", err)
	}
	for _, e := range entries {
		partial := strings.HasPrefix(e.Name(), host.PartialPrefix)
		if partial {
			old := time.Now().Add(-2 * host.PartialLife)
			_ = os.Chtimes(filepath.Join(dir, e.Name()), old, old)
		}
		if !partial && e.Name() != "file" || len(entries) > 2 {
			t.errorf(torture.Child{}, "%s is left", e.Name())
		}
	}
	t.well(args...)
	if entries, _ = os.ReadDir(dir); len(entries) != 1 {
		t.errorf(torture.Child{}, "%d files are left when it is written again", len(entries))
	}
}

// killedIn kills a command a moment after it began to write a file in a folder.
func (t *test) killedIn(dir string, args []string) {
	cmd := t.command(args...)
	moment := time.Duration(t.rnd.IntN(3000)) * time.Microsecond
	t.commands = append(t.commands, fmt.Sprintf("(killed %v after it began to write)", moment))
	if err := cmd.Start(); err != nil {
		t.errorf(torture.Child{}, "cannot run: %v", err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case <-ended:
			return // it was faster
		default:
		}
		if left, _ := filepath.Glob(filepath.Join(dir, host.PartialPrefix+"*")); len(left) > 0 {
			time.Sleep(moment)
			_ = cmd.Process.Kill()
			<-ended
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}
