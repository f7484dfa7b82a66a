package compare

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Options says how contenders are compared.
type Options struct {
	Tolerance report.Tolerance
	Half      report.Tolerance // of tensors that either run stores in f16 or bf16
	// Scaled takes the Abs of the tolerances as shares of the RMS of a tensor, as b has it over all items, and integers must
	// be equal. What is lowered to FP16 or INT8 is then compared by what its rounding explains, which is measured.
	Scaled   bool
	PerLayer bool      // tensors of layers too
	State    run.State // inputs that are the first run's outputs of the batch before
	// Outputs, if it is there, is given what the first run makes of each batch: the outputs of the items that count, from item
	// first on. Where runs are repeated, because a device was lost, it begins again with item 0.
	Outputs func(first int, values map[string]numeric.Value) error
}

// tolerance returns the tolerance for a tensor that the two runs store in these types.
func (c Options) tolerance(types ...numeric.DataType) report.Tolerance {
	for _, t := range types {
		if t == numeric.F16 || t == numeric.BF16 {
			return c.Half
		}
	}
	return c.Tolerance
}
