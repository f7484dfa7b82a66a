package report

import (
	"fmt"

	"github.com/trtui/trtui/sessions/config"
)

// Comparison sets runs of one model on several backends side by side (trtui run).
type Comparison struct {
	Model      string `output:"-"` // the head has it
	Precision  string
	Calibrator string `json:",omitempty"`
	Data       string `output:"-"`
	Random     bool   `json:",omitempty" output:"-"`
	Items      int
	Tolerance  Tolerance
	Half       Tolerance        `output:"half_tolerance"` // of tensors that either run stores in f16 or bf16
	Scaled     bool             `json:",omitempty"`       // the Abs of both are shares of the RMS of b of a tensor
	Rounding   *RoundingFactors `json:",omitempty"`       // tolerances are those of every tensor's Rounding, but for integers; nil: as above
	Runs       []BackendRun
	Pairs      []Pair   // the first run with each of the others
	Invalid    []string `json:",omitempty"` // runs and outputs with elements that are NaN or infinite, where none may be
	Passed     bool
}

// Validate has the comparison fail where an output of a run has elements that are NaN or infinite.
func (c *Comparison) Validate() {
	for _, r := range c.Runs {
		for _, o := range r.Outputs {
			if o.NotFinite > 0 {
				c.Invalid = append(c.Invalid, fmt.Sprintf("%s: output %s has %s of %d that are NaN or infinite", r.Name, o.Name, config.CountOf(o.NotFinite, "element", "elements"), o.Count))
				c.Passed = false
			}
		}
	}
}

// Tolerance says when two numbers a and b agree: |a - b| <= Abs + Rel |b|. Equal infinities agree, and two NaN.
type Tolerance struct {
	Abs, Rel float64
}

// BackendRun is what one backend made of the items.
type BackendRun struct {
	Name      string
	Device    Device
	Launches  int
	Replanned string `json:",omitempty"` // why the plan is not the engine file's
	Outputs   []OutputStats
	Classes   []ItemClasses `json:",omitempty"` // of the first output that looks like scores of classes
}

// OutputStats describes the elements of one output over all items; positions are those of the first such element.
type OutputStats struct {
	Name      string
	Type      string
	Shape     []int
	Count     int
	NotFinite int
	Mean, Std float64
	Min, Max  float64
	MinAt     Position
	MaxAt     Position
	First     []string `json:",omitempty"` // of strings, which have no mean, the first few
}

// Position is an element's place.
type Position struct {
	Item  int
	Index []int
}

// ItemClasses are the highest scores of an item, best first.
type ItemClasses struct {
	Item  int
	Label int // -1 where there is none
	Top   []ClassScore
}

// ClassScore is the score of a class.
type ClassScore struct {
	Class int
	Score float64
}

// Pair compares two runs: First gives the numbers a, Second b.
type Pair struct {
	First, Second string
	Passed        bool // outputs agree
	Outputs       []TensorDifference
	Layers        []TensorDifference `json:",omitempty"` // in the first run's order, of tensors that both have
	FirstBad      string             `json:",omitempty"` // the first layer over the tolerance
	Unmatched     int                `json:",omitempty"` // tensors of the first run's layers that the second has not
}

// TensorDifference is how a tensor of one run differs from the other's.
type TensorDifference struct {
	Name          string
	Layer         string `json:",omitempty"` // of the first run that computes it
	Op            string `json:",omitempty"`
	Type          string // as the first run stores it
	SecondType    string
	Shape         []int
	Count         int // elements of all items
	Differ        int // that are not equal
	Over          int // that do not agree
	BothNotFinite int `json:",omitempty"` // that are equal as NaN or as the same infinity: an agreement that says little
	Passed        bool
	Tolerance     Tolerance
	Statistic     *Statistic    `json:",omitempty"`                           // that is to be within the tolerance; nil: every element is
	Metrics       []MetricValue `json:",omitempty"`                           // by which it is judged as a whole
	Alone         bool          `json:",omitempty" output:"by_metrics_alone"` // the tolerance decides nothing
	Errors
	RelToPass float64       `json:",omitempty"` // the relative tolerance that alone is enough; 0: none is, or none is needed
	MaxAt     Position      // of the largest absolute difference
	Unlike    *UnlikeShapes `json:",omitempty"` // items of which it has another shape in each run: they cannot be compared, and fail
	Rounding  *Rounding     `json:",omitempty"` // what the tolerance was found by; nil where it was not measured
	Steps     *Steps        `json:",omitempty"` // of a tensor that was quantised, where all that differ do by one step
	Worst     []DifferingElement
	Histogram []DifferenceBin
}

// UnlikeShapes are the items on which a tensor has another shape in each of two runs.
type UnlikeShapes struct {
	Inferences    int   // of one or several items each
	First, Second []int // the shapes in the first of them
}

// Statistic is what all elements together are checked by, in place of each of them: it is within the tolerance if the absolute
// differences' is at most Abs, or the relative ones' at most Rel.
type Statistic struct {
	Name     string // max, mean, median, quantile 0.99
	Abs, Rel float64
}

// MetricValue is what a measure of a whole output is in the worst of all batches, and what it may be.
type MetricValue struct {
	Name   string // l2, cosine_similarity, psnr, snr, indices
	Value  float64
	Limit  float64
	Least  bool `output:"at_least"` // Value is to be at least Limit, not at most
	Passed bool
}

// Rounding is how far two runs in FP16 or INT8 are from FP32 on the same items, and by how much they may therefore differ:
// every element by MaxAbs, all of them by RMS.
type Rounding struct {
	From   string  `json:",omitempty"`             // what shows it; empty: FP32
	First  float64 `unit:"db" exact:"first_exact"` // SQNR of the runs to that
	Second float64 `unit:"db" exact:"second_exact"`
	MaxAbs float64
	RMS    float64
	RMSE   float64 // by which they do differ
}

// Steps are elements of a quantised tensor that are one step of its scale apart, where none is further: sums in the middle between
// two integers are rounded to either. Up to Most of them are no defect, whatever the tolerance is.
type Steps struct {
	Scale    float64
	Elements int
	Most     int
}

// DifferingElement is one of the elements that are furthest beyond the tolerance, or nearest to it.
type DifferingElement struct {
	Position
	First, Second float64
	Abs, Rel      float64 // differences; Rel is that to |Second|, infinite where that is 0
}

// DifferenceBin counts elements whose absolute difference is at least From and below To: decades, the first of which
// holds equal elements, the last those that are not numbers.
type DifferenceBin struct {
	From, To float64
	Count    int
}

// RoundingFactors are by what a precision's difference from FP32 explains that of two runs in it. Two right ones round in
// different places: a product is summed in another order, an intermediate result is kept wider. How far that takes them
// apart grows from layer to layer: in FP16 it may be 100 dB below the signal behind the first layer and 40 dB behind the
// last. No fixed tolerance serves both. So the difference from FP32 is measured, on the same items, and one between the runs
// that it does not explain is an error. It is that of the run which is nearer to FP32: a wrong kernel in the other does not
// widen its own tolerance.
type RoundingFactors struct {
	RMS  float64 // times the RMS of the difference from FP32
	Peak float64 // times its largest element, of which there is one in a tensor
	From string  `json:",omitempty"` // a variant of a run, of which that is the difference, and not of FP32
}
