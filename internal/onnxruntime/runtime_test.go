package onnxruntime

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph/numeric"
)

func text(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

func sub(b []byte, n protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), m)
}

func number(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

// doubled is a model that adds x, of any length, to itself, and takes the root of that: the intermediate tensor is s.
func doubled() []byte {
	add := text(text(text(text(nil, 1, "x"), 1, "x"), 2, "s"), 4, "Add")
	root := text(text(text(nil, 1, "s"), 2, "y"), 4, "Sqrt")
	tensor := number(nil, 1, 1)
	tensor = sub(tensor, 2, sub(nil, 1, text(nil, 2, "n")))
	value := func(name string) []byte { return sub(text(nil, 1, name), 2, sub(nil, 1, tensor)) }
	graph := sub(sub(sub(sub(text(nil, 2, "g"), 1, add), 1, root), 11, value("x")), 12, value("y"))
	return sub(sub(number(nil, 1, 8), 7, graph), 8, number(text(nil, 1, ""), 2, 17))
}

// open starts ONNX Runtime where TRTUI_PYTHON names a Python that has it.
func open(t *testing.T, how Options) *Runtime {
	t.Helper()
	if os.Getenv(PythonVariable) == "" {
		t.Skip(PythonVariable + " is not set: it names a Python with onnxruntime")
	}
	r, err := Open(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestRun(t *testing.T) {
	r := open(t, Options{Threads: 1})
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, doubled(), 0o644); err != nil {
		t.Fatal(err)
	}
	in := map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{2, 8, 0}, 3), "other": numeric.Values(numeric.I64, []int64{1}, 1)}
	if err := r.Load(t.Context(), Model{Data: doubled()}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Model{{Data: doubled()}, {Path: path}, {Path: path, More: []string{"s"}}, {Data: doubled(), More: []string{"s"}}} {
		out, err := r.Run(t.Context(), m, in)
		if err != nil {
			t.Fatalf("%q with %v: %v", m.Path, m.More, err)
		}
		if y := out["y"]; y.Type != numeric.F32 || !slices.Equal(y.F32(), []float32{2, 4, 0}) || len(out) != 1+len(m.More) {
			t.Errorf("%q with %v: %+v", m.Path, m.More, out)
		}
		if s, ok := out["s"]; ok && !slices.Equal(s.F32(), []float32{4, 16, 0}) {
			t.Errorf("s is %v", s.F32())
		}
	}
}

// Products of the largest bytes are added up as the operator says, whatever the processor has for that: two do not fit in 16 bits.
func TestRunExact(t *testing.T) {
	const n = 8
	weights := text(sub(number(number(number(nil, 1, n), 1, 1), 2, uint64(onnxI8)), 9, bytes.Repeat([]byte{127}, n)), 8, "b")
	node := text(text(text(text(nil, 1, "a"), 1, "b"), 2, "y"), 4, "MatMulInteger")
	value := func(name string, kind, columns uint64) []byte {
		shape := sub(sub(nil, 1, number(nil, 1, 1)), 1, number(nil, 1, columns))
		return sub(text(nil, 1, name), 2, sub(nil, 1, sub(number(nil, 1, kind), 2, shape)))
	}
	graph := sub(sub(sub(sub(text(nil, 2, "g"), 1, node), 5, weights), 11, value("a", onnxU8, n)), 12, value("y", onnxI32, 1))
	model := sub(sub(number(nil, 1, 8), 7, graph), 8, number(text(nil, 1, ""), 2, 17))

	r := open(t, Options{Optimize: true})
	a := numeric.NewValue(numeric.U8, 1, n)
	for i := range a.Data {
		a.Data[i] = 255
	}
	out, err := r.Run(t.Context(), Model{Data: model}, map[string]numeric.Value{"a": a})
	if err != nil {
		t.Fatal(err)
	}
	if got := out["y"].Ints(); !slices.Equal(got, []int64{n * 255 * 127}) {
		t.Errorf("the sum is %d, want %d", got, n*255*127)
	}
}

// The numbers of element types in ONNX's files.
const (
	onnxU8, onnxI8, onnxI32 = 2, 3, 6
)

// What the process refuses is an error, after which it goes on; one that ends is begun anew.
func TestRunFails(t *testing.T) {
	r := open(t, Options{Optimize: true})
	if err := r.Load(t.Context(), Model{Data: []byte("no model")}); err == nil || strings.Contains(err.Error(), "ended") {
		t.Errorf("no model is loaded: %v", err)
	}
	if _, err := r.Run(t.Context(), Model{Data: []byte("no model")}, nil); err == nil || strings.Contains(err.Error(), "ended") {
		t.Errorf("a model that is none: %v", err)
	}
	bad := map[string]numeric.Value{"x": numeric.NewValue(numeric.BF16, 3)}
	if _, err := r.Run(t.Context(), Model{Data: doubled()}, bad); err == nil || !strings.Contains(err.Error(), "numpy has no bf16") {
		t.Errorf("bf16: %v", err)
	}
	good := map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{2}, 1)}
	_ = r.cmd.Process.Kill()
	if _, err := r.Run(t.Context(), Model{Data: doubled()}, good); err == nil || !strings.Contains(err.Error(), "its process ended") {
		t.Errorf("a process that ended: %v", err)
	}
	if out, err := r.Run(t.Context(), Model{Data: doubled()}, good); err != nil || out["y"].F32()[0] != 2 {
		t.Errorf("afterwards: %v, %+v", err, out)
	}
	late, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.Run(late, Model{Data: doubled()}, good); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// An interpreter that is none, or that has no ONNX Runtime, or says nothing, is an error that says so.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	program := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for python, want := range map[string]string{
		filepath.Join(dir, "none"): "it is not there",
		program("bare", "echo Traceback >&2; echo \"ModuleNotFoundError: No module named 'onnxruntime'\" >&2; exit 1"): "ModuleNotFoundError: No module named 'onnxruntime'",
		program("other", "echo hello, this is no Python at all"):                                                       "an answer of",
	} {
		_, err := Open(t.Context(), Options{Python: python})
		if missing := new(MissingError); !errors.As(err, &missing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", python, err, want)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	begin := time.Now()
	if _, err := Open(ctx, Options{Python: program("slow", "exec sleep 60")}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("one that says nothing: %v after %v", err, time.Since(begin))
	}
}

// Answers that are none are errors.
func TestReadRefuses(t *testing.T) {
	for _, b := range [][]byte{nil, {1, 0, 0, 0}, {255, 255, 255, 255}, {0, 0, 0, 0}, append([]byte{1, 0, 0, 0}, 255, 255, 255, 255, 255, 255, 255, 255), append([]byte{2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, "{}"...)} {
		if _, _, err := read(bytes.NewReader(b)); err == nil {
			t.Errorf("%v is an answer", b)
		}
	}
	if _, err := (tensorHead{"x", "f32", []int{2}}).value(make([]byte, 7)); err == nil {
		t.Error("a tensor of the wrong size is taken")
	}
}
