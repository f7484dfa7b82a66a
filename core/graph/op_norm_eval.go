package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// inferPerChannel gives the output the first input's type and shape and checks that the given inputs are one number for
// each channel.
func inferPerChannel(l *Layer, params ...int) error {
	if err := l.needNumbers(append([]int{0}, params...)...); err != nil {
		return err
	}
	x := l.Inputs[0]
	if len(x.Dims) < 2 {
		return fmt.Errorf("input %s: want a batch and a channel axis", x.TypeString())
	}
	dims := slices.Clone(x.Dims)
	for _, i := range params {
		p, err := l.need(i)
		if err != nil {
			return err
		}
		if len(p.Dims) != 1 || conflict(p.Dims[0], dims[1]) {
			return fmt.Errorf("input %d is %s, want one number for each of the %s channels of %s", i, p.TypeString(), dims[1], x.TypeString())
		}
		dims[1], _ = sameDim(dims[1], p.Dims[0]) // they do not conflict
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), dims
	return nil
}

func inferGroupNorm(l *Layer) error {
	a := l.Attrs.(GroupNormAttrs)
	if err := cmp.Or(inferPerChannel(l), l.needNumbers(0, 1, 2)); err != nil {
		return err
	}
	channels := l.Inputs[0].Dims[1]
	if c, ok := channels.IsConst(); a.Groups < 1 || ok && c%a.Groups != 0 {
		return fmt.Errorf("%s channels cannot be split into %d groups", channels, a.Groups)
	}
	want := channels
	if a.PerGroup {
		want = symbolic.Const(a.Groups)
	}
	for i := 1; i <= 2; i++ {
		p, err := l.need(i)
		if err != nil {
			return err
		}
		if len(p.Dims) != 1 || conflict(p.Dims[0], want) {
			return fmt.Errorf("input %d is %s, want [%s]", i, p.TypeString(), want)
		}
	}
	return nil
}

func inferLayerNorm(l *Layer) error {
	a := l.Attrs.(LayerNormAttrs)
	if err := l.needNumbers(0, 1, 2); err != nil {
		return err
	}
	x := l.Inputs[0]
	axis, err := axisIn(a.Axis, len(x.Dims))
	if err != nil {
		return err
	}
	for i := 1; i < max(2, len(l.OpInputs())); i++ {
		if i > 1 && l.Input(i) == nil {
			continue
		}
		p, err := l.need(i)
		if err != nil {
			return err
		}
		both, err := BroadcastDims(x.Dims, p.Dims)
		if err != nil || len(both) != len(x.Dims) {
			return fmt.Errorf("input %d %s does not broadcast to %s", i, p.TypeString(), x.TypeString())
		}
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), x.Dims
	stat := append([]symbolic.Dim{}, x.Dims[:axis]...)
	for range x.Dims[axis:] {
		stat = append(stat, symbolic.Const(1))
	}
	for _, t := range l.Outputs[1:] {
		t.Type, t.Dims = numeric.F32, stat
	}
	return nil
}

func evalBatchNorm(l *Layer, in, out []numeric.Value) error {
	eps := float64(l.Attrs.(BatchNormAttrs).Epsilon)
	x, y := in[0].Float64s(), make([]float64, in[0].Len())
	scale, bias, mean, variance := in[1].Float64s(), in[2].Float64s(), in[3].Float64s(), in[4].Float64s()
	inner, channels := numeric.Count(in[0].Dims[2:]), in[0].Dims[1]
	for i, p := range in[1:] {
		if p.Len() != channels {
			return fmt.Errorf("input %d has %d numbers for %d channels", i+1, p.Len(), channels)
		}
	}
	for i, v := range x {
		c := i / inner % channels
		y[i] = (v-mean[c])/math.Sqrt(variance[c]+eps)*scale[c] + bias[c]
	}
	out[0].SetFloats(y)
	return nil
}

// moments returns the mean and the variance of x.
func moments(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	return mean, meanSquare(x, mean)
}

// meanSquare returns the mean of the squares of what the elements are above a number.
func meanSquare(x []float64, above float64) (mean float64) {
	for _, v := range x {
		d := v - above
		mean += d * d
	}
	return mean / float64(len(x))
}

func evalInstanceNorm(l *Layer, in, out []numeric.Value) error {
	eps := float64(l.Attrs.(InstanceNormAttrs).Epsilon)
	return normalizeGroups(in, out, in[0].Dims[1], eps, func(c int) int { return c })
}

func evalGroupNorm(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(GroupNormAttrs)
	channels := in[0].Dims[1]
	if channels%a.Groups != 0 {
		return fmt.Errorf("%d channels cannot be split into %d groups", channels, a.Groups)
	}
	param := func(c int) int { return c }
	if a.PerGroup {
		param = func(c int) int { return c / (channels / a.Groups) }
	}
	return normalizeGroups(in, out, a.Groups, float64(a.Epsilon), param)
}

