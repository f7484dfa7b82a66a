package build_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// linked defines networks of layers between which channels may be scaled.
type linked struct {
	*graph.Definition
	rnd *rand.Rand
	w   int
}

func (d *linked) weights(dims ...int) *graph.Tensor {
	x := make([]float32, numeric.Count(dims))
	for i := range x {
		x[i] = float32(d.rnd.NormFloat64()) / 4
	}
	d.w++
	return d.Constant(fmt.Sprint("w", d.w), numeric.Values(numeric.F32, x, dims...))
}

func (d *linked) conv(x *graph.Tensor, out, in, k int) *graph.Tensor {
	return d.Conv(x, d.weights(out, in, k, k), d.weights(out), graph.ConvAttrs{Pads: []int{k / 2, k / 2, k / 2, k / 2}})
}

func (d *linked) depthwise(x *graph.Tensor, c int) *graph.Tensor {
	return d.Conv(x, d.weights(c, 1, 3, 3), d.weights(c), graph.ConvAttrs{Group: c, Pads: []int{1, 1, 1, 1}})
}

func (d *linked) normed(x *graph.Tensor) *graph.Tensor {
	return d.LayerNorm(x, d.weights(8), d.weights(8), -1, 1e-5)
}

// TestScaleLinks scales the channels of every link of networks of all kinds by random numbers: what a network computes stays what it
// was, by the layers' own definition, up to rounding.
func TestScaleLinks(t *testing.T) {
	image, rows := []int{1, 3, 6, 6}, []int{2, 5, 8}
	for _, c := range []struct {
		name  string
		input []int
		links int
		why   string // why a link cannot be scaled
		make  func(d *linked, x *graph.Tensor) *graph.Tensor
	}{
		{"relu", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor { return d.conv(d.Relu(d.conv(x, 8, 3, 3)), 4, 8, 3) }},
		{"nothing between", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor { return d.conv(d.conv(x, 8, 3, 3), 4, 8, 3) }},
		{"leaky relu", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			return d.conv(d.LeakyRelu(d.conv(x, 8, 3, 3), 0.1), 4, 8, 3)
		}},
		{"slopes of channels", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			return d.conv(d.PRelu(d.conv(x, 8, 3, 3), d.weights(8, 1, 1)), 4, 8, 3)
		}},
		{"a clamp at 6", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			return d.conv(d.Clip(d.conv(x, 8, 3, 3), 0, 0.5), 4, 8, 3)
		}},
		{"an activation that is no line", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			return d.conv(d.Activation(elementwise.HardSwish, d.conv(x, 8, 3, 3)), 4, 8, 3)
		}},
		{"a residual sum", image, 2, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			return d.conv(d.Relu(d.Add(d.conv(d.conv(x, 8, 3, 3), 8, 8, 1), d.conv(x, 8, 3, 1))), 4, 8, 3)
		}},
		{"depthwise", image, 2, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			return d.conv(d.Relu(d.depthwise(d.Relu(d.conv(x, 8, 3, 1)), 8)), 4, 8, 1)
		}},
		{"poolings", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.MaxPool(d.Relu(d.conv(x, 8, 3, 3)), graph.PoolAttrs{Kernel: []int{2, 2}})
			return d.conv(d.AveragePool(y, graph.PoolAttrs{Kernel: []int{2, 2}}), 4, 8, 1)
		}},
		{"two readers", image, 1, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Relu(d.conv(x, 8, 3, 3))
			return d.Concat(1, d.conv(y, 4, 8, 1), d.conv(y, 4, 8, 3))
		}},
		{"a reader without weights", image, 0, "is also used by", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Relu(d.conv(x, 8, 3, 3))
			return d.Concat(1, d.conv(y, 4, 8, 1), d.Activation(elementwise.Tanh, y))
		}},
		{"a sum in the product that reads", image, 0, "reads it elsewhere too, as in a sum", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Relu(d.conv(x, 8, 3, 3))
			return d.Activation(elementwise.Tanh, d.Add(d.conv(y, 8, 8, 3), y))
		}},
		{"transposed", image, 2, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Deconv(d.Relu(d.conv(x, 8, 3, 1)), d.weights(8, 3, 2, 2), d.weights(6), graph.ConvTransposeAttrs{Group: 2})
			return d.conv(d.Relu(y), 4, 6, 1)
		}},
		{"matrices", []int{5, 8}, 2, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.Relu(d.FullyConnected(x, d.weights(6, 8), d.weights(6)))
			return d.MatMul(d.Relu(d.Gemm(y, d.weights(6, 4), d.weights(1), graph.GemmAttrs{Alpha: 2, Beta: 3})), d.weights(4, 3))
		}},
		{"a normalisation", rows, 2, "", func(d *linked, x *graph.Tensor) *graph.Tensor {
			y := d.normed(x)
			up := d.Activation(elementwise.Gelu, d.Add(d.MatMul(y, d.weights(8, 16)), d.weights(16)))
			return d.Add(d.MatMul(up, d.weights(16, 8)), y)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &linked{graph.Define("n"), rand.New(rand.NewPCG(1, 2)), 0}
			x := d.Input("x", numeric.F32, symbolic.Shape(c.input...)...)
			d.Output("y", c.make(d, x))
			if links, why, dB := scaleLinks(t, d, c.input); links != c.links || !strings.Contains(why, c.why) || c.why == "" && why != "" || dB < 110 {
				t.Errorf("%d links (%q), want %d (%q); %.1f dB of what it was", links, why, c.links, c.why, dB)
			}
		})
	}
}

