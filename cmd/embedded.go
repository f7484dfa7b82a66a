package cmd

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/testdata"
)

// digits are the pictures in the program, as data for a session.
type digits struct {
	*testdata.Images
	name string
}

func (d digits) Inputs(i int) (map[string]numeric.Value, error) {
	return map[string]numeric.Value{"image": numeric.Values(numeric.F32, d.Batch(i, i+1), 1, 1, testdata.Padded, testdata.Padded)}, nil
}

func (d digits) Labels(i int) []int { return d.Images.Labels[i : i+1] }

func (d digits) Name() string { return d.name }

func (d digits) Random() bool { return false }
