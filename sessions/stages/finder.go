package stages

import (
	"maps"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// finder says how ranges are found, in one form for all ways that find the same.
type finder struct {
	Calibrator  string // in full
	Activations string
	Given       map[string][]float64 // ranges in place of those that are found
}

// ranges returns what it makes of histograms.
func (f finder) ranges(m *model.Model) (func(map[string]*quant.Histogram) map[string]numeric.Range, error) {
	how := config.Quantization{Activations: f.Activations, Ranges: f.Given}
	calibrator, err := m.Methods().Parse(f.Calibrator, how.Scheme())
	if err != nil {
		return nil, err
	}
	return func(seen map[string]*quant.Histogram) map[string]numeric.Range {
		ranges := build.Ranges(seen, calibrator)
		maps.Copy(ranges, how.Given())
		return ranges
	}, nil
}

// FinderOf returns how a configuration finds ranges.
func FinderOf(m *model.Model, cfg config.Config) finder {
	if c, err := m.Methods().Parse(cfg.Calibrator, quant.Scheme{}); err == nil {
		cfg.Calibrator = c.String()
	}
	q := cfg.Quantization.Full()
	return finder{cfg.Calibrator, q.Activations, q.Ranges}
}

// gives reports whether the ranges of all tensors of a network were given: nothing is found.
func (f finder) gives(n *graph.Network) bool {
	given := func(t *graph.Tensor) bool { return !t.RealType().IsFloat() || f.Given[t.Name] != nil }
	for _, t := range n.Inputs {
		if !given(t) {
			return false
		}
	}
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			if !given(t) {
				return false
			}
		}
	}
	return true
}
