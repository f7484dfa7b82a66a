package graph

import (
	"fmt"
	"strings"
	"testing"
)

// TestOpSetRefusesDuplicates adds ops whose name or ONNX operator is taken: the panic names them.
func TestOpSetRefusesDuplicates(t *testing.T) {
	for _, c := range []struct {
		op   *Op
		want string
	}{
		{Conv, "Conv stands twice"},
		{&Op{Name: "Conv"}, "Conv stands twice"},
		{&Op{Name: "Convolution", Onnx: []string{"Conv"}}, "Conv and Convolution both import ONNX's Conv"},
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
	if NewOpSet(Conv).With(&Op{Name: "Other", Onnx: []string{"com.example:Other"}}).Onnx("com.example", "Other") == nil {
		t.Error("a further op is not in the set")
	}
}
