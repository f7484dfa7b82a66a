package cmd

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestNamed: an error says which model it is about, once.
func TestNamed(t *testing.T) {
	plain := errors.New("layer Gather: index -2 is outside 1 elements")
	for _, c := range []struct {
		err  error
		path string
		want string
	}{
		{plain, "models/a.onnx", "a.onnx: " + plain.Error()},
		{plain, "", plain.Error()},
		{errors.New("open models/a.onnx: no such file"), "models/a.onnx", "open models/a.onnx: no such file"},
		{usageError{plain}, "a.onnx", plain.Error()},
		{fmt.Errorf("stopped: %w", context.Canceled), "a.onnx", "stopped: context canceled"},
	} {
		got := named(c.err, c.path)
		if got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v of %q: %v, want %s", c.err, c.path, got, c.want)
		}
	}
	if named(nil, "a.onnx") != nil {
		t.Error("an error is made of none")
	}
}
