package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph/onnx"
)

// sequenceFlags say how long sequences are that a model has as inputs.
type sequenceFlags struct {
	text    string
	lengths map[string]int
	extent  int
}

func (s *sequenceFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&s.text, "sequences", "", "how many tensors inputs have that are sequences, \"x:3,y:2\"; they are inputs x.0, x.1 and so on")
	c.Flags().IntVar(&s.extent, "max-extent", 0, "the most that an extent may be which data decide, such as how long speech is; 0: models with such extents are refused")
	under(c, configHeading, "sequences", "max-extent")
}

// check reads the flag.
func (s *sequenceFlags) check() error {
	if s.extent < 0 || s.extent > onnx.LargestExtent {
		return fmt.Errorf("--max-extent %d: want 0 to %d", s.extent, onnx.LargestExtent)
	}
	shapes, err := parseShapes("sequences", s.text)
	if err != nil {
		return err
	}
	s.lengths = map[string]int{}
	for input, n := range shapes {
		if input == "" || len(n) != 1 {
			return fmt.Errorf("--sequences %q: want INPUT:3, comma separated", s.text)
		}
		s.lengths[input] = n[0]
	}
	return nil
}

// importer returns how models are imported.
func (f *modelFlags) importer() onnx.Importer {
	return onnx.Importer{Ops: f.own.ops(), Lengths: f.sequences.lengths, MaxExtent: f.sequences.extent}
}
