package onnx

import (
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph/numeric"
)

// TestReadOptional reads test data of an optional: with a tensor, with nothing, and cut off.
func TestReadOptional(t *testing.T) {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "x")
	empty := protowire.AppendVarint(protowire.AppendTag(slices.Clone(b), 2, protowire.VarintType), 0)
	full := protowire.AppendVarint(protowire.AppendTag(slices.Clone(b), 2, protowire.VarintType), 1)
	full = protowire.AppendBytes(protowire.AppendTag(full, 3, protowire.BytesType), WriteTensor("", numeric.Values(numeric.F32, []float32{1, 2}, 2)))
	if name, v, err := ReadOptional(full); err != nil || name != "x" || !slices.Equal(v.F32(), []float32{1, 2}) {
		t.Errorf("%s %v %v", name, v, err)
	}
	if name, _, err := ReadOptional(empty); name != "x" || !errors.Is(err, ErrNoElement) {
		t.Errorf("%s %v", name, err)
	}
	for i := range full {
		if _, v, err := ReadOptional(full[:i]); err == nil {
			t.Errorf("%d bytes of it are %v", i, v)
		}
	}
}