// scaleLinks scales the channels of every link of a network by random numbers, and tells how many there are, why others are none, and how
// near its output y is to what it was.
func scaleLinks(t *testing.T, d *linked, input []int) (links int, why string, dB float64) {
	t.Helper()
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(t.Context(), n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	n = o.Network.Clone()
	for _, l := range slices.Clone(n.Layers) {
		k, err := quant.NewLink(n, l)
		if err != nil {
			why += err.Error()
		}
		if k == nil {
			continue
		}
		links++
		scales := make([]float64, k.Channels)
		for i := range scales {
			scales[i] = math.Exp2(d.rnd.Float64()*8 - 4)
		}
		if _, err := k.Scale(n, scales); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Verify(); err != nil {
		t.Fatal(err)
	}
	v := make([]float32, numeric.Count(input))
	for i := range v {
		v[i] = float32(d.rnd.NormFloat64())
	}
	in := map[string]numeric.Value{"x": numeric.Values(numeric.F32, v, input...)}
	want, err := o.Network.Eval(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := n.Eval(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	var e quant.ErrorAccumulator
	if err := e.Add(want["y"].Floats(), got["y"].Floats()); err != nil {
		t.Fatal(err)
	}
	return links, why, e.Errors().SQNRdB
}

// TestEqualizeByGain: channels that a layer's constants take are scaled for little, those that are divided by a pass of their own are
// not, and for much both are.
func TestEqualizeByGain(t *testing.T) {
	by, err := quant.ParseEqualizer("activations")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		wide     float64 // how far the first of the channels reaches, others 1
		relu     bool
		scales   bool
		mentions bool // the gain
	}{
		{"alike, taken", 1, true, false, false}, {"alike, divided", 1, false, false, false},
		{"little, taken", 2, true, true, true}, {"little, divided", 2, false, false, true},
		{"much, taken", 40, true, true, true}, {"much, divided", 40, false, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &linked{Definition: graph.Define("gains"), rnd: rand.New(rand.NewPCG(1, 7))}
			y := d.conv(d.Input("x", numeric.F32, symbolic.Shape(1, 3, 6, 6)...), 8, 3, 3)
			if c.relu {
				y = d.Relu(y)
			} else {
				y = d.Clip(y, 0, 6)
			}
			d.Output("y", d.conv(y, 4, 8, 1))
			n, err := d.Network()
			if err != nil {
				t.Fatal(err)
			}
			o, err := build.Optimize(t.Context(), n, pass.Config{})
			if err != nil {
				t.Fatal(err)
			}
			k, err := quant.NewLink(o.Network, o.Network.Layers[0])
			if err != nil || k == nil {
				t.Fatal(k, err)
			}
			seen := quant.ChannelSpread{Axis: 1, Low: make([]float64, 8), High: slices.Repeat([]float64{1}, 8), Square: slices.Repeat([]float64{0.2}, 8)}
			seen.High[0], seen.Square[0] = c.wide, 0.2*c.wide*c.wide
			scales, gain, err := k.Scales(by, seen)
			if err != nil || (scales != nil) != c.scales || (gain > 0) != c.mentions {
				t.Errorf("scales %v for %.2f dB, %v", scales, gain, err)
			}
		})
	}
}

// TestEqualizeTransformer: a network like BERT's blocks, of whose normalisations three channels reach a hundred times as far as the
// others, loses its 8 bits to them; equalised by activations it has 40 dB again, and its float function is as before.
func TestEqualizeTransformer(t *testing.T) {
	const rows, width, outlier = 16, 64, 100
	d := &linked{graph.Define("bert"), rand.New(rand.NewPCG(5, 6)), 0}
	x := d.Input("x", numeric.F32, symbolic.Shape(rows, width)...)
	near := func(dims ...int) *graph.Tensor {
		v := make([]float32, numeric.Count(dims))
		for i := range v {
			v[i] = float32(d.rnd.NormFloat64() / math.Sqrt(float64(dims[0])))
		}
		d.w++
		return d.Constant(fmt.Sprint("w", d.w), numeric.Values(numeric.F32, v, dims...))
	}
	y := x
	for range 2 {
		gamma, beta := make([]float32, width), make([]float32, width)
		for c := range gamma {
			if gamma[c] = 1; c%21 == 5 {
				gamma[c] = outlier
			}
			beta[c] = float32(d.rnd.NormFloat64()) / 10 * gamma[c]
		}
		up := near(width, 2*width) // outliers matter as much as the others: their weights are as small as they are large
		w, _ := up.Const()
		for i := range w.F32() {
			w.F32()[i] /= gamma[i/(2*width)]
		}
		down := near(2*width, width) // a block adds less than it is given
		w, _ = down.Const()
		for i := range w.F32() {
			w.F32()[i] /= 2
		}
		n := d.LayerNorm(y, d.Constant(fmt.Sprint("gamma", d.w), numeric.Values(numeric.F32, gamma, width)), d.Constant(fmt.Sprint("beta", d.w), numeric.Values(numeric.F32, beta, width)), -1, 1e-5)
		y = d.Add(y, d.MatMul(d.Activation(elementwise.Gelu, d.Add(d.MatMul(n, up), d.weights(2*width))), down))
	}
	d.Output("y", y)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := lowerEqualized(t, n, "off", rows, width)
	for _, how := range []string{"activations", "activations:0.5"} {
		got, l := lowerEqualized(t, n, how, rows, width)
		t.Logf("%.1f dB, %s %.1f dB", plain, how, got)
		if plain > 30 || got < 40 {
			t.Errorf("%s: %.1f dB, without %.1f", how, got, plain)
		}
		if len(l.Equalized) < 2 || len(l.Steps[0].Fired) < 2 || l.Steps[0].Fired[0].Note == "" {
			t.Errorf("%s: %v, %+v", how, l.Equalized, l.Steps[0].Fired)
		}
	}
	if off, l := lowerEqualized(t, n, "activations", rows, width, quantise.Equalization); off != plain || len(l.Equalized) != 0 {
		t.Errorf("switched off: %.1f dB, without %.1f; %v", off, plain, l.Equalized)
	}
}

// TestEqualizeOutliers: of what is normalised, one channel of 256 is a hundred times as wide as the others, and meets weights like theirs: it is
// most of every sum. Divided, it still reaches further than the others do, and a range that errs least on the values would clip it for their sake.
func TestEqualizeOutliers(t *testing.T) {
	const rows, width = 16, 256
	d := &linked{graph.Define("outliers"), rand.New(rand.NewPCG(3, 4)), 0}
	gamma := slices.Repeat([]float32{1}, width)
	gamma[5] = 100
	n := d.LayerNorm(d.Input("x", numeric.F32, symbolic.Shape(rows, width)...), d.Constant("gamma", numeric.Values(numeric.F32, gamma, width)), nil, -1, 1e-5)
	d.Output("y", d.MatMul(n, d.weights(width, 32)))
	net, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := lowerEqualized(t, net, "off", rows, width)
	got, _ := lowerEqualized(t, net, "activations:0.5", rows, width)
	t.Logf("%.1f dB, equalised %.1f", plain, got)
	if got < 36 || got < plain+15 {
		t.Errorf("%.1f dB, without %.1f", got, plain)
	}
}

// lowerEqualized returns the SQNR of the output of a network in 8 bits whose channels are equalised so, on random input.
func lowerEqualized(t *testing.T, n *graph.Network, how string, rows, width int, disable ...string) (float64, *build.Lowered) {
	t.Helper()
	b := cpu.Open(1)
	defer b.Close()
	rnd := rand.New(rand.NewPCG(7, 8))
	var items []map[string]numeric.Value
	for range 8 {
		v := make([]float32, rows*width)
		for i := range v {
			v[i] = float32(rnd.NormFloat64())
		}
		items = append(items, map[string]numeric.Value{"x": numeric.Values(numeric.F32, v, rows, width)})
	}
	batches := func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range items {
			if !yield(in, nil) {
				return
			}
		}
	}
	found, err := build.Collect(t.Context(), n, b, batches, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(t.Context(), n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	by, err := quant.ParseEqualizer(how)
	if err != nil {
		t.Fatal(err)
	}
	calibrator := quant.MSE{Scheme: quant.Scheme{Asymmetric: true}}
	lc := build.LowerConfig{Precision: numeric.I8, Ranges: build.Ranges(found.Histograms, calibrator), Policy: quant.Policy{Scheme: calibrator.Scheme, KeepResiduals: true}, Pass: pass.Config{DisableRules: disable}}
	if !by.IsOff() {
		lc.Equalization = &build.Equalization{By: by, Spreads: found.Spreads(), Ranges: func(ctx context.Context, n *graph.Network, names []string) (map[string]numeric.Range, error) {
			scaled, err := build.CollectScaled(ctx, n, b, batches, nil, names, nil)
			if err != nil {
				return nil, err
			}
			return build.Ranges(scaled.Histograms, calibrator), nil
		}}
	}
	l, err := build.Lower(t.Context(), o, lc, run.Supports(b, nil))
	if err != nil {
		t.Fatal(err)
	}
	var e quant.ErrorAccumulator
	for _, in := range items {
		want, err := n.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Network.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(want["y"].Floats(), got["y"].Floats()); err != nil {
			t.Fatal(err)
		}
	}
	return e.Errors().SQNRdB, l
}
