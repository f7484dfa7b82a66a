package networks

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Bounds of what counts as rounding.
const (
	noise32   = 1e-6      // of an F32 layer's largest result: sums in another order
	noise16   = 1. / 1024 // of an element of F16
	denormal  = 1e-37     // below it kernels may flush to 0
	noiseRuns = 3         // before anything is found wrong
	moreRuns  = 400       // before it is said: a row of many halves falls one way seldom
	slack     = 8         // times what the noise made of an element
	often     = 0.01      // of the most that noise makes of an element, on average: what is rounded, or chosen, is often so by chance
)

// processor is what computes, as far as kinds of it round differently.
type processor int

const (
	cpuOrOracle processor = iota
	gpu
)

// meaning is what a network's definition makes of inputs, and how far rounding in between may move each element.
type meaning struct {
	network *graph.Network
	on      processor
	inputs  map[string]numeric.Value
	want    map[string]numeric.Value
	allowed map[string][]float64 // by output and element; infinite where rounding decides
	factor  float64              // by which more is allowed
	runs    int                  // with noise
}

// meaningOf evaluates a network several times, each but the first with noise of the size of a kernel's rounding behind
// every layer that computes.
func meaningOf(n *graph.Network, inputs map[string]numeric.Value, on processor) (*meaning, error) {
	want, err := n.Eval(context.Background(), inputs, nil)
	if err != nil {
		return nil, err
	}
	m := &meaning{network: n, on: on, inputs: inputs, want: want, allowed: map[string][]float64{}, factor: 1}
	for name, v := range want {
		m.allowed[name] = make([]float64, v.Len())
	}
	m.disturb(noiseRuns)
	return m, nil
}

// disturb lets the elements differ by what they differ by in so many runs in all.
func (m *meaning) disturb(runs int) {
	for ; m.runs < runs; m.runs++ {
		rnd := rand.New(rand.NewPCG(uint64(m.runs), 13))
		known := maps.Clone(m.inputs)
		got, err := m.network.Eval(context.Background(), m.inputs, func(l *graph.Layer, out []numeric.Value) error {
			if sums(l.Op.Class) || recurrent(l.Op) || requantises(l.Op) || programs(l) {
				m.recompute(rnd, l, known, out)
			}
			for i, v := range out {
				disturb(rnd, l, l.Outputs[i], v)
				known[l.Outputs[i].Name] = v
			}
			return nil
		})
		if err != nil { // an index that rounding decides
			for _, list := range m.allowed {
				for i := range list {
					list[i] = math.Inf(1)
				}
			}
			return
		}
		for name, v := range got {
			m.widen(name, v)
		}
	}
}

// sums reports whether layers of the class add many elements, whose sum may be a small difference of large ones.
func sums(c graph.Class) bool {
	switch c {
	case graph.ClassConvolution, graph.ClassMatrix, graph.ClassWeightOnly, graph.ClassPooling, graph.ClassReduction, graph.ClassNorm, graph.ClassResampling:
		return true
	}
	return false
}

// recurrent reports whether an op hands a state from step to step, which rounds at each: the last bits of weights and states stand
// for that.
func recurrent(op *graph.Op) bool { return op == graph.LSTM || op == graph.GRU || op == graph.RNN }

// requantises reports whether an op makes integers of sums of integers, which halves decide: the last bits of its first scale stand
// for the rounding of sums that are multiplied by scales one after the other.
func requantises(op *graph.Op) bool { return op == graph.QLinearConv || op == graph.QLinearMatMul }

// recompute computes a layer anew, sums of inputs whose last bits differ, and programs with noise in between.
func (m *meaning) recompute(rnd *rand.Rand, l *graph.Layer, known map[string]numeric.Value, out []numeric.Value) {
	var in []numeric.Value
	for i, t := range l.Inputs {
		var v numeric.Value
		if t != nil {
			var ok bool
			if v, ok = t.Const(); !ok {
				v = known[t.Name]
			}
		}
		if (i == 0 && sums(l.Op.Class) || recurrent(l.Op)) && v.Type == numeric.F32 {
			v.Data = bytes.Clone(v.Data)
			for j, f := range v.F32() {
				v.F32()[j] = f * float32(1+noise32/2*(2*rnd.Float64()-1))
			}
		}
		in = append(in, v)
	}
	if programs(l) {
		size := 0.0
		for _, v := range in {
			size = max(size, largest(v))
		}
		l = noisy(rnd, l, size, m.on)
	}
	_ = l.Eval(in, out) // it went well before
	if requantises(l.Op) {
		halved(rnd, l, in, out[0])
	}
	if recurrent(l.Op) {
		overgrown(out)
	}
	if l.Op == graph.Conv || l.Op == graph.ConvTranspose {
		padded(in[1], out[0], l.Op == graph.Conv)
	}
	if l.Op.Class == graph.ClassNorm {
		centred(rnd, l, in, out[0])
	}
	if l.Op.Name == "ReduceProd" && in[0].Type == numeric.F32 && out[0].Type == numeric.F32 {
		reordered(l, in, out[0])
	}
}

