package sessions

import (
	"context"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/config"
)

// Outputs runs the engine that a runner has of a configuration once, on as many of the first items of the data as it takes, and returns
// its outputs by name.
func Outputs(ctx context.Context, r *Runner, cfg config.Config) (out map[string]numeric.Value, err error) {
	err = r.surviving(ctx, cfg, func() error {
		loaded, err := r.stages.Engines.Load(ctx, cfg)
		if err != nil {
			return err
		}
		out, err = r.stages.Inferences.Once(ctx, loaded)
		return err
	})
	return out, err
}
