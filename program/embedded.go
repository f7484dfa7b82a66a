package program

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/testdata"
)

// digits are the pictures in the program, as data for a session.
type digits struct {
	*testdata.Images
	name string
}

func (d digits) Inputs(i int) (map[string]graph.Value, error) {
	return map[string]graph.Value{"image": graph.Values(graph.F32, d.Batch(i, i+1), 1, 1, testdata.Padded, testdata.Padded)}, nil
}

func (d digits) Label(i int) (int, bool) { return int(d.Labels[i]), true }

func (d digits) Name() string { return d.name }

func (d digits) Random() bool { return false }