// halved takes each integer of y from below or from above, where the sum that it is made of lies on a half.
func halved(rnd *rand.Rand, l *graph.Layer, in []numeric.Value, y numeric.Value) {
	side := func(share float32) []byte {
		in, z := slices.Clone(in), numeric.NewValue(y.Type, y.Dims...)
		in[1].Data = bytes.Clone(in[1].Data)
		for i, f := range in[1].F32() {
			in[1].F32()[i] = f * share
		}
		_ = l.Eval(in, []numeric.Value{z})
		return z.Data
	}
	below, above := side(1-noise32/2), side(1+noise32/2)
	for i := range y.Data {
		if y.Data[i] = below[i]; rnd.IntN(2) == 0 {
			y.Data[i] = above[i]
		}
	}
}

// overgrown makes NaN what a recurrent layer gives whose state grows so large that a product of two of its numbers overflows float32:
// the definition computes in float64, and what a kernel gives from there on nobody knows.
func overgrown(out []numeric.Value) {
	const most = 1e19
	if !slices.ContainsFunc(out, func(v numeric.Value) bool {
		return slices.ContainsFunc(v.Float64s(), func(f float64) bool { return !(math.Abs(f) < most) })
	}) {
		return
	}
	for _, v := range out {
		numeric.FromReal(v, slices.Repeat([]float32{float32(math.NaN())}, v.Len()), numeric.Range{})
	}
}

// reordered makes NaN the products of which in some order a part overflows, and another vanishes or is 0.
func reordered(l *graph.Layer, in []numeric.Value, y numeric.Value) {
	part := func(of func(a float64) bool) []float32 {
		x, z := numeric.NewValue(numeric.F32, in[0].Dims...), numeric.NewValue(numeric.F32, y.Dims...)
		for i, f := range in[0].F32() {
			if x.F32()[i] = 1; of(math.Abs(float64(f))) {
				x.F32()[i] = f
			}
		}
		_ = l.Eval(append([]numeric.Value{x}, in[1:]...), []numeric.Value{z})
		return z.F32()
	}
	large, small := part(func(a float64) bool { return a > 1 }), part(func(a float64) bool { return a < 1 })
	for i := range y.F32() {
		if math.IsInf(float64(large[i]), 0) && math.Abs(float64(small[i])) < 0x1p-126 {
			y.F32()[i] = float32(math.NaN())
		}
	}
}

// padded makes NaN what filters with infinite weights compute: a kernel may multiply them by the zeros of a padding, which the
// definition leaves out.
func padded(filters, y numeric.Value, apart bool) {
	if filters.Len() == 0 || y.Len() == 0 || y.Type != numeric.F32 && y.Type != numeric.F16 {
		return
	}
	size, pixels := filters.Len(), y.Len()
	if apart {
		size, pixels = filters.Len()/filters.Dims[0], y.Len()/(y.Dims[0]*y.Dims[1])
	}
	list := filters.Float64s()
	for i := range y.Len() {
		filter := i / pixels % (len(list) / size)
		if slices.ContainsFunc(list[filter*size:][:size], func(f float64) bool { return math.IsInf(f, 0) || math.IsNaN(f) }) {
			switch y.Type {
			case numeric.F16:
				numeric.View[uint16](y.Data)[i] = numeric.F32ToF16(float32(math.NaN()))
			default:
				y.F32()[i] = float32(math.NaN())
			}
		}
	}
}

