package sessions

import "slices"

// Config is what a person toggles: the part of a build's configuration that a session can change while it is open.
type Config struct {
	Precision       Precision
	Calibrator      string              // as in quant's table: "entropy", "percentile:99.9"
	Batch           int                 // the value of unbound batch symbols; at least 1
	Shapes          map[string][]int    `json:",omitempty" entry:"input,shape"`   // of inputs, where Batch does not say enough
	Disable         []string            `json:",omitempty"`                       // rules ("fuse-conv-bn") and sites ("fuse-conv-bn(Conv_3,BatchNormalization_4)")
	Until           int                 `json:",omitempty" output:"passes_until"` // stop after so many passes; 0: all
	LayerPrecisions []string            `json:",omitempty"`                       // trtexec's grammar: "Conv_3:fp32", "*head*:fp16"; later ones win
	Pin             map[string]string   `json:",omitempty" entry:"layer,tactic"`  // tactic by layer
	Forbid          map[string][]string `json:",omitempty" entry:"layer,tactics"` // tactics by layer
}

// Precision is the number format that a build may use for arithmetic.
type Precision string

// The precisions.
const (
	FP32 Precision = "fp32"
	FP16 Precision = "fp16"
	INT8 Precision = "int8"
)

// Next returns the precision that follows p when a person cycles through them.
func (p Precision) Next() Precision {
	all := []Precision{FP32, FP16, INT8}
	return all[(slices.Index(all, p)+1)%len(all)]
}
