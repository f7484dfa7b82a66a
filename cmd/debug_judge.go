package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/internal/reduce"
)

// judge tells what is wrong with models by a program that is run on each of them: a model may crash it or keep it for ever.
type judge struct {
	dir    string                            // where the model and its inputs are written
	args   func(model, data string) []string // data is empty for a model without inputs
	own    bool                              // it is trtui run, whose exit codes and errors have a meaning
	expect string                            // must be in what it prints
	limit  time.Duration                     // of one run; 0: none
	names  map[string]bool                   // of nodes and tensors, which are no part of what is wrong
	took   time.Duration                     // by the last one
}

// failure is what is wrong. Kind is the same where the same thing is wrong, as far as that can be told.
type failure struct{ kind, text string }

// writeSmall writes a model and what it is run on, as ONNX test data, in the place of what was there, which stays until both are
// written. The folder's name is empty where the model has no inputs.
func writeSmall(file, data string, m *reduce.Model) (folder string, err error) {
	if err := replaceable(data); err != nil {
		return "", err
	}
	set, partial := filepath.Join(data, "test_data_set_0"), filepath.Join(data, host.PartialPrefix+"set")
	defer os.Remove(data) // where nothing is in it
	defer os.RemoveAll(partial)
	if err := writeInputs(partial, m); err != nil {
		return "", err
	}
	if _, err := host.WriteFile(file, host.Bytes(m.Encode())); err != nil {
		return "", err
	}
	if err := os.RemoveAll(set); err != nil || len(m.Inputs) == 0 {
		return "", err
	}
	return data, os.Rename(partial, set)
}

// writeInputs writes what a model is run on to a folder, in the place of what was left there.
func writeInputs(folder string, m *reduce.Model) error {
	if err := os.RemoveAll(folder); err != nil || len(m.Inputs) == 0 {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for i, in := range m.Inputs {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("input_%d.pb", i)), onnx.WriteTensor(in.Name, in.Feed), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// replaceable returns an error where a folder holds anything but what writeSmall wrote.
func replaceable(data string) error {
	for folder, like := range map[string]string{data: "test_data_set_0", filepath.Join(data, "test_data_set_0"): "input_*.pb"} {
		list, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range list {
			if ok, _ := filepath.Match(like, e.Name()); !ok && e.Name() != host.PartialPrefix+"set" {
				return fmt.Errorf("%s holds %s, and would be replaced: give another file with -o, or move it away", folder, e.Name())
			}
		}
	}
	return nil
}

// of says what is wrong with a model; nil where nothing is. An error is one of this machine.
func (j *judge) of(ctx context.Context, m *reduce.Model) (*failure, error) {
	file := filepath.Join(j.dir, "model.onnx")
	if !j.own {
		m = m.Declared()
	}
	data, err := writeSmall(file, filepath.Join(j.dir, "data"), m)
	if err != nil {
		return nil, err
	}
	args := j.args(file, data)
	limited, cancel := ctx, context.CancelFunc(func() {})
	if j.limit > 0 {
		limited, cancel = context.WithTimeout(ctx, j.limit)
	}
	defer cancel()
	c := exec.CommandContext(limited, args[0], args[1:]...)
	apart(c)
	c.WaitDelay = time.Second
	var printed lastPart
	c.Stdout, c.Stderr = &printed, &printed
	start := time.Now()
	err = c.Run()
	j.took = time.Since(start)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return &failure{"time", fmt.Sprintf("no end within %s", j.limit)}, nil
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil, nil
	case !errors.As(err, new(*exec.ExitError)):
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	text := printed.String()
	if j.expect != "" && !strings.Contains(text, j.expect) {
		return nil, nil
	}
	return j.failed(c, text), nil
}

// failed says what is wrong by the end of the program.
func (j *judge) failed(c *exec.Cmd, text string) *failure {
	code := c.ProcessState.ExitCode()
	if by := endedBy(c); by != "" {
		return &failure{"signal " + by, "ended by a signal: " + by}
	}
	if !j.own {
		return &failure{fmt.Sprintf("exit %d", code), fmt.Sprintf("exit code %d", code)}
	}
	if code == exitNo {
		return &failure{"differs", "the outputs differ"}
	}
	line := ""
	for l := range strings.Lines(text) {
		for _, begin := range []string{"trtui: ", "panic: ", "fatal error: "} {
			if strings.HasPrefix(l, begin) && line == "" {
				line = strings.TrimSpace(strings.TrimPrefix(l, "trtui: "))
			}
		}
	}
	if line == "" {
		line = fmt.Sprintf("exit code %d", code)
	}
	return &failure{j.plain(line), line}
}

var (
	numbers  = regexp.MustCompile(`\[?[-+0-9][-+0-9.,x ]*\]?`)
	repeated = regexp.MustCompile(`_([,;]? ?_)+`)
)

// plain returns an error's text without what differs from model to model: names of nodes and tensors, and numbers.
func (j *judge) plain(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\"'(),:;", r) })
	for _, w := range words {
		if j.names[w] {
			text = strings.ReplaceAll(text, w, "_")
		}
	}
	text = numbers.ReplaceAllString(text, "#")
	return repeated.ReplaceAllString(strings.ReplaceAll(text, "nodes", "node"), "_")
}

// namesOf returns the names of a model's nodes and tensors.
func namesOf(m *reduce.Model) map[string]bool {
	names := map[string]bool{}
	for _, n := range m.Nodes {
		names[n.Name] = true
		for _, name := range append(n.Reads(), n.Out...) {
			names[name] = true
		}
	}
	for _, in := range m.Inputs {
		names[in.Name] = true
	}
	delete(names, "")
	return names
}

// lastBytes is how much of what a program prints is kept.
const lastBytes = 1 << 16

// lastPart keeps the end of what is written to it.
type lastPart struct{ data []byte }

func (l *lastPart) Write(p []byte) (int, error) {
	l.data = append(l.data, p...)
	if len(l.data) > 2*lastBytes {
		l.data = append(l.data[:0], l.data[len(l.data)-lastBytes:]...)
	}
	return len(p), nil
}

func (l *lastPart) String() string { return string(l.data) }
