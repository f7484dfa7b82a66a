package report

import (
	"slices"
	"time"
)

// Calibration compares calibrators tensor by tensor (trtui calibrate --compare).
type Calibration struct {
	Calibrators []string // "minmax", "entropy", "percentile:99.99", "mse"
	Active      string
	Tensors     []TensorCalibration
	Weights     []WeightCalibration `json:",omitempty"`
	Batches     int
	HeldOut     int `json:",omitempty" output:"held_out_items"`  // items that calibration did not see, on which the best calibrator is found
	Shared      int `json:",omitempty" output:"items_evaluated"` // items of the data that are evaluated, too
	Random      bool
	Elapsed     time.Duration
}

// Name names result i of every tensor: a calibrator, or behind the last of them the model itself.
func (c *Calibration) Name(i int) string {
	if i < len(c.Calibrators) {
		return c.Calibrators[i]
	}
	return OwnName
}

// HasOwn reports whether the model brings the range of any tensor.
func (c *Calibration) HasOwn() bool {
	return slices.ContainsFunc(c.Tensors, func(t TensorCalibration) bool { return t.Own != nil })
}

// Results returns what every calibrator makes of the tensor, and behind the last what the range that the model brings does.
func (t *TensorCalibration) Results() []*CalibratorResult {
	var list []*CalibratorResult
	for i := range t.By {
		list = append(list, &t.By[i])
	}
	if t.Own != nil {
		list = append(list, &t.Own.CalibratorResult)
	}
	return list
}

// Best reports whether no other of the results loses less than the i-th on what was held out; false where nothing was.
func (t *TensorCalibration) Best(i int) bool {
	all := t.Results()
	if i >= len(all) || all[i].HeldOut == nil {
		return false
	}
	return !slices.ContainsFunc(all, func(r *CalibratorResult) bool { return r.HeldOut != nil && *r.HeldOut > *all[i].HeldOut })
}

// TensorCalibration is one tensor under every calibrator.
type TensorCalibration struct {
	Tensor    string
	Layer     string // its producer, "" for a network input
	Min, Max  float32
	Mean, Std float64
	Zeros     float64 `unit:"share"`
	Count     int64
	Histogram HistogramBins
	By        []CalibratorResult // in the order of Calibrators
	Used      bool               // the engine quantises it

	// Own is the range that the model itself brings for the tensor, in its quantisation that is used or was dropped; nil where it has none.
	Own *OwnRange `json:",omitempty"`

	// Reach tells how far the channels reach under the active calibrator's range; nil where that was not collected, as of a file.
	Reach *ChannelReach `json:",omitempty"`
}

// HistogramBins are equally wide bins from Low to High, few enough to draw.
type HistogramBins struct {
	Low, High float32
	Counts    []int64
}

// CalibratorResult is what one calibrator makes of one tensor.
type CalibratorResult struct {
	Amax  float32 // the largest magnitude of the range
	Low   float32 // where the range begins and ends; both 0 in recordings of older programs
	High  float32
	Scale float32
	Zero  int32
	Clip  float64 `unit:"share"`                     // of elements outside
	Loss  float64 `unit:"share" output:"clip_error"` // of the squared error that is of those; the rest is rounding
	KL    float64 `unit:"nats"`                      // divergence of the quantised distribution
	SQNR  float64 `unit:"db" exact:"exact"`          // expected

	// HeldOut is the SQNR of items that calibration did not see; nil where there are none.
	HeldOut *float64 `json:",omitempty" unit:"db" output:"held_out_sqnr" exact:"held_out_exact"`
}

// Ends returns where the range begins and ends.
func (r *CalibratorResult) Ends() (low, high float64) {
	if r.Low == 0 && r.High == 0 {
		return -float64(r.Amax), float64(r.Amax)
	}
	return float64(r.Low), float64(r.High)
}

// OwnName is what the range that a model brings is called beside those of calibrators.
const OwnName = "the model's"

// OwnRange is a range that the model brings, and what it makes of the same values as the calibrators.
type OwnRange struct {
	CalibratorResult
	Type   string // of its integers: "u8" or "i8"
	Clamps bool   // an activation is part of it, which was removed in front: it was assessed on what that would leave
}

// WeightCalibration tells what 8 bits make of the weights of one layer of the optimised network, channel by channel
// (trtui calibrate --weights). Where a layer has more than maxWeightBars channels, an entry of the lists is that of Group
// neighbours: the largest Amax and the least ratios.
type WeightCalibration struct {
	Layer      string
	From       []string // source layers
	Op         string
	Tensor     string
	Dims       []int
	Channels   int // of the output; 1 where all weights share a scale
	Group      int
	Amax       []float32 // the scale is a 127th of it
	SQNR       []float64 `unit:"db" exact:"exact"`                                             // with a scale for each channel
	Shared     []float64 `unit:"db" output:"per_tensor_sqnr" exact:"per_tensor_exact"`         // with one scale for all
	PerChannel float64   `unit:"db" output:"all_sqnr" exact:"all_exact"`                       // of all weights, with a scale for each channel
	PerTensor  float64   `unit:"db" output:"all_per_tensor_sqnr" exact:"all_per_tensor_exact"` // of all weights, with one scale
	Spread     float64   `unit:"ratio"`                                                        // the largest Amax over the median one
	Outliers   []int     `json:",omitempty"`                                                   // channels that reach at least twice as far as all others, the furthest first
	Dead       []int     `output:"nearly_dead_channels"`                                       // whose Amax is under a hundredth of the median, the first few
	DeadCount  int       `output:"nearly_dead"`
	Given      bool      // the model brings them in integers, which are used as they are
	Used       bool      // the engine multiplies with them in 8 bits
}

// calibrationTables are what queries find of the report beside its JSON.
const calibrationTables = `
CREATE TABLE ranges (            -- what every calibrator makes of every tensor
  config     INTEGER NOT NULL REFERENCES configs(id),
  tensor     TEXT NOT NULL,
  layer      TEXT,                 -- its producer; NULL for an input of the network
  calibrator TEXT NOT NULL,
  used       INTEGER NOT NULL,     -- 1: the engine quantises this tensor
  min        REAL, max REAL, mean REAL, std REAL,
  amax       REAL, scale REAL, zero INTEGER,
  clip       REAL,                 -- share of elements outside
  kl         REAL,                 -- divergence, in nats
  sqnr_db    REAL,
  PRIMARY KEY (config, tensor, calibrator)
) WITHOUT ROWID;
`

// rows are what queries find.
func (c *Calibration) rows(add AddRow) error {
	for _, t := range c.Tensors {
		for i, r := range t.Results() {
			err := add("ranges", t.Tensor, OrNull(t.Layer), c.Name(i), t.Used, t.Min, t.Max, t.Mean, t.Std,
				r.Amax, r.Scale, r.Zero, r.Clip, r.KL, r.SQNR)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
