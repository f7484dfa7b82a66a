package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions/config"
)

// sequenceFlags say of a model's inputs what it leaves open: how long sequences are, which optionals have no element, and which inputs
// are constants; and how large extents can be.
type sequenceFlags struct {
	text      string
	lengths   map[string]int
	without   []string
	fixed     []string
	constants map[string]string
	extent    int
}

func (s *sequenceFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&s.text, "sequences", "", "how many tensors inputs have that are sequences, \"x:3,y:2\"; they are inputs x.0, x.1 and so on")
	c.Flags().Var(&listValue{&s.without}, "without", "inputs that are optionals and have no element, \"x,y\"; other optionals are given as their elements")
	c.Flags().Var(&listValue{&s.fixed}, "constants", "inputs that are the same number or truth value always, \"use_cache_branch=true\"; the network has them as constants")
	c.Flags().IntVar(&s.extent, "max-extent", 0, "the most that an extent may be which data decide, such as how long speech is; 0: models with such extents are refused")
	under(c, configHeading, "sequences", "without", "constants", "max-extent")
}

// check reads the flag.
func (s *sequenceFlags) check() error {
	if s.extent < 0 || s.extent > onnx.LargestExtent {
		return fmt.Errorf("--max-extent %d: want 0 to %d", s.extent, onnx.LargestExtent)
	}
	s.constants = map[string]string{}
	for _, item := range s.fixed {
		input, value, ok := strings.Cut(item, "=")
		if !ok || input == "" || value == "" {
			return fmt.Errorf("--constants %q: want INPUT=VALUE, comma separated", item)
		}
		s.constants[input] = value
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

// unfit returns an error that names the first flag that is given, where none can be: why says what is opened instead of a model.
func (s *sequenceFlags) unfit(why string) error {
	for _, f := range []struct {
		given bool
		text  string
	}{
		{len(s.lengths) > 0, "--sequences is for a model whose inputs are sequences"},
		{len(s.without) > 0, "--without is for a model whose inputs are optionals"},
		{len(s.constants) > 0, "--constants is for a model of which an input is always the same"},
		{s.extent > 0, "--max-extent is for a model of which data decide extents"},
	} {
		if f.given {
			return usageError{errors.New(f.text + "; " + why)}
		}
	}
	return nil
}

// importer returns how models are imported.
func (f *modelFlags) importer() onnx.Importer {
	return onnx.Importer{Ops: f.own.ops(), Lengths: f.sequences.lengths, Without: f.sequences.without, Constants: f.sequences.constants, Axes: f.config.axes(), MaxExtent: f.sequences.extent, Shapes: f.config.soleShapes()}
}

// axes returns how many axes inputs have by the shapes that the flags and the file of --config give, whose values were checked.
func (g *configFlags) axes() map[string]int {
	list := map[string]int{}
	note := func(cfg config.Config) {
		for _, shapes := range []map[string][]int{cfg.Shapes, cfg.MinShapes, cfg.MaxShapes} {
			for input, dims := range shapes {
				list[input] = len(dims)
			}
		}
	}
	if g.file != nil {
		note(g.file.Over(config.Default()))
	}
	if asked, err := g.asked(); err == nil {
		note(asked)
	}
	return list
}

// soleShapes returns the shapes that the flags and the file of --config give, where an engine is to serve no others.
func (g *configFlags) soleShapes() (shapes map[string][]int) {
	ranged := len(g.sweep) > 0
	note := func(cfg config.Config) {
		ranged = ranged || len(cfg.MinShapes) > 0 || len(cfg.MaxShapes) > 0 || len(cfg.Profiles) > 0
		if len(cfg.Shapes) > 0 {
			shapes = cfg.Shapes
		}
	}
	if g.file != nil {
		note(g.file.Over(config.Default()))
	}
	if asked, err := g.asked(); err == nil {
		note(asked)
	}
	if ranged {
		return nil
	}
	return shapes
}
