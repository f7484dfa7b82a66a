package report

import "fmt"

// Accuracy compares the engine with FP32 (trtui eval --per-layer).
type Accuracy struct {
	Precision  string
	Calibrator string
	Ranges     string `json:",omitempty"`                                      // where the ranges that the calibrator found come from
	Shared     int    `json:",omitempty" output:"calibration_items_evaluated"` // items that they were found on which are evaluated, too
	Layers     []LayerError
	Outputs    []OutputError  // those that can be compared on some item
	Unlike     []UnlikeOutput `json:",omitempty"` // those that cannot be on some, or on none
	Labels     LabelAccuracy

	UnlikeLayers []string `json:",omitempty"`                      // whose outputs have other sizes than FP32's on some items, which are left out
	Task         string   `json:",omitempty"`                      // by which accuracy is measured; empty in recordings of older programs
	Tolerance    float64  `unit:"db"`                              // SQNR under which a layer counts as bad
	Worst        string   `json:",omitempty" output:"worst_layer"` // the layer that adds most
	FirstBad     string   // the first layer under it by what it adds, not by what those before it have added up
	Items        int      // compared for outputs and labels
	TapItems     int      // compared for layers
	Random       bool
	Reference    bool `json:",omitempty"` // the engine is the one that others are compared with: outputs differ from themselves in nothing
	// OwnQuantization says that what is compared with has the model's own quantisation in it: FP32 computes between its
	// QuantizeLinear and DequantizeLinear, and their rounding is no error.
	OwnQuantization bool `json:",omitempty"`
	// RandomRanges says that the ranges come from random input.
	RandomRanges bool `json:",omitempty"`
	// Alone says that there is no FP32 to compare with: the engine has not got the model that it was built from. What it makes of
	// labels is known.
	Alone bool `json:",omitempty" output:"without_fp32"`
}

// WhyAlone says why an engine is not compared with FP32.
const WhyAlone = "not compared with FP32: the engine has not got its model"

// Forget leaves of a comparison what the engine makes of labels, where there was no FP32.
func (a *Accuracy) Forget() {
	a.Alone, a.Reference, a.OwnQuantization = true, false, false
	a.Outputs, a.Unlike = nil, nil
	l := &a.Labels
	l.FP32Top1, l.FP32Top5, l.Agreement = -1, -1, -1
	l.AgreementWithin, l.BesideFP32, l.FP32Perplexity = nil, nil, nil
	if d := l.Detection; d != nil {
		d.FP32MAP, d.FP32MAP50, d.BesideFP32 = -1, -1, nil
	}
}

// Judged names what is compared with the labels where one alone is: FP32, but for an engine without it.
func (a *Accuracy) Judged() string {
	if a.Alone {
		return "the engine"
	}
	return "FP32"
}

// Against names what an engine is compared with.
func (a *Accuracy) Against() string {
	return a.against("FP32")
}

// OutputsAgainst names what outputs are compared with: what the FP32 engine computes.
func (a *Accuracy) OutputsAgainst() string { return a.against("the FP32 engine") }

// LayersAgainst names what layers are compared with: those of the model as it is, which nothing fuses.
func (a *Accuracy) LayersAgainst() string { return a.against("the FP32 model") }

func (a *Accuracy) against(what string) string {
	if a != nil && a.OwnQuantization {
		return what + " with the model's Q/DQ"
	}
	return what
}

// Errors are measures of the difference between two tensors.
type Errors struct {
	MaxAbs, MeanAbs, MedianAbs float64
	Bias                       float64 // the mean difference, with its sign
	BiasShare                  float64 `json:",omitempty" unit:"share" output:"bias"` // of the error's power that goes with the means of channels; of layers
	MaxRel, MeanRel            float64
	L2                         float64
	Cosine                     float64
	SQNR                       float64 `unit:"db" exact:"exact"` // MaxDB stands for equality, of PSNR too
	PSNR                       float64 `unit:"db"`
	NotFinite                  uint64  `json:",omitempty"` // elements that are NaN or infinite in one or both; then SQNR is -200
}

// LayerError is one engine layer's error at its output.
type LayerError struct {
	Name        string
	Op          string
	Precision   string
	Tensor      string
	From        []string
	Accumulated Errors // the engine as it is against FP32
	Local       Errors // the layer alone, given FP32's inputs

	Cause                    *LayerCause `json:",omitempty"` // of the own error; nil in recordings of older programs
	AccumulatedMap, LocalMap *ErrorMap   `json:",omitempty"` // of the first output; nil in recordings of older programs
}

// AddedSQNR returns what a layer adds, or its own error where that is not known, as of older recordings.
func (l *LayerError) AddedSQNR() float64 {
	if l.Cause == nil {
		return l.Local.SQNR
	}
	return l.Cause.Adds
}

// WorstLayer returns the place of the layer that adds most error; -1 where there is none.
func (a *Accuracy) WorstLayer() int {
	worst := -1
	for i := range a.Layers {
		if worst < 0 || a.Layers[i].AddedSQNR() < a.Layers[worst].AddedSQNR() {
			worst = i
		}
	}
	return worst
}

