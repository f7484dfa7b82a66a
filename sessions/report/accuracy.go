package report

// Accuracy compares the engine with FP32 (trtui eval --per-layer).
type Accuracy struct {
	Precision  string
	Calibrator string
	Ranges     string `json:",omitempty"` // where the ranges that the calibrator found come from
	Layers     []LayerError
	Outputs    []OutputError
	Labels     LabelAccuracy
	Tolerance  float64 `unit:"db"` // SQNR under which a layer counts as bad
	FirstBad   string  // the first layer under it by accumulated error
	Items      int     // compared for outputs and labels
	TapItems   int     // compared for layers
	Random     bool
	// RandomRanges says that the ranges come from random input.
	RandomRanges bool `json:",omitempty"`
}

// Errors are measures of the difference between two tensors.
type Errors struct {
	MaxAbs, MeanAbs, MedianAbs float64
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

	AccumulatedMap, LocalMap *ErrorMap `json:",omitempty"` // of the first output; nil in recordings of older programs
}

// OutputError is one network output's error.
type OutputError struct {
	Name string
	Errors
}

// LabelAccuracy is the quality of classification; shares from 0 to 1, -1 where there are no labels.
type LabelAccuracy struct {
	Top1, Top5         float64 `unit:"share"`
	FP32Top1, FP32Top5 float64 `unit:"share"`
	Agreement          float64 `unit:"share"` // of items whose first class is FP32's

	// Offset is 1 or -1 where FP32 is right far more often if that is added to every label, as where the model has a
	// class for the background before those of the labels; else 0.
	Offset int `json:",omitempty" output:"suggested_label_offset"`
}
