package compare

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Options says how contenders are compared.
type Options struct {
	Check Check
	Half  report.Tolerance // of tensors that either run stores in f16 or bf16
	// Scaled takes the Abs of the tolerances as shares of the RMS of a tensor, as b has it over all items, and integers must
	// be equal. What is lowered to FP16 or INT8 is then compared by what its rounding explains, which is measured.
	Scaled bool
	// Unexplained is, where Scaled is set, the tolerance for runs of which one is from outside, and was not lowered.
	Unexplained report.Tolerance
	Outputs     map[string]Check // of outputs that have a tolerance of their own, whatever their type
	Top         map[string]Top   // outputs of which places are compared, by name, "" for all others
	PerLayer    bool             // tensors of layers too
	State       run.State        // inputs that are the first run's outputs of the batch before
	// Save, if it is there, is given what each run, by its number, makes of each batch: the outputs of the items that count, from
	// item first on. Where runs are repeated, because a device was lost, it begins again with item 0. SaveInputs is given what
	// they make it of.
	Save       func(run, first int, values map[string]numeric.Value) error
	SaveInputs func(first int, values map[string]numeric.Value) error
}

// Check says what of the differences of a tensor is to be within which tolerance.
type Check struct {
	report.Tolerance
	Statistic string  // one of Statistics; "" is Elementwise
	Quantile  float64 // the share of elements that the statistic quantile is of
	Measures  Measures
}

// Measures are metrics by which an output is judged as a whole, by name with their limits.
type Measures struct {
	Limits map[string]float64
	Alone  bool // the tolerance says nothing beside them
}

// Elementwise is that every element is to be within the tolerance.
const Elementwise = "elemwise"

// Statistics names what may be within the tolerance in place of every element: it is if its absolute difference is at most Abs, or
// its relative one at most Rel.
func Statistics() []string { return []string{"max", "mean", "median", quantile} }

// quantile is the statistic that a share of the elements stays below.
const quantile = "quantile"

// tolerance returns the tolerance for a tensor that the two runs store in these types.
func (c Options) tolerance(types ...numeric.DataType) report.Tolerance {
	for _, t := range types {
		if t == numeric.F16 || t == numeric.BF16 {
			return c.Half
		}
	}
	return c.Check.Tolerance
}

// own returns what is to be checked of an output beside its elements' tolerance; nil where that is all.
func (c Options) own(output string) *Check {
	if k, ok := c.Outputs[output]; ok {
		return &k
	}
	if c.Check.Statistic != "" {
		return &c.Check
	}
	return nil
}

// measures returns the metrics by which an output is judged.
func (c Options) measures(output string) Measures {
	if k, ok := c.Outputs[output]; ok {
		return k.Measures
	}
	return c.Check.Measures
}

// taken returns what is compared of an output's value.
func (c Options) taken(output string, v numeric.Value) (numeric.Value, error) {
	top, ok := c.Top[output]
	if !ok {
		top, ok = c.Top[""]
	}
	if !ok {
		return v, nil
	}
	places, ok := top.of(v)
	if !ok {
		return v, fmt.Errorf("the highest elements along axis %d are asked for, and it is %s%v", top.Axis, v.Type, v.Dims)
	}
	return places, nil
}
