package describe

import (
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// UnderPeaks returns times of layers that were recorded without peaks under those of their device. Of each layer it knows the
// arithmetic of products and the bytes alone, which it takes to come from the nearest memory that holds them: the least times are true,
// and less than those of [Times.Under], which knows all arithmetic and what was touched in between.
func UnderPeaks(recorded *report.Timings, peaks []run.Peaks) *report.Timings {
	t := &Times{}
	t.Under(peaks, false)
	r := *recorded
	r.Layers = slices.Clone(recorded.Layers)
	for i := range r.Layers {
		l := &r.Layers[i]
		w := run.Work{FLOPs: l.FLOPs, Operations: l.FLOPs, Type: typeOf(l.Precision), Bytes: l.Bytes}
		if l.Bytes > 0 {
			w.Traffic = []run.Traffic{{Bytes: l.Bytes, Since: l.Bytes}}
		}
		l.Roof = t.stand(&w, l.Median)
	}
	t.withRoofline(&r)
	return &r
}

// typeOf returns the type of that name; that of real numbers where there is none.
func typeOf(name string) numeric.DataType {
	var t numeric.DataType
	if t.UnmarshalText([]byte(name)) != nil {
		return numeric.F32
	}
	return t
}
