package report

import (
	"fmt"
	"slices"
)

// Detection is how well boxes are found: mean average precision as COCO defines it, over overlaps of 0.5 to 0.95, and at 0.5 and 0.75
// alone. Shares from 0 to 1, FP32's -1 where there is no FP32.
type Detection struct {
	Form             string  // in which outputs are boxes
	MAP              float64 `unit:"share" output:"map"`
	MAP50            float64 `unit:"share" output:"map50"`
	MAP75            float64 `unit:"share" output:"map75"`
	FP32MAP          float64 `unit:"share" output:"fp32_map"`
	FP32MAP50        float64 `unit:"share" output:"fp32_map50"`
	Boxes            int     // that are there, of how many classes
	Classes          int
	Images           int         `json:",omitempty"`
	MAPWithin        *Within     `json:",omitempty" output:"map_within"`         // shares, over images
	BesideFP32       *Difference `json:",omitempty" output:"beside_fp32"`        // whether the mAP can be told from FP32's
	Resamples        *Resamples  `json:",omitempty" output:"-"`                  // to compare engines by; nil of too few images
	AgainstFP32Boxes bool        `json:",omitempty" output:"against_fp32_boxes"` // the data has none: those that FP32 is sure of stand for them
}

// Resamples are the mean average precision of an engine and of FP32 on images that are drawn, the same ones at the same place.
type Resamples struct{ MAP, FP32 []float64 }

// Difference is what images say of by how much the precision of two engines differs: where it lies with 95 % confidence.
type Difference struct {
	Items int // images
	Within
}

// Apart reports whether the two can be told apart.
func (d Difference) Apart() bool { return d.Low > 0 || d.High < 0 }

// String says what came of it, but for of what.
func (d Difference) String() string {
	told := "cannot be told apart"
	if d.Apart() {
		told = "are told apart"
	}
	return fmt.Sprintf("%s on %d images (a difference of %+.2f to %+.2f points with 95 %% confidence)", told, d.Items, 100*d.Low, 100*d.High)
}

// Beside compares with another engine; nil where that was not measured on the same images, which shows in what FP32 finds there, or
// where there are too few.
func (d *Detection) Beside(other *Detection) *Difference {
	if d == nil || other == nil || d.Images != other.Images || d.Resamples == nil || other.Resamples == nil || !slices.Equal(d.Resamples.FP32, other.Resamples.FP32) {
		return nil
	}
	return differenceOf(d.Images, d.Resamples.MAP, other.Resamples.MAP)
}

// CompareFP32 compares with FP32; nil where there are too few images.
func (d *Detection) CompareFP32() *Difference {
	if d.Resamples == nil {
		return nil
	}
	return differenceOf(d.Images, d.Resamples.MAP, d.Resamples.FP32)
}

func differenceOf(images int, a, b []float64) *Difference {
	if len(a) != len(b) { // what a recording says is not to be trusted
		return nil
	}
	values := make([]float64, len(a))
	for i := range a {
		values[i] = a[i] - b[i]
	}
	w := Middle(values)
	if w == nil {
		return nil
	}
	return &Difference{images, *w}
}
