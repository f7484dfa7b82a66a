package graph_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// lenetWeights returns n weights that look random and are the same everywhere.
func lenetWeights(seed, n int, scale float32) []float32 {
	w := make([]float32, n)
	state := uint32(seed)*2654435761 + 1
	for i := range w {
		state = state*1664525 + 1013904223
		w[i] = (float32(state>>8)/(1<<23) - 1) * scale
	}
	return w
}

// lenet defines LeNet-5 (LeCun et al., Gradient-based learning applied to document recognition, 1998), with maximum
// pooling and ReLU as it is built today.
func lenet() (*graph.Network, error) {
	d := graph.Define("lenet5")
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(1), symbolic.Const(28), symbolic.Const(28))
	window := graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}
	weights := func(name string, seed int, scale float32, dims ...int) *graph.Tensor {
		return d.Weights(name, lenetWeights(seed, numeric.Count(dims), scale), dims...)
	}

	x = d.Named("conv1").Conv(x, weights("w1", 1, 0.3, 6, 1, 5, 5), weights("b1", 2, 0.1, 6), graph.ConvAttrs{Pads: []int{2, 2, 2, 2}})
	x = d.Named("pool1").MaxPool(d.Relu(x), window)
	x = d.Named("conv2").Conv(x, weights("w2", 3, 0.1, 16, 6, 5, 5), weights("b2", 4, 0.1, 16), graph.ConvAttrs{})
	x = d.Named("pool2").MaxPool(d.Relu(x), window)
	x = d.Named("fc1").FullyConnected(x, weights("w3", 5, 0.08, 120, 400), weights("b3", 6, 0.1, 120))
	x = d.Named("fc2").FullyConnected(d.Relu(x), weights("w4", 7, 0.1, 84, 120), weights("b4", 8, 0.1, 84))
	x = d.Named("fc3").FullyConnected(d.Relu(x), weights("w5", 9, 0.2, 10, 84), weights("b5", 10, 0.1, 10))
	d.Output("probabilities", d.Softmax(x, 1))
	return d.Network()
}

// A network is defined layer by layer, without an error check for each.
func ExampleDefine() {
	net, err := lenet()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(net)

	image := numeric.Values(numeric.F32, lenetWeights(11, 28*28, 1), 1, 1, 28, 28)
	out, err := net.Eval(context.Background(), map[string]numeric.Value{"image": image}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("shape", out["probabilities"].Dims)
	// Output:
	// network lenet5
	// input  image f32[batch,1,28,28]
	// conv1: conv1 f32[batch,6,28,28] = Conv(image, w1 f32[6,1,5,5], b1 f32[6]) pads=[2 2 2 2] group=1
	// Relu: Relu f32[batch,6,28,28] = Relu(conv1) program=relu($0)
	// pool1: pool1 f32[batch,6,14,14] = MaxPool(Relu) kernel=[2 2] strides=[2 2]
	// conv2: conv2 f32[batch,16,10,10] = Conv(pool1, w2 f32[16,6,5,5], b2 f32[16]) group=1
	// Relu_2: Relu_2 f32[batch,16,10,10] = Relu(conv2) program=relu($0)
	// pool2: pool2 f32[batch,16,5,5] = MaxPool(Relu_2) kernel=[2 2] strides=[2 2]
	// fc1_flatten: fc1_flatten f32[batch,400] = Flatten(pool2) axis=1
	// fc1: fc1 f32[batch,120] = Gemm(fc1_flatten, w3 f32[120,400], b3 f32[120]) alpha=1 beta=1 transB=true
	// Relu_3: Relu_3 f32[batch,120] = Relu(fc1) program=relu($0)
	// fc2: fc2 f32[batch,84] = Gemm(Relu_3, w4 f32[84,120], b4 f32[84]) alpha=1 beta=1 transB=true
	// Relu_4: Relu_4 f32[batch,84] = Relu(fc2) program=relu($0)
	// fc3: fc3 f32[batch,10] = Gemm(Relu_4, w5 f32[10,84], b5 f32[10]) alpha=1 beta=1 transB=true
	// Softmax: probabilities f32[batch,10] = Softmax(fc3) axis=1
	// output probabilities
	// shape [1 10]
}

// TestLeNet checks LeNet-5 against loops that share nothing with the ops.
func TestLeNet(t *testing.T) {
	net, err := lenet()
	if err != nil {
		t.Fatal(err)
	}
	const batch = 3
	images := lenetWeights(11, batch*28*28, 1)
	out, err := net.Eval(context.Background(), map[string]numeric.Value{"image": numeric.Values(numeric.F32, images, batch, 1, 28, 28)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := out["probabilities"]
	if len(got.Dims) != 2 || got.Dims[0] != batch || got.Dims[1] != 10 {
		t.Fatalf("shape %v", got.Dims)
	}
	for n := range batch {
		for i, want := range naiveLeNet(images[n*28*28 : (n+1)*28*28]) {
			if v := float64(got.F32()[n*10+i]); math.Abs(v-want) > 1e-5 {
				t.Errorf("image %d, class %d: %v, want %v", n, i, v, want)
			}
		}
	}
}

// naiveLeNet computes one image in float64.
func naiveLeNet(image []float32) []float64 {
	x := make([]float64, len(image))
	for i, v := range image {
		x[i] = float64(v)
	}
	x = naivePool(naiveConv(x, 1, 28, 6, 2, lenetWeights(1, 150, 0.3), lenetWeights(2, 6, 0.1)), 6, 28)
	x = naivePool(naiveConv(x, 6, 14, 16, 0, lenetWeights(3, 2400, 0.1), lenetWeights(4, 16, 0.1)), 16, 10)
	x = naiveDense(x, lenetWeights(5, 48000, 0.08), lenetWeights(6, 120, 0.1), true)
	x = naiveDense(x, lenetWeights(7, 10080, 0.1), lenetWeights(8, 84, 0.1), true)
	x = naiveDense(x, lenetWeights(9, 840, 0.2), lenetWeights(10, 10, 0.1), false)
	sum := 0.0
	for i := range x {
		x[i] = math.Exp(x[i])
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
	return x
}

// naiveConv is a 5x5 convolution of c channels of n x n places to m channels, and ReLU.
func naiveConv(x []float64, c, n, m, pad int, w, bias []float32) []float64 {
	out := n + 2*pad - 4
	y := make([]float64, m*out*out)
	for k := range m {
		for i := range out {
			for j := range out {
				s := float64(bias[k])
				for ch := range c {
					for p := range 5 {
						for q := range 5 {
							if r, t := i+p-pad, j+q-pad; r >= 0 && r < n && t >= 0 && t < n {
								s += x[(ch*n+r)*n+t] * float64(w[((k*c+ch)*5+p)*5+q])
							}
						}
					}
				}
				y[(k*out+i)*out+j] = math.Max(s, 0)
			}
		}
	}
	return y
}

// naivePool is 2x2 maximum pooling of c channels of n x n places.
func naivePool(x []float64, c, n int) []float64 {
	h := n / 2
	y := make([]float64, c*h*h)
	for i := range y {
		at := i/(h*h)*n*n + i/h%h*2*n + i%h*2
		y[i] = math.Max(math.Max(x[at], x[at+1]), math.Max(x[at+n], x[at+n+1]))
	}
	return y
}

func naiveDense(x []float64, w, bias []float32, relu bool) []float64 {
	y := make([]float64, len(bias))
	for i := range y {
		y[i] = float64(bias[i])
		for k, v := range x {
			y[i] += v * float64(w[i*len(x)+k])
		}
		if relu {
			y[i] = math.Max(y[i], 0)
		}
	}
	return y
}
