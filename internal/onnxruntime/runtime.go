package onnxruntime

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
)

//go:embed runtime.py
var script string

// PythonVariable is the environment variable that names the Python to use.
const PythonVariable = "TRTUI_PYTHON"

// Python returns the interpreter that is used where none is named: that of [PythonVariable], or else python3.
func Python() string { return cmp.Or(os.Getenv(PythonVariable), "python3") }

// MissingError is that a Python has no ONNX Runtime, or that there is no such Python.
type MissingError struct {
	Python string
	Reason string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s has no onnxruntime: %s", e.Python, e.Reason)
}

// Options say how models are run.
type Options struct {
	Python   string        // "": the usual one
	Optimize bool          // as ONNX Runtime does by itself; false: node by node, as the model has them
	Threads  int           // 0: as many as it takes
	Limit    time.Duration // for reading a model and running it once; 0: a day
}

// startLimit is how long a Python may take to say that it has ONNX Runtime.
const startLimit = time.Minute

// Model is what is run: a file, or bytes.
type Model struct {
	Path string
	Data []byte
	More []string // tensors that are given beside the outputs
}

// Runtime is ONNX Runtime in a process that lives as long as it does not crash, and is begun anew after that. Its methods are for one
// goroutine at a time.
type Runtime struct {
	Version string
	how     Options
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errors  *tail
}

// Open starts a Python; the error is a *[MissingError] where that has no ONNX Runtime.
func Open(ctx context.Context, how Options) (*Runtime, error) {
	how.Python = cmp.Or(how.Python, Python())
	how.Limit = cmp.Or(how.Limit, 24*time.Hour)
	r := &Runtime{how: how}
	return r, r.start(ctx)
}

func (r *Runtime) start(ctx context.Context) error {
	options, err := json.Marshal(map[string]any{"optimize": r.how.Optimize, "threads": r.how.Threads})
	if err != nil {
		return err
	}
	path, err := exec.LookPath(r.how.Python)
	if err != nil {
		return &MissingError{r.how.Python, "it is not there"}
	}
	r.cmd, r.errors = exec.Command(path, "-u", "-c", script, string(options)), &tail{}
	r.cmd.Stderr, r.cmd.WaitDelay = r.errors, time.Second
	r.cmd.Env = os.Environ()
	if r.how.Threads > 0 {
		r.cmd.Env = append(r.cmd.Env, fmt.Sprintf("OMP_NUM_THREADS=%d", r.how.Threads))
	}
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	r.out = bufio.NewReaderSize(out, 1<<16)
	if err := r.cmd.Start(); err != nil {
		r.cmd = nil
		return &MissingError{r.how.Python, err.Error()}
	}
	var hello head
	err = r.within(ctx, startLimit, func() error {
		hello, _, err = read(r.out)
		return err
	})
	if err == nil && hello.Version == "" {
		err = errors.New("it does not say its version")
	}
	if err != nil {
		said := r.end()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &MissingError{r.how.Python, cmp.Or(lastLine(said), err.Error())}
	}
	r.Version = hello.Version
	return nil
}

// within does something that waits for the process, and ends that when the time is up.
func (r *Runtime) within(ctx context.Context, limit time.Duration, f func() error) error {
	process := r.cmd.Process
	late, stop := context.WithTimeout(ctx, limit)
	defer stop()
	unwatch := context.AfterFunc(late, func() { _ = process.Kill() })
	defer unwatch()
	err := f()
	if err != nil && late.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("no answer within %v", limit)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// end ends the process, and returns the end of what it said.
func (r *Runtime) end() string {
	if r.cmd == nil {
		return ""
	}
	r.in.Close()
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	r.cmd = nil
	return r.errors.String()
}

// Close ends the process.
func (r *Runtime) Close() { r.end() }

// Load reads a model, which the next Run of it need not do then. An error is a refusal, or the end of the process.
func (r *Runtime) Load(ctx context.Context, m Model) error {
	_, err := r.ask(ctx, m, nil, true)
	return err
}

// Run returns what a model makes of inputs by name; inputs that it does not have are left out. The last model is not read again. An
// error is a refusal, or the end of the process.
func (r *Runtime) Run(ctx context.Context, m Model, in map[string]numeric.Value) (map[string]numeric.Value, error) {
	return r.ask(ctx, m, in, false)
}

// ask sends a request, and returns the tensors of the answer.
func (r *Runtime) ask(ctx context.Context, m Model, in map[string]numeric.Value, load bool) (map[string]numeric.Value, error) {
	if r.cmd == nil {
		if err := r.start(ctx); err != nil {
			return nil, err
		}
	}
	parts, err := request(m, in, load)
	if err != nil {
		return nil, err
	}
	var h head
	var out map[string]numeric.Value
	err = r.within(ctx, r.how.Limit, func() (err error) {
		if err = write(r.in, parts); err == nil {
			h, out, err = read(r.out)
		}
		return err
	})
	switch {
	case err == nil && h.Error != "":
		return nil, errors.New(h.Error)
	case err == nil:
		return out, nil
	}
	said := r.end()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) {
		return nil, fmt.Errorf("its process ended: %s", cmp.Or(lastLine(said), "it says nothing"))
	}
	return nil, err
}

// lastLine returns the last line of a text that says something.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailBytes = 1 << 12

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	t.data = t.data[max(0, len(t.data)-tailBytes):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
