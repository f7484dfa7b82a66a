package build_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestUnsupportedIsNotBuilt checks each way to an engine with a layer that is not supported.
func TestUnsupportedIsNotBuilt(t *testing.T) {
	n := graph.NewNetwork("n")
	x := n.AddInput("x", numeric.F32, symbolic.Const(2))
	u := graph.Unsupported{Op: "Foo", Reason: "operator is not supported", Outputs: []graph.Declared{{Type: numeric.F32, Dims: symbolic.Shape(2)}}}
	l, err := n.Add("f", graph.UnsupportedOp(u), u, []*graph.Tensor{x}, "y")
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(l.Outputs[0])
	b := cpu.Open(1)
	defer b.Close()
	ctx := context.Background()
	o, err := build.Optimize(ctx, n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = build.Lower(ctx, o, build.LowerConfig{Precision: numeric.F32}, run.Supports(b, nil))
	if !errors.As(err, new(*graph.UnsupportedError)) || !strings.Contains(err.Error(), "layer f: Foo: operator is not supported") {
		t.Errorf("lowering: %v", err)
	}
	_, err = build.Plan(ctx, n, nil, b, build.PlanConfig{Untimed: true})
	if !errors.As(err, new(*run.Unsupported)) || !strings.Contains(err.Error(), "operator is not supported") {
		t.Errorf("planning: %v", err)
	}
	var file bytes.Buffer
	e := &run.Engine{Source: n}
	if _, err = e.WriteTo(&file); !errors.As(err, new(*graph.UnsupportedError)) || file.Len() > 0 {
		t.Errorf("writing: %v, %d bytes", err, file.Len())
	}
}
