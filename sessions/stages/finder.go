package stages

import (
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

// FinderOf returns how a configuration finds ranges.
func FinderOf(m *model.Model, cfg config.Config) finder {
	if c, err := m.Methods().Parse(cfg.Calibrator, quant.Scheme{}); err == nil {
		cfg.Calibrator = c.String()
	}
	q := cfg.Quantization.Full()
	return finder{cfg.Calibrator, q.Activations, q.Ranges}
}