// OutputError is one network output's error.
type OutputError struct {
	Name string
	Errors
	SQNRWithin *Within `json:",omitempty" output:"sqnr_within"` // in dB
}

// UnlikeOutput is an output that has other shapes than FP32's on some items, as where it depends on scores how many boxes are
// found: of those there is no error.
type UnlikeOutput struct {
	Name             string
	Number           int // of the network's outputs, from 0
	Items            int // whose shapes differ
	OfItems          int
	Shape, FP32Shape []int // of the first of them
}

// Why says of how many items there is an error, and why not of the others.
func (u *UnlikeOutput) Why() string {
	return fmt.Sprintf("compared on %d of %d items: of the others its shape, which depends on the data, is not FP32's, as %v beside %v",
		u.OfItems-u.Items, u.OfItems, u.Shape, u.FP32Shape)
}

// First returns the error of the network's first output; nil where that cannot be compared.
func (a *Accuracy) First() *OutputError {
	if len(a.Outputs) == 0 || len(a.Unlike) > 0 && a.Unlike[0].Number == 0 && a.Unlike[0].Items == a.Unlike[0].OfItems {
		return nil
	}
	return &a.Outputs[0]
}

// LabelAccuracy is the quality of classification; shares from 0 to 1, -1 where there are no labels, or no FP32.
type LabelAccuracy struct {
	Top1, Top5         float64 `unit:"share"`
	FP32Top1, FP32Top5 float64 `unit:"share"`
	Agreement          float64 `unit:"share"` // of items, or tokens of a text, whose first class is FP32's; -1 where there are no classes

	// Unclassed says why there are no classes that FP32's could be compared with, as of a detector: the largest of many values that
	// are no scores of one item says little.
	Unclassed string `json:",omitempty"`

	AgreementWithin *Within `json:",omitempty"`

	// Which items are answered right, to compare engines by; nil without labels, and of texts, whose tokens are not independent.
	Answers    *Answers `json:",omitempty" output:"-"`
	BesideFP32 *Sign    `json:",omitempty" output:"beside_fp32"` // whether top-1 can be told from FP32's

	Detection *Detection `json:",omitempty"` // of boxes

	// Of a text: how many tokens are followed by one that is known, and the perplexity of those, the exponential of the mean of
	// -log of how likely they are; nil where that is no number.
	Tokens                     int      `json:",omitempty"`
	Perplexity, FP32Perplexity *float64 `json:",omitempty"`
	PerplexityWithin           *Within  `json:",omitempty"` // over texts

	// Offset is 1 or -1 where FP32 is right far more often if that is added to every label, as where the model has a
	// class for the background before those of the labels; else 0.
	Offset int `json:",omitempty" output:"suggested_label_offset"`
}

// accuracyTables are what queries find of the report beside its JSON.
const accuracyTables = `
CREATE TABLE accuracy (          -- labels: shares from 0 to 1, NULL without labels
  config    INTEGER PRIMARY KEY REFERENCES configs(id),
  items     INTEGER NOT NULL,
  top1      REAL, top5 REAL, fp32_top1 REAL, fp32_top5 REAL,
  agreement REAL,                  -- share of items whose first class is FP32's
  tolerance_db REAL,
  first_bad TEXT                   -- the first layer under the tolerance
);

CREATE TABLE errors (            -- differences from FP32
  config   INTEGER NOT NULL REFERENCES configs(id),
  kind     TEXT NOT NULL,          -- output, accumulated (a layer in the engine), local (a layer alone)
  name     TEXT NOT NULL,          -- of the output or the layer
  precision TEXT, tensor TEXT,
  max_abs  REAL, mean_abs REAL, median_abs REAL, max_rel REAL, mean_rel REAL,
  l2       REAL, cosine REAL, sqnr_db REAL, psnr_db REAL,
  PRIMARY KEY (config, kind, name)
) WITHOUT ROWID;
`

// rows are what queries find.
func (a *Accuracy) rows(add AddRow) error {
	share := func(v float64) any {
		if v < 0 {
			return nil
		}
		return v
	}
	l := a.Labels
	err := add("accuracy", a.Items, share(l.Top1), share(l.Top5), share(l.FP32Top1), share(l.FP32Top5),
		share(l.Agreement), a.Tolerance, OrNull(a.FirstBad))
	if err != nil {
		return err
	}
	row := func(kind, name string, precision, tensor any, e Errors) error {
		return add("errors", kind, name, precision, tensor,
			e.MaxAbs, e.MeanAbs, e.MedianAbs, e.MaxRel, e.MeanRel, e.L2, e.Cosine, e.SQNR, e.PSNR)
	}
	for _, o := range a.Outputs {
		if err := row("output", o.Name, nil, o.Name, o.Errors); err != nil {
			return err
		}
	}
	for _, e := range a.Layers {
		if err := row("accumulated", e.Name, e.Precision, e.Tensor, e.Accumulated); err != nil {
			return err
		}
		if err := row("local", e.Name, e.Precision, e.Tensor, e.Local); err != nil {
			return err
		}
	}
	return nil
}