// normalizeGroups normalises each group of channels of each item; param gives the place of a channel's scale and bias.
func normalizeGroups(in, out []numeric.Value, groups int, eps float64, param func(channel int) int) error {
	x, y, scale, bias := in[0].Float64s(), make([]float64, in[0].Len()), in[1].Float64s(), in[2].Float64s()
	if len(x) == 0 {
		return nil
	}
	inner, channels := numeric.Count(in[0].Dims[2:]), in[0].Dims[1]
	if params := param(channels-1) + 1; len(scale) != params || len(bias) != params {
		return fmt.Errorf("scale and bias have %d and %d numbers, want %d", len(scale), len(bias), params)
	}
	size := inner * channels / groups
	for first := 0; first < len(x); first += size {
		mean, variance := moments(x[first : first+size])
		inv := 1 / math.Sqrt(variance+eps)
		for i := first; i < first+size; i++ {
			p := param(i / inner % channels)
			y[i] = (x[i]-mean)*inv*scale[p] + bias[p]
		}
	}
	out[0].SetFloats(y)
	return nil
}

// evalLayerNorm normalises by mean and variance, or by the root of the mean of squares if not centred.
func evalLayerNorm(l *Layer, in, out []numeric.Value, centred bool) error {
	a := l.Attrs.(LayerNormAttrs)
	axis, err := axisIn(a.Axis, len(in[0].Dims))
	if err != nil {
		return err
	}
	x, y, scale := in[0].Float64s(), make([]float64, in[0].Len()), in[1].Float64s()
	if len(x) == 0 {
		return nil
	}
	scaleAt, err := numeric.NewBroadcast(in[1].Dims, in[0].Dims)
	if err != nil {
		return fmt.Errorf("input 1: %w", err)
	}
	var bias []float64
	var biasAt numeric.Broadcast
	if len(in) > 2 && in[2].Data != nil {
		if biasAt, err = numeric.NewBroadcast(in[2].Dims, in[0].Dims); err != nil {
			return fmt.Errorf("input 2: %w", err)
		}
		bias = in[2].Float64s()
	}
	size := numeric.Count(in[0].Dims[axis:])
	for row := range len(x) / size {
		mean, square := 0.0, meanSquare(x[row*size:(row+1)*size], 0)
		if centred {
			mean, square = moments(x[row*size : (row+1)*size])
		}
		inv := 1 / math.Sqrt(square+float64(a.Epsilon))
		for i := row * size; i < (row+1)*size; i++ {
			v := (x[i] - mean) * inv * scale[scaleAt.At(i)]
			if bias != nil {
				v += bias[biasAt.At(i)]
			}
			y[i] = v
		}
		for o, stat := range []float64{mean, inv} {
			if o+1 < len(out) {
				out[o+1].F32()[row] = float32(stat)
			}
		}
	}
	out[0].SetFloats(y)
	return nil
}

func evalLRN(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(LRNAttrs)
	x, y := in[0].Float64s(), make([]float64, in[0].Len())
	inner, channels := numeric.Count(in[0].Dims[2:]), in[0].Dims[1]
	for i, v := range x {
		c := i / inner % channels
		sum := 0.0
		for d := max(0, c-(a.Size-1)/2); d <= min(channels-1, c+a.Size/2); d++ {
			u := x[i+(d-c)*inner]
			sum += u * u
		}
		y[i] = v / math.Pow(float64(a.Bias)+float64(a.Alpha)/float64(a.Size)*sum, float64(a.Beta))
	}
	out[0].SetFloats(y)
	return nil
}

func evalLpNorm(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(LpNormAttrs)
	x, y := in[0].Float64s(), make([]float64, in[0].Len())
	along(in[0].Dims, a.Axis, false, func(first, step, n int) {
		norm := 0.0
		for i := range n {
			v := math.Abs(x[first+i*step])
			if a.P == 2 {
				v *= v
			}
			norm += v
		}
		if a.P == 2 {
			norm = math.Sqrt(norm)
		}
		if norm == 0 {
			return // y is 0
		}
		for i := range n {
			y[first+i*step] = x[first+i*step] / norm
		}
	})
	out[0].SetFloats(y)
	return nil
}

func evalMeanVarianceNorm(l *Layer, in, out []numeric.Value) error {
	axes, err := axesIn(l.Attrs.(MeanVarianceNormAttrs).Axes, len(in[0].Dims))
	if err != nil {
		return err
	}
	kept := slices.Clone(in[0].Dims) // the shape of the statistics
	for _, a := range axes {
		kept[a] = 1
	}
	at, err := numeric.NewBroadcast(kept, in[0].Dims)
	if err != nil {
		return err
	}
	x, y := in[0].Float64s(), make([]float64, in[0].Len())
	mean, variance := make([]float64, numeric.Count(kept)), make([]float64, numeric.Count(kept))
	share := float64(len(mean)) / float64(len(x))
	for i, v := range x {
		mean[at.At(i)] += v * share
	}
	for i, v := range x {
		d := v - mean[at.At(i)]
		variance[at.At(i)] += d * d * share
	}
	for i, v := range x {
		s := at.At(i)
		y[i] = (v - mean[s]) / (math.Sqrt(variance[s]) + 1e-9)
	}
	out[0].SetFloats(y)
	return nil
}
