package run_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// loadedResidual returns the residual network, bound on the CPU.
func loadedResidual(t *testing.T) *run.Loaded {
	t.Helper()
	b := cpu.Open(2)
	t.Cleanup(func() { b.Close() })
	p, err := run.NewPlan(t.Context(), residual(t), map[string]int{"batch": 1}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// TestBind has a context work in the caller's memory, which is not written outside the output, and in its own again.
func TestBind(t *testing.T) {
	l := loadedResidual(t)
	c, err := l.NewContextOf(1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x := input(1)
	want, err := l.Plan.Network.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := len(x.Data)
	in, out := bytes.Repeat([]byte{0xAA}, size+512), bytes.Repeat([]byte{0xAA}, size+512)
	copy(in, x.Data)
	if !c.Bind("x", in[:size]) || !c.Bind("add", out[:size]) {
		t.Fatal("the context does not take the caller's memory")
	}
	if c.Bind("x", in[:size-1]) || c.Bind("nothing", in) {
		t.Error("it takes what does not fit")
	}
	if err := c.ExecuteUntil(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := numeric.Value{Type: numeric.F32, Dims: x.Dims, Data: out[:size]}
	for i, f := range got.F32() {
		if d := f - want["add"].F32()[i]; d > 1e-4 || d < -1e-4 {
			t.Fatalf("element %d is %v, want %v", i, f, want["add"].F32()[i])
		}
	}
	for _, b := range append(in[size:], out[size:]...) {
		if b != 0xAA {
			t.Fatal("memory behind a tensor was written")
		}
	}
	if !bytes.Equal(in[:size], x.Data) {
		t.Error("the input was written")
	}

	written := bytes.Clone(out)
	c.Unbind("x")
	c.Unbind("add")
	if err := c.SetInput("x", numeric.NewValue(numeric.F32, x.Dims...)); err != nil {
		t.Fatal(err)
	}
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, written) || !bytes.Equal(in[:size], x.Data) {
		t.Error("memory that was given back was written")
	}
	zero := make([]byte, size)
	if err := c.OutputTo("add", zero); err != nil || bytes.Equal(zero, out[:size]) {
		t.Errorf("the context's own memory has the caller's output: %v", err)
	}
	if c.OutputTo("add", zero[1:]) == nil || c.OutputTo("nothing", zero) == nil {
		t.Error("an output was copied to what does not fit")
	}
}

// An inference ends with its context, between two layers.
func TestExecuteUntil(t *testing.T) {
	c, err := loadedResidual(t).NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.ExecuteUntil(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := c.ExecuteUntil(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
