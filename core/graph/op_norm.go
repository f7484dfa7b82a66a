package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// BatchNormAttrs are the attributes of a batch normalisation.
type BatchNormAttrs struct{ Epsilon float32 }

// BatchNorm is y = (x - mean) / sqrt(var + epsilon) * scale + bias for x [N,C,...] and scale, bias, mean, var [C] (inputs 1
// to 4). Of ONNX's BatchNormalization the importer makes other layers where training_mode is 1; the outputs that training had before
// operator set 14 are not supported.
var BatchNorm = &Op{
	Name:  "BatchNormalization",
	Attrs: BatchNormAttrs{},
	Onnx:  []string{"BatchNormalization"},
	Class: ClassNorm, Inputs: []Role{Data, Coefficients}, Memory: Written,
	Moves: computed,
	FLOPs: batchNormFLOPs,
	Infer: func(l *Layer) error { return inferPerChannel(l, 1, 2, 3, 4) },
	Eval:  evalBatchNorm,
	Export: func(e *Exporter) error {
		return e.Node("BatchNormalization", Attributes{"epsilon": e.Layer.Attrs.(BatchNormAttrs).Epsilon})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		n.Float("momentum", 0.9) // of training
		if n.Version < 9 {
			n.Flag("spatial", true) // the importer makes other layers of a false one
		}
		if n.Version >= 14 {
			n.Flag("training_mode", false) // as of spatial
		}
		if n.Outputs > 1 {
			return nil, nil, fmt.Errorf("outputs of training are not supported; export the model for inference")
		}
		return BatchNormAttrs{Epsilon: n.Float("epsilon", 1e-5)}, n.Inputs, nil
	},
}

// InstanceNormAttrs are the attributes of an instance normalisation.
type InstanceNormAttrs struct{ Epsilon float32 }

// InstanceNorm is y = (x - mean) / sqrt(var + epsilon) * scale + bias for x [N,C,...] and scale, bias [C], with mean and
// variance of each channel of each item over its spatial axes.
var InstanceNorm = &Op{
	Name:  "InstanceNormalization",
	Attrs: InstanceNormAttrs{},
	Onnx:  []string{"InstanceNormalization"},
	Class: ClassNorm, Inputs: []Role{Data, Coefficients}, Memory: Written,
	Moves: computed,
	FLOPs: instanceNormFLOPs,
	Infer: func(l *Layer) error { return inferPerChannel(l, 1, 2) },
	Eval:  evalInstanceNorm,
	Export: func(e *Exporter) error {
		return e.Node("InstanceNormalization", Attributes{"epsilon": e.Layer.Attrs.(InstanceNormAttrs).Epsilon})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return InstanceNormAttrs{Epsilon: n.Float("epsilon", 1e-5)}, n.Inputs, nil
	},
}

// GroupNormAttrs are the attributes of a group normalisation.
type GroupNormAttrs struct {
	Epsilon  float32
	Groups   int
	PerGroup bool // scale and bias are [Groups], as in opset 18, not [C]
}

// GroupNorm is y = (x - mean) / sqrt(var + epsilon) * scale + bias for x [N,C,...] and scale, bias [C] or [Groups], with mean
// and variance of each group of C/Groups channels of each item over these channels and the spatial axes.
var GroupNorm = &Op{
	Name:  "GroupNormalization",
	Attrs: GroupNormAttrs{},
	Onnx:  []string{"GroupNormalization"},
	Class: ClassNorm, Inputs: []Role{Data, Coefficients}, Memory: Written,
	Moves:  computed,
	FLOPs:  groupNormFLOPs,
	Infer:  inferGroupNorm,
	Eval:   evalGroupNorm,
	Export: exportGroupNorm,
	Import: func(n *Node) (any, []*Tensor, error) {
		n.Int("stash_type", 1) // Eval computes in float64, whatever the type asked for
		a := GroupNormAttrs{Epsilon: n.Float("epsilon", 1e-5), Groups: n.Int("num_groups", 0), PerGroup: n.Version < 21}
		return a, n.Inputs, nil
	},
}

// LayerNormAttrs are the attributes of a layer or root-mean-square normalisation.
type LayerNormAttrs struct {
	Axis    int // the first normalised axis; counts from the end if negative
	Epsilon float32
}

// LayerNorm is y = (x - mean) / sqrt(var + epsilon) * scale + bias with mean and variance over all axes from Axis on, to
// which scale and the optional bias broadcast. The optional outputs 1 and 2 are mean and 1/sqrt(var + epsilon), whose
// normalised axes have extent 1.
var LayerNorm = &Op{
	Name:  "LayerNormalization",
	Attrs: LayerNormAttrs{},
	Onnx:  []string{"LayerNormalization"},
	Class: ClassNorm, Inputs: []Role{Data, Coefficients}, Memory: Written,
	Moves:  computed,
	FLOPs:  layerNormFLOPs(6),
	Infer:  inferLayerNorm,
	Eval:   func(l *Layer, in, out []numeric.Value) error { return evalLayerNorm(l, in, out, true) },
	Import: importLayerNorm,
	Export: exportLayerNorm,
}

// RMSNorm is y = x / sqrt(mean(x*x) + epsilon) * scale with the mean over all axes from Axis on.
var RMSNorm = &Op{
	Name:  "RMSNormalization",
	Attrs: LayerNormAttrs{},
	Onnx:  []string{"RMSNormalization"},

	Class: ClassNorm, Inputs: []Role{Data, Coefficients}, Memory: Written,
	Moves:  computed,
	FLOPs:  layerNormFLOPs(4),
	Infer:  inferLayerNorm,
	Eval:   func(l *Layer, in, out []numeric.Value) error { return evalLayerNorm(l, in, out, false) },
	Import: importLayerNorm,
	Export: exportLayerNorm,
}

