package report

import "math"

// The tasks by which accuracy is measured.
const (
	TaskClasses   = "classes"   // a row of scores for each item: the highest is the answer
	TaskText      = "text"      // the next token
	TaskDetection = "detection" // boxes around objects
	TaskOutputs   = "outputs"   // none of these: how far outputs are from FP32's
)

// TaskMetric is how well an engine does what its model is for, in the one measure that counts there.
type TaskMetric struct {
	Name  string   `output:"metric"` // top-1, mAP, perplexity or cosine
	Value float64  // shares from 0 to 1, but for the perplexity
	FP32  *float64 `json:",omitempty" output:"fp32"`
	// Drop is by how much the engine is worse than FP32: in percentage points, of the perplexity in percent of FP32's; NaN where there
	// is no FP32.
	Drop float64 `unit:"points"`
}

// Metric returns the measure of the task; ok is false where it is not known, as without labels.
func (a *Accuracy) Metric() (m TaskMetric, ok bool) {
	l := &a.Labels
	share := func(name string, value, fp32 float64) (TaskMetric, bool) {
		if a.Alone {
			return TaskMetric{Name: name, Value: value, Drop: math.NaN()}, true
		}
		return TaskMetric{Name: name, Value: value, FP32: &fp32, Drop: 100 * (fp32 - value)}, true
	}
	switch {
	case l.Detection != nil:
		return share("mAP", l.Detection.MAP, l.Detection.FP32MAP)
	case l.Perplexity != nil && a.Alone:
		return TaskMetric{Name: "perplexity", Value: *l.Perplexity, Drop: math.NaN()}, true
	case l.Perplexity != nil && l.FP32Perplexity != nil && *l.FP32Perplexity > 0:
		return TaskMetric{"perplexity", *l.Perplexity, l.FP32Perplexity, 100 * (*l.Perplexity / *l.FP32Perplexity - 1)}, true
	case l.Tokens == 0 && l.Top1 >= 0 && (a.Alone || l.FP32Top1 >= 0):
		return share("top-1", l.Top1, l.FP32Top1)
	case a.Task == TaskOutputs && a.First() != nil:
		cosine := a.First().Cosine
		return TaskMetric{Name: "cosine", Value: cosine, Drop: 100 * (1 - cosine)}, true
	}
	return m, false
}
