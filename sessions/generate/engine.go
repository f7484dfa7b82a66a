package generate

import (
	"context"
	"unsafe"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// engine is one profile of the model's engine, for one length of its sequence, ready to run.
type engine struct {
	loaded  *run.Loaded
	context *run.ExecutionContext
	inputs  map[string]numeric.Value // of which next fills tokens, mask and positions
	logits  numeric.Value            // where the device writes them in place
	length  int                      // tokens that it is given at once
}

// newEngine adds a profile to the model's engine: a plan of a network whose open extents have these values, of a single text, of
// so many new tokens, and of so many earlier ones, which the mask covers as well. Each plan has the network for its length alone,
// in which more is known beforehand; weights, also as kernels of the host have packed them, are those of the first.
func (m *Model) newEngine(ctx context.Context, n *graph.Network, length, past int) (*engine, error) {
	shapes, err := m.roles.shapes(n, length, past)
	if err != nil {
		return nil, err
	}
	n, err = closed(n, shapes)
	if err != nil {
		return nil, err
	}
	built, err := m.build(ctx, n, shapes)
	if err != nil {
		return nil, err
	}
	e := &engine{length: length, inputs: map[string]numeric.Value{}}
	if e.loaded, err = m.load(ctx, built.Any()); err != nil {
		return nil, err
	}
	if e.context, err = e.loaded.NewContext(); err != nil {
		e.loaded.Close()
		return nil, err
	}
	for _, t := range n.Inputs {
		e.inputs[t.Name] = aligned(t.Type, shapes[t.Name])
	}
	logits := m.roles.logits
	if dims := e.context.Dims(logits.Name); len(dims) == 3 {
		if v := aligned(logits.Type, dims); e.context.Bind(logits.Name, v.Data) {
			e.logits = v
		}
	}
	if err := e.run(ctx); err != nil { // the first run is slower than those behind it
		e.close()
		return nil, err
	}
	return e, nil
}

// load adds a plan to the model's engine and binds it.
func (m *Model) load(ctx context.Context, p *run.Plan) (*run.Loaded, error) {
	m.engine.Add(p)
	if m.first != nil {
		return run.LoadBeside(ctx, p, m.first)
	}
	list, err := run.LoadProfiles(ctx, []*run.Plan{p}, m.backend, nil)
	if err != nil {
		return nil, err
	}
	m.first = list[0]
	return m.first, nil
}

// closed returns the network for these shapes of its inputs alone: what is computed of shapes becomes constant.
func closed(n *graph.Network, shapes map[string][]int) (*graph.Network, error) {
	if _, err := n.BindShapes(shapes); err != nil {
		return nil, err
	}
	n = n.Clone()
	for _, t := range n.Inputs {
		t.Dims = make([]symbolic.Dim, len(shapes[t.Name]))
		for i, d := range shapes[t.Name] {
			t.Dims[i] = symbolic.Const(d)
		}
	}
	return n, n.Infer()
}

// run runs the engine on its inputs.
func (e *engine) run(ctx context.Context) error {
	for name, v := range e.inputs {
		if err := e.context.SetInput(name, v); err != nil {
			return err
		}
	}
	return e.context.ExecuteUntil(ctx)
}

// scores returns those behind token i, which has to be read before the next run.
func (e *engine) scores(logits string, i int) ([]float32, error) {
	v := e.logits
	if v.Data == nil {
		var err error
		if v, err = e.context.Output(logits); err != nil {
			return nil, err
		}
	}
	all, size := v.Floats(), v.Dims[2]
	return all[i*size : (i+1)*size], nil
}

func (e *engine) close() {
	e.context.Close()
	e.loaded.Close()
}

// fill writes integers to an input's elements, in the type that it has.
func fill(v numeric.Value, at func(i int) int) {
	for i := range v.Len() {
		switch n := at(i); v.Type {
		case numeric.I64:
			v.I64()[i] = int64(n)
		case numeric.I32:
			v.I32()[i] = int32(n)
		case numeric.F32:
			v.F32()[i] = float32(n)
		default: // of one byte; newEngine has checked it
			v.Data[i] = byte(n)
		}
	}
}

// alignment is what memory must have that kernels of the CPU are to work in.
const alignment = 64

// aligned returns zeros in memory that kernels may read in place.
func aligned(t numeric.DataType, dims []int) numeric.Value {
	size := numeric.Count(dims) * t.Size()
	data := make([]byte, size+alignment)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(data))) & (alignment - 1))
	return numeric.Value{Type: t, Dims: dims, Data: data[skip : skip+size : skip+size]}
}
