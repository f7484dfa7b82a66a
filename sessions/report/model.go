package report

import (
	"fmt"
	"strings"
)

// Model describes the source network as it was imported (trtui inspect model).
type Model struct {
	Name     string `output:"-"`                   // of its file
	Graph    string `json:",omitempty" output:"-"` // the graph's own name, which the exporter gave
	Path     string `output:"-"`                   // Embedded for the model in the program
	Bytes    int64  `output:"-"`
	SHA256   string `output:"-"`
	Kind     string `output:"-"` // "onnx", "engine"
	Inputs   []Tensor
	Outputs  []Tensor
	Layers   []Layer
	Params   int64          `output:"parameters"`          // elements of constants
	FLOPs    int64          `output:"flops"`               // two for each multiply-add of convolutions and matrix products, at the session's shapes
	Ops      map[string]int `entry:"op,layers"`            // layers by op
	Data     string         `output:"-"`                   // where inputs come from
	Random   bool           `output:"-"`                   // the data is random: accuracy is agreement only
	Items    int            `output:"-"`                   // of evaluation data
	CalItems int            `output:"-"`                   // of calibration data
	Shared   int            `output:"-" json:",omitempty"` // items of calibration data that are evaluated, too
	Labelled bool           `output:"-"`
	Notes    []string       `json:",omitempty"`            // what a person should know of it: shapes of outputs that its file has wrong, dropout that is at work
	Images   string         `output:"-" json:",omitempty"` // to which size image files are brought, and how
	// Stripped says that it is an engine without the model that it was built from: there is nothing to compare or calibrate.
	Stripped bool `json:",omitempty" output:"-"`
	// Requantized says that the model brought its own quantisation, which was dropped.
	Requantized bool `json:",omitempty"`
	// Viewed says of which kind of another program's files this is read: there is nothing to run, and no report but those that the files
	// tell of.
	Viewed string `json:",omitempty"`
	// ByName says that no layer of such files tells its source layers: they are what its name is made of.
	ByName bool `json:",omitempty"`
	// Bindings are the names of inputs and outputs of which such files do not tell which they are.
	Bindings []string `json:",omitempty"`
	// NotRunnable says in a line why the model can only be looked at: there are no reports but this one and of passes.
	NotRunnable string             `json:",omitempty"`
	Unsupported []UnsupportedLayer // its layers that cannot be imported
}

// Tensor describes a tensor.
type Tensor struct {
	Name  string
	Type  string // "?" where it is not known, and neither are the dims
	Dims  string // as in "[batch,3,224,224]"
	Shape []int  // at the session's shapes
	Range string `json:",omitempty"`
}

// Layer describes a layer of either graph: of the source network, or of the engine's.
type Layer struct {
	Name      string
	Op        string
	Attrs     string   `json:",omitempty"`
	Epilogue  string   `json:",omitempty"`
	From      []string // source layers
	Inputs    []string // names of the tensors that are not constants
	Outputs   []Tensor //
	Precision string   // "f32", "f16", "i8", "u8", or the type of its output where it does no arithmetic
	Weights   int      `json:",omitempty" unit:"bytes"` // of constants
	FLOPs     int64    `json:",omitempty" output:"flops"`
	Kernel    []int    `json:",omitempty"` // extents of a convolution's window
	Text      string   // its line in the network's text form
	Details   []Detail `json:",omitempty"` // what the attributes do not say

	Inside string `json:",omitempty"` // the layer whose body it is in: an If, a Loop or a Scan
	Body   string `json:",omitempty"` // which of its bodies, as "then"
	Depth  int    `json:",omitempty"` // how many layers it is in, one in the other

	Unsupported string `json:",omitempty"` // why the layer cannot be imported
	Behind      string `json:",omitempty"` // the layer to blame for that; empty: this one
}

// Detail is a fact about a layer: that an attention has 12 heads of 64.
type Detail struct {
	Name string
	Text string
	Size int64 `json:",omitempty" unit:"bytes"` // of what it is about, if that is memory
}

// UnsupportedLayer is a layer of the source network that stands for a node that cannot be imported.
type UnsupportedLayer struct {
	Layer  string
	Op     string // the ONNX operator
	Domain string // of the operator; empty: ONNX's own
	Reason string
	Behind string `json:",omitempty"` // the layer without which nothing would stand in the way; empty: this one
}

// MemberSeparator stands between the members in a fused layer's name, the principal one first.
const MemberSeparator = " + "

// Members returns the members that a fused layer's name names, the principal one first.
func Members(name string) []string { return strings.Split(name, MemberSeparator) }

// Principal returns the principal member of a layer's name and, for a fused layer, the number of the others, as in "conv1"
// and " +2".
func Principal(name string) (member, others string) {
	member, rest, fused := strings.Cut(name, MemberSeparator)
	if fused {
		others = fmt.Sprintf(" +%d", 1+strings.Count(rest, MemberSeparator))
	}
	return member, others
}

// Quantized reports whether a model brings quantisation of its own; it may be nil.
func (m *Model) Quantized() bool {
	return m != nil && m.Ops["QuantizeLinear"]+m.Ops["DequantizeLinear"] > 0
}
