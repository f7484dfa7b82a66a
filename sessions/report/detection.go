package report

// Detection is how well boxes are found: mean average precision as COCO defines it, over overlaps of 0.5 to 0.95, and at 0.5 and 0.75
// alone. Shares from 0 to 1.
type Detection struct {
	Form             string  // in which outputs are boxes
	MAP              float64 `unit:"share" output:"map"`
	MAP50            float64 `unit:"share" output:"map50"`
	MAP75            float64 `unit:"share" output:"map75"`
	FP32MAP          float64 `unit:"share" output:"fp32_map"`
	FP32MAP50        float64 `unit:"share" output:"fp32_map50"`
	Boxes            int     // that are there, of how many classes
	Classes          int
	AgainstFP32Boxes bool `json:",omitempty" output:"against_fp32_boxes"` // the data has none: those that FP32 is sure of stand for them
}