func exportLayerNorm(e *Exporter) error {
	a, since := e.Layer.Attrs.(LayerNormAttrs), OldestExport
	if e.Layer.Op.Name == "RMSNormalization" {
		since = 23
	}
	return e.NodeSince(since, e.Layer.Op.Name, Attributes{"axis": a.Axis, "epsilon": a.Epsilon})
}

// exportGroupNorm repeats scales and biases of groups for their channels, as operator sets from 21 on have them.
func exportGroupNorm(e *Exporter) error {
	a, inputs := e.Layer.Attrs.(GroupNormAttrs), e.Inputs()
	if a.PerGroup {
		channels, ok := e.Layer.Inputs[0].Dims[1].IsConst()
		if !ok {
			return fmt.Errorf("a scale for each group of an unknown number of channels")
		}
		for i := 1; i < len(inputs); i++ {
			column := e.Step("Reshape", nil, inputs[i], e.list("column", []int{a.Groups, 1}))
			wide := e.Step("Expand", nil, column, e.list("groups", []int{a.Groups, channels / a.Groups}))
			inputs[i] = e.Step("Reshape", nil, wide, e.list("channels", []int{channels}))
		}
	}
	return e.Node("GroupNormalization", Attributes{"epsilon": a.Epsilon, "num_groups": a.Groups}, inputs...)
}

func importLayerNorm(n *Node) (any, []*Tensor, error) {
	n.Int("stash_type", 1) // Eval computes in float64, whatever the type asked for
	return LayerNormAttrs{Axis: n.Int("axis", -1), Epsilon: n.Float("epsilon", 1e-5)}, n.Inputs, nil
}

// LRNAttrs are the attributes of a local response normalisation.
type LRNAttrs struct {
	Size              int // channels that are summed over
	Alpha, Beta, Bias float32
}

// LRN is y = x / (bias + alpha/size * s)^beta for x [N,C,...], s being the sum of squares over the size channels around each
// one: from c - floor((size-1)/2) to c + ceil((size-1)/2).
var LRN = &Op{
	Name:  "LRN",
	Attrs: LRNAttrs{},
	Onnx:  []string{"LRN"},
	Class: ClassNorm, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: lrnFLOPs,
	Infer: func(l *Layer) error {
		if a := l.Attrs.(LRNAttrs); a.Size < 1 {
			return fmt.Errorf("size is %d, want at least 1", a.Size)
		}
		return inferPerChannel(l)
	},
	Eval: evalLRN,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(LRNAttrs)
		return e.Node("LRN", Attributes{"size": a.Size, "alpha": a.Alpha, "beta": a.Beta, "bias": a.Bias})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		a := LRNAttrs{Size: n.Int("size", 0), Alpha: n.Float("alpha", 1e-4), Beta: n.Float("beta", 0.75), Bias: n.Float("bias", 1)}
		return a, n.Inputs, nil
	},
}

// LpNormAttrs are the attributes of a normalisation by an Lp norm.
type LpNormAttrs struct {
	Axis int // counts from the end if negative
	P    int // 1 or 2
}

// LpNorm is y = x / norm, the L1 or L2 norm of x along one axis; 0 where the norm is 0.
var LpNorm = &Op{
	Name:  "LpNormalization",
	Attrs: LpNormAttrs{},
	Onnx:  []string{"LpNormalization"},
	Class: ClassNorm, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: lpNormFLOPs,
	Infer: func(l *Layer) error {
		a := l.Attrs.(LpNormAttrs)
		if a.P != 1 && a.P != 2 {
			return fmt.Errorf("p is %d, want 1 or 2", a.P)
		}
		return inferAlong(l, a.Axis)
	},
	Eval: evalLpNorm,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(LpNormAttrs)
		return e.Node("LpNormalization", Attributes{"axis": a.Axis, "p": a.P})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return LpNormAttrs{Axis: n.Int("axis", -1), P: n.Int("p", 2)}, n.Inputs, nil
	},
}

// MeanVarianceNormAttrs are the attributes of a mean variance normalisation.
type MeanVarianceNormAttrs struct{ Axes []int }

// MeanVarianceNorm is y = (x - mean) / (sqrt(var) + 1e-9) with mean and variance over the given axes.
var MeanVarianceNorm = &Op{
	Name:  "MeanVarianceNormalization",
	Attrs: MeanVarianceNormAttrs{},
	Onnx:  []string{"MeanVarianceNormalization"},
	Class: ClassNorm, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: meanVarianceFLOPs,
	Infer: func(l *Layer) error {
		if err := l.needNumbers(0); err != nil {
			return err
		}
		x := l.Inputs[0]
		if _, err := axesIn(l.Attrs.(MeanVarianceNormAttrs).Axes, len(x.Dims)); err != nil {
			return err
		}
		return inferSame(l)
	},
	Eval: evalMeanVarianceNorm,
	Export: func(e *Exporter) error {
		return e.Node("MeanVarianceNormalization", Attributes{"axes": e.Layer.Attrs.(MeanVarianceNormAttrs).Axes})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		a := MeanVarianceNormAttrs{Axes: n.Ints("axes")}
		if !n.Has("axes") {
			a.Axes = []int{0, 2, 3}
		}
		return a, n.Inputs, nil
	},
}
