package cmd

import (
	"fmt"
	"io"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/dataset"
)

// savedOutputs are the outputs of batches, one behind the other along the first axis.
type savedOutputs map[string]numeric.Value

// add takes the outputs of a batch that begins with item first; with item 0 all begins anew.
func (s savedOutputs) add(first int, batch map[string]numeric.Value) error {
	if first == 0 {
		clear(s)
	}
	for name, v := range batch {
		all, ok := s[name]
		if !ok {
			s[name] = numeric.Value{Type: v.Type, Dims: slices.Clone(v.Dims), Data: slices.Clone(v.Data)}
			continue
		}
		if len(v.Dims) == 0 || !slices.Equal(v.Dims[1:], all.Dims[1:]) {
			return fmt.Errorf("output %s cannot be saved for several items: they do not lie along its first axis; give --items 0-0", name)
		}
		all.Dims[0] += v.Dims[0]
		all.Data = append(all.Data, v.Data...)
		s[name] = all
	}
	return nil
}

// write writes them as an archive of numpy arrays.
func (s savedOutputs) write(path string) error {
	_, err := host.WriteFile(path, func(w io.Writer) error { return dataset.WriteNpz(w, s) })
	return err
}
