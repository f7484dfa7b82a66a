package stages

import (
	"context"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// reference holds what FP32 gives for every item of the data: the outputs, as long as they are small enough to keep.
type reference struct {
	outputs []map[string]numeric.Value
	bytes   int
}

// maxReferenceBytes bounds the outputs that are kept; items beyond it are not compared.
const maxReferenceBytes = 256 << 20

// references has FP32, with which engines are compared: its engine, on the host where the device is another one, what that
// gives for the data, and the tensors between its layers.
type references struct {
	model      *model.Model
	orders     *orders
	told       *Audience
	host       run.Backend
	apart      bool // the device is not the host
	precisions *precisions
	engines    *engines
	inferences *inferences
	onHost     *stage[planning, *run.Loaded] // where the device is not the host
	kept       *stage[referring, *reference]
	tensors    memo[map[string]numeric.Value] // by batch
}

func newReferences(m *model.Model, w Workplace, o *orders, told *Audience, e *engines, i *inferences) *references {
	r := &references{model: m, orders: o, told: told, host: w.Reference(), apart: w.Host != nil, precisions: e.tuning.precisions, engines: e, inferences: i}
	r.onHost, r.kept = newStage(r.makeOnHost), newStage(r.make)
	r.onHost.kept.drop = (*run.Loaded).Close
	return r
}

// prepare builds the FP32 engine.
func (r *references) prepare(ctx context.Context, cfg config.Config) error {
	if err := r.model.NeedsSource("comparing with FP32"); err != nil {
		return err
	}
	return r.told.Log.AsOne("built the FP32 reference", func() error {
		_, err := r.load(ctx, r.orders.reference(cfg))
		return err
	})
}

// make runs the FP32 engine over the data.
func (r *references) make(ctx context.Context, in referring) (*reference, error) {
	engines := r.engines.kept
	if r.apart && !in.Own {
		engines = r.onHost
	}
	loaded, err := engines.Of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	ref, most := &reference{}, host.Share(maxReferenceBytes)
	err = r.inferences.forEach(ctx, in.Batch, in.State, loaded, "running FP32", func(_ int, out map[string]numeric.Value) bool {
		ref.outputs = append(ref.outputs, out)
		for _, v := range out {
			ref.bytes += len(v.Data)
		}
		return ref.bytes < most
	})
	return ref, err
}

// load returns the FP32 engine, on the host where the device is another one.
func (r *references) load(ctx context.Context, base config.Config) (*run.Loaded, error) {
	if !r.apart {
		return r.engines.Load(ctx, base)
	}
	if _, err := r.precisions.Lower(ctx, base); err != nil {
		return nil, err
	}
	in, err := r.orders.planning(base)
	if err != nil {
		return nil, err
	}
	return r.onHost.Of(ctx, in)
}

// makeOnHost plans by the host's best guess: nobody asks how fast it is.
func (r *references) makeOnHost(ctx context.Context, in planning) (*run.Loaded, error) {
	l, err := r.precisions.kept.Of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	r.told.Progress(report.Progress{Phase: "preparing FP32"})
	p, err := build.Plan(ctx, l.Network, in.symbols(), r.host, build.PlanConfig{Min: in.Min, Max: in.Max, Untimed: true})
	if err != nil {
		return nil, err
	}
	return run.LoadTelling(ctx, p, r.host, func(done, total int, layer string) {
		r.told.Progress(report.Progress{Phase: "preparing FP32", Item: layer, Done: done, Total: total})
	})
}

// maxTapBytes bounds the FP32 tensors of one batch that are kept from one comparison to the next.
const maxTapBytes = 16 << 20

// at returns every real tensor of the source network, prepared as float, for batch b: from memory where they are small
// enough to have been kept.
func (r *references) at(ctx context.Context, float *build.Reference, env map[string]int, b int, in map[string]numeric.Value) (map[string]numeric.Value, error) {
	k := key(env, b)
	if all, ok := r.tensors.values[k]; ok {
		return all, nil
	}
	all, err := float.Tensors(ctx, in)
	if err != nil {
		return nil, err
	}
	bytes := 0
	for _, v := range all {
		bytes += len(v.Data)
	}
	if bytes <= host.Share(maxTapBytes) {
		r.tensors.keep(k, all)
	}
	return all, nil
}

// float prepares the source network in FP32, to be run with layers that are given other values. It is to be closed.
func (r *references) float(ctx context.Context) *build.Reference {
	return build.NewReference(ctx, r.model.Network, r.host)
}

// Beside prepares FP32 for the batches of a configuration; close ends it, whether there is an error or not.
func (r *references) Beside(ctx context.Context, cfg config.Config, perLayer bool) (ref *compare.Reference, close func(), err error) {
	close = func() {}
	base := r.orders.reference(cfg)
	loaded, err := r.load(ctx, base)
	if err != nil {
		return nil, close, err
	}
	ref = &compare.Reference{}
	if ref.Context, err = loaded.NewContext(); err != nil {
		return ref, close, err
	}
	close = ref.Context.Close
	if !perLayer {
		return ref, close, nil
	}
	all := r.float(ctx)
	ref.Tensors = all.Tensors
	return ref, func() { ref.Context.Close(); all.Close() }, nil
}
