package sessions

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph"
)

// maxRandomBytes bounds one item of random data.
const maxRandomBytes = 1 << 30

// RandomData makes up n items for a network that came without data: real inputs are normally distributed, integer ones
// are small and not negative, symbols of dimensions are 1. The same seed gives the same items, and each item is made
// when it is asked for. An input whose type or size is out of the question is an error that names it.
func RandomData(net *graph.Network, n int, seed uint64) (Data, error) {
	d := &randomData{n: n, seed: seed}
	for _, t := range net.Inputs {
		dims := make([]int, len(t.Dims))
		size := t.Type.Size(1)
		for i, dim := range t.Dims {
			dims[i] = 1
			if len(dim.Symbols()) == 0 {
				dims[i] = dim.Eval(nil)
			}
			if dims[i] < 0 || size > maxRandomBytes || dims[i] > 0 && size > maxRandomBytes/dims[i] {
				return nil, fmt.Errorf("input %s %s: too large to make up data for", t.Name, t.Type)
			}
			size *= dims[i]
		}
		d.inputs = append(d.inputs, randomInput{t.Name, t.Type, dims})
	}
	return d, nil
}

type randomData struct {
	inputs []randomInput
	n      int
	seed   uint64
}

type randomInput struct {
	name string
	typ  graph.DataType
	dims []int
}

func (d *randomData) Len() int              { return d.n }
func (d *randomData) Label(int) (int, bool) { return 0, false }
func (d *randomData) Name() string          { return fmt.Sprintf("random, seed %d", d.seed) }
func (d *randomData) Random() bool          { return true }

func (d *randomData) Inputs(i int) (map[string]graph.Value, error) {
	r := rand.New(rand.NewPCG(d.seed, uint64(i)))
	out := map[string]graph.Value{}
	for _, in := range d.inputs {
		v := graph.NewValue(in.typ, in.dims...)
		values := make([]float32, graph.Count(in.dims))
		for k := range values {
			if in.typ.IsFloat() {
				values[k] = float32(r.NormFloat64())
			} else {
				values[k] = float32(math.Floor(r.Float64() * 2))
			}
		}
		v.SetFloats(values)
		out[in.name] = v
	}
	return out, nil
}
