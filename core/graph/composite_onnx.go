package graph

import "fmt"

// onnxComposites are operators of ONNX, and of com.microsoft where that had them first.
var onnxComposites = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"AffineGrid":                        importAffineGrid,
	"Bernoulli":                         importBernoulli,
	"CausalConvWithState":               causalConv,
	"CenterCropPad":                     importCenterCropPad,
	"Compress":                          importCompress,
	"DeformConv":                        importDeformConv,
	"Einsum":                            importEinsum,
	"GlobalLpPool":                      importGlobalLpPool,
	"ImageDecoder":                      importImageDecoder,
	"LpPool":                            importLpPool,
	"Multinomial":                       importMultinomial,
	"NegativeLogLikelihoodLoss":         importNegativeLogLikelihood,
	"RandomNormal":                      randomComposite(RandomNormal, false, "mean", "scale"),
	"RandomNormalLike":                  randomComposite(RandomNormal, true, "mean", "scale"),
	"RandomUniform":                     randomComposite(RandomUniform, false, "low", "high"),
	"RandomUniformLike":                 randomComposite(RandomUniform, true, "low", "high"),
	"SimplifiedLayerNormalization":      simplifiedLayerNorm, // which ONNX does not have, and ONNX Runtime writes as if it had
	"SoftmaxCrossEntropyLoss":           importSoftmaxCrossEntropy,
	"StringNormalizer":                  importStringNormalizer,
	"StringSplit":                       importStringSplit,
	"SwiGLU":                            importSwiGLU,
	"com.microsoft:CausalConvWithState": causalConv,
	"com.microsoft:LinearAttention":     microsoftLinearAttention,
}

// causalConv is a convolution of each channel of x [B,C,L] with its own weights [C,1,k], of places up to its own; in front of the
// first one are those of the past, [B,C,k-1], or zeros. Output 1 is the next past.
func causalConv(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{3}}, axes{1, []int{3}}, axes{3, []int{3}}); err != nil {
		return nil, err
	}
	channels, err := n.extent(1, 0)
	if err != nil {
		return nil, err
	}
	width, err := n.extent(1, 2)
	if err != nil || width < 1 {
		return nil, fmt.Errorf("the weights are %s, want a known number of them", n.Input(1).TypeString())
	}
	apart := n.Int("dilation", 1)
	if n.Int("ndim", 1) != 1 || n.Flag("channels_last", false) || n.Int("state_update_capacity", 0) != 0 || apart < 1 || apart > maxExtent/width {
		return nil, fmt.Errorf("ndim, channels_last, dilation or state_update_capacity: only one axis of places behind the channels is supported")
	}
	before := (width - 1) * apart
	x := n.Input(0)
	switch past := n.Input(3); {
	case past != nil:
		x = d.Concat(2, past, x)
	case before > 0:
		x = d.Pad(x, 0, 0, 0, before, 0, 0, 0)
	}
	y := d.Conv(x, n.Input(1), n.Input(2), ConvAttrs{Group: channels, Dilations: []int{apart}})
	switch a := n.String("activation", "none"); a {
	case "none":
	case "silu", "swish":
		y = d.Swish(y, 1)
	default:
		return nil, fmt.Errorf("activation %q is unknown; it is none, silu or swish", a)
	}
	last := SliceAttrs{Starts: []int{-before}, Ends: []int{maxExtent}, Axes: []int{2}}
	if before == 0 {
		last.Starts[0], last.Ends[0] = 0, 0
	}
	return []*Tensor{y, d.Slice(x, last)}, nil
}

// microsoftLinearAttention is ONNX's operator, which it was before.
func microsoftLinearAttention(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	if w := n.Int("state_window", 0); w != 0 {
		return nil, fmt.Errorf("state_window %d is not supported", w)
	}
	a, inputs, err := importLinearAttention(n)
	if err != nil {
		return nil, err
	}
	return d.Layers(LinearAttention, a, max(1, min(2, n.Outputs)), inputs...), nil
}