// disturb changes a result by noise. Where elements are only moved there is none.
func disturb(rnd *rand.Rand, l *graph.Layer, t *graph.Tensor, v numeric.Value) {
	if exact := l.Op.Class == graph.ClassMove || l.Op.Class == graph.ClassLookup; exact && l.Epilogue.Args == 0 {
		return
	}
	switch {
	case t.Quantized() && v.Type.Size() == 1:
		for i := range v.Data {
			if rnd.IntN(6) == 0 {
				v.Data[i] = oneOff(v.Type, v.Data[i], rnd.IntN(2) == 0)
			}
		}
	case v.Type == numeric.F32:
		size := largest(v)
		if window(l.Op) {
			size = 1
		}
		noise := noise32 * size
		if attendsBytes(l) {
			noise = size / 255
		}
		for i, f := range v.F32() {
			if math.Abs(float64(f)) <= noise && rnd.IntN(2) == 0 {
				v.F32()[i] = 0 // what sums of integers are exactly
				continue
			}
			v.F32()[i] = f + float32(noise*(2*rnd.Float64()-1))
		}
	case v.Type == numeric.F16:
		bits := numeric.View[uint16](v.Data)
		for i, f := range v.Floats() {
			bits[i] = numeric.F32ToF16(f * float32(1+noise16*(2*rnd.Float64()-1)))
		}
	}
}

// attendsBytes reports whether a layer is an attention of bytes, whose shares are bytes too, in any precision.
func attendsBytes(l *graph.Layer) bool {
	return l.Op == graph.Attention && l.Inputs[graph.AttentionV].Quantized()
}

// window reports whether an op makes a window, each element of which is a sum of parts of 1 that cancel at its ends.
func window(op *graph.Op) bool {
	return op == graph.HannWindow || op == graph.HammingWindow || op == graph.BlackmanWindow
}

// largest returns the size of the largest finite element; 0 if there is none.
func largest(v numeric.Value) float64 {
	size := 0.0
	for _, f := range v.Float64s() {
		if m := math.Abs(f); m > size && !math.IsInf(m, 0) {
			size = m
		}
	}
	return size
}

// oneOff returns the byte's neighbour, without wrapping around.
func oneOff(t numeric.DataType, b byte, up bool) byte {
	low, high := byte(0), byte(255)
	if t == numeric.I8 {
		low, high = 128, 127
	}
	switch {
	case up && b != high:
		return b + 1
	case !up && b != low:
		return b - 1
	}
	return b
}

// widen lets each element differ by what it differs by in v.
func (m *meaning) widen(name string, v numeric.Value) {
	want, got := m.want[name].Float64s(), v.Float64s()
	for i := range want {
		d := math.Abs(got[i] - want[i])
		if got[i] == want[i] || got[i] != got[i] && want[i] != want[i] {
			d = 0
		} else if d != d {
			d = math.Inf(1)
		}
		m.allowed[name][i] = max(m.allowed[name][i], d)
	}
}

// mean returns the mean of what is finite.
func mean(list []float64) float64 {
	sum := 0.0
	for _, f := range list {
		if !math.IsInf(f, 0) {
			sum += f
		}
	}
	return sum / float64(max(1, len(list)))
}

// agree returns an error for the first element of an output that is not what is meant. Undecided elements are counted.
func (m *meaning) agree(got map[string]numeric.Value) (undecided int, err error) {
	for name, want := range m.want {
		v, ok := got[name]
		if !ok {
			return 0, fmt.Errorf("output %s is missing", name)
		}
		if v.Type != want.Type || fmt.Sprint(v.Dims) != fmt.Sprint(want.Dims) {
			return 0, fmt.Errorf("output %s is %s%v, want %s%v", name, v.Type, v.Dims, want.Type, want.Dims)
		}
		n, err := m.near(name, v.Float64s(), want.Float64s(), want.Type)
		if err != nil {
			return 0, err
		}
		undecided += n
	}
	return undecided, nil
}

func (m *meaning) near(name string, got, want []float64, t numeric.DataType) (undecided int, err error) {
	largest := 0.0
	for _, w := range want {
		if a := math.Abs(w); a > largest && !math.IsInf(a, 0) {
			largest = a
		}
	}
	floor := slack * mean(m.allowed[name])
	switch t {
	case numeric.F32, numeric.F64:
		floor += 4*noise32*largest + denormal
	case numeric.F16, numeric.BF16:
		floor += 2 * noise16 * largest
	}
	most := 0.0
	for _, a := range m.allowed[name] {
		most = max(most, a)
	}
	if mean(m.allowed[name]) > often*most && !math.IsInf(most, 1) {
		floor = max(floor, most) // any may be one that the runs with noise did not turn
	}
	for i, w := range want {
		allowed := m.factor * (slack*m.allowed[name][i] + floor)
		switch {
		case got[i] == w || got[i] != got[i] && w != w:
		case math.IsInf(allowed, 1) || !t.IsFloat() && m.allowed[name][i] > 0:
			undecided++
		case !(math.Abs(got[i]-w) <= allowed):
			return 0, fmt.Errorf("output %s, element %d of %d is %v, want %v within %.3g", name, i, len(want), got[i], w, allowed)
		}
	}
	return undecided, nil
}
