package sessions

import (
	"encoding/binary"
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
		size := t.Type.Size()
		if size == 0 {
			return nil, fmt.Errorf("input %s: no data can be made up for its type %s", t.Name, t.Type)
		}
		for i, dim := range t.Dims {
			dims[i] = 1
			if n, ok := dim.IsConst(); ok {
				dims[i] = n
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
		in.fill(v.Data, r)
		out[in.name] = v
	}
	return out, nil
}

// fill writes random elements: real ones are normally distributed, the others are 0 or 1.
func (in *randomInput) fill(data []byte, r *rand.Rand) {
	size := in.typ.Size()
	for at := 0; at+size <= len(data); at += size {
		x := r.NormFloat64()
		switch in.typ {
		case graph.F32:
			binary.NativeEndian.PutUint32(data[at:], math.Float32bits(float32(x)))
		case graph.F64:
			binary.NativeEndian.PutUint64(data[at:], math.Float64bits(x))
		case graph.F16:
			binary.NativeEndian.PutUint16(data[at:], graph.F32ToF16(float32(x)))
		case graph.BF16:
			binary.NativeEndian.PutUint16(data[at:], graph.F32ToBF16(float32(x)))
		default:
			one := at
			if isBigEndian {
				one += size - 1
			}
			data[one] = byte(r.IntN(2))
		}
	}
}

// isBigEndian tells in which byte of an integer its lowest bits are.
var isBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1
