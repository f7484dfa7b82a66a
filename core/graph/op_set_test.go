package graph

import (
	"fmt"
	"strings"
	"testing"
)

// TestOpSetRefuses adds ops whose name or ONNX operator is taken, and ops that leave a property open: the panic says which.
func TestOpSetRefuses(t *testing.T) {
	like := func(op *Op, change func(op *Op)) *Op {
		c := *op
		c.Name, c.Onnx = "Other", nil
		change(&c)
		return &c
	}
	for _, c := range []struct {
		op   *Op
		want string
	}{
		{Conv, "Conv stands twice"},
		{like(Softmax, func(op *Op) { op.Name = "Conv" }), "Conv stands twice"},
		{like(Softmax, func(op *Op) { op.Onnx = []string{"Conv"} }), "Conv and Other both import ONNX's Conv"},
		{like(Conv, func(op *Op) { op.Class = 0 }), "Other does not say its class"},
		{like(Conv, func(op *Op) { op.Inputs = nil }), "the role of an input"},
		{like(Conv, func(op *Op) { op.Inputs = []Role{Data, Weights, 0} }), "the role of an input"},
		{like(Conv, func(op *Op) { op.Memory = 0 }), "where its output lies"},
		{like(Conv, func(op *Op) { op.Moves = nil }), "whether it moves elements"},
		{like(Conv, func(op *Op) { op.FLOPs = nil }), "its arithmetic"},
		{like(Conv, func(op *Op) { op.Product = nil }), "which input its weights are"},
		{like(Conv, func(op *Op) { op.Inputs = []Role{Data} }), "which input its weights are"},
		{like(Softmax, func(op *Op) { op.Product = Conv.Product }), "which input its weights are"},
		{like(Gather, func(op *Op) { op.Chosen = nil }), "what its indices choose among"},
		{like(Gather, func(op *Op) { op.Inputs = []Role{Data, Parameter} }), "what its indices choose among"},
		{like(Conv, func(op *Op) { op.Eval = nil }), "its meaning"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%s: %s, want a panic with %q", c.op.Name, got, c.want)
				}
			}()
			NewOpSet(Conv, MatMul).With(c.op)
		}()
	}
	other := like(Softmax, func(op *Op) { op.Onnx = []string{"com.example:Other"} })
	if NewOpSet(Conv).With(other).Onnx("com.example", "Other") != other {
		t.Error("a further op is not in the set")
	}
}
