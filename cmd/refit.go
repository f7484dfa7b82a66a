package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
)

func refitCommand(t tables) *cobra.Command {
	o := onBackends(t)
	var output, weights string
	c := &cobra.Command{
		Use:        "refit ENGINE --weights FILE -o FILE",
		SuggestFor: []string{"weights"},
		Short:      "Give an engine other weights, without timing or planning it again",
		Long: `Give an engine other weights, without timing or planning it again. It must have been built with --keep-source. The weights are
constants of the model, by their names in it, of the same types and shapes: the arrays of a .npz file, which leaves out what
stays as it is, or another ONNX model, which has all of them. They are folded, fused and quantised as those before were: the
engine computes, to the bit, what one built from the new weights with the same tactics does. Ranges of activations and
corrections of biases stay as they were found.

Where a pass decides by the weights, as the one that drops a product with 1, and would do something else with the new ones, the
error names it: an engine that is built with --disable PASS takes them.`,
		Example: examples("what an optimiser made of the weights", "trtui refit model.engine --weights epoch2.onnx -o epoch2.engine",
			"two weights by themselves", "trtui refit model.engine --weights head.npz -o model.engine"),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" || weights == "" {
				return usageError{errors.New("--weights FILE and -o FILE are both needed")}
			}
			return refit(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), args[0], weights, output)
		},
	}
	o.register(c, takeBackend|takeThreads|takeOutput)
	c.Annotations = map[string]string{inPlace: "yes"}
	c.Flags().StringVar(&weights, "weights", "", "the `FILE` of weights: .npz by names of constants, or an ONNX model")
	under(c, dataHeading, "weights")
	c.Flags().StringVarP(&output, "output", "o", "", "the engine `FILE` to write")
	under(c, outputHeading, "output")
	return c
}

// refitOutput is the JSON of trtui refit.
type refitOutput struct {
	File    string
	Bytes   int64
	Weights int // constants that were given
	Changed int // of these, that are not what they were
}

func refit(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path, weights, output string) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		if err := p.model.NeedsSource("exchanging weights"); err != nil {
			return err
		}
		given, err := o.readWeights(p.model, weights)
		if err != nil {
			return err
		}
		cfg, err := p.model.BuiltWith()
		if err != nil {
			return err
		}
		e, err := r.Refit(ctx, given, filepath.Base(weights))
		if err != nil {
			return err
		}
		changed := 0
		for _, t := range p.model.Network.Consts() {
			if v, ok := given[t.Name]; ok && !bytes.Equal(v.Data, t.Weights) {
				changed++
			}
		}
		e.Origin.Commit, e.Origin.Built = ownCommit(), buildDate()
		size, err := host.WriteFile(output, func(w io.Writer) error {
			_, err := e.WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
		if o.output.json() {
			return writeReport(stdout, r.Head(&cfg), refitOutput{output, size, len(given), changed})
		}
		fmt.Fprintf(stdout, "%s: %s, %s given, %d changed; tactics and ranges as in %s\n", output, p.model.Name(), count(len(given), "weight"), changed, path)
		return nil
	})
}

// readWeights reads weights for a network from arrays or from a model; of a model those that are not the network's, and those
// that shapes may depend on, are left where they are.
func (o *modelFlags) readWeights(m *model.Model, path string) (map[string]numeric.Value, error) {
	head := make([]byte, 2)
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(f, head)
	f.Close()
	if err == nil && string(head) == "PK" {
		return dataset.ReadArrays(path)
	}
	other, err := o.openModel(path)
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	if other.Stripped {
		return nil, fmt.Errorf("weights: %s: %w", path, run.ErrNoSource)
	}
	given := map[string]numeric.Value{}
	for _, t := range m.Network.Consts() {
		if t.Type == numeric.I64 || t.Type == numeric.Bool {
			continue
		}
		u := other.Network.Tensor(t.Name)
		if v, ok := u.Const(); ok {
			given[t.Name] = v
			continue
		}
		return nil, fmt.Errorf("weights: %s has no constant %s, which the engine's model has", path, t.Name)
	}
	return given, nil
}
