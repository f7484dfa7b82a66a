package cmd

import (
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// each returns a configuration for each precision and, for int8, each calibrator.
func (g *configFlags) each(precisions, calibrators []string) ([]config.Config, error) {
	var configs []config.Config
	for _, p := range precisions {
		g.precision = p
		list := calibrators
		if p != string(config.INT8) {
			list = calibrators[:1]
		}
		for _, cal := range list {
			g.calibrator = cal
			if config.Precision(p).Emulated() && !g.changed("calibrator") {
				g.calibrator = "minmax" // what is small keeps its digits, so that nothing is won by clipping
			}
			cfg, err := g.asked()
			if err != nil {
				return nil, err
			}
			configs = append(configs, cfg)
		}
	}
	return configs, nil
}

// eachFor returns a configuration for each precision and, for int8, each calibrator, over what an engine was built with. A
// model's own ranges leave calibrators no say: the first one stands for all. shapes are those that the data has.
func (g *configFlags) eachFor(m *model.Model, shapes map[string][]int, precisions, calibrators []string) ([]config.Config, error) {
	configs, err := g.each(precisions, calibrators)
	if err != nil {
		return nil, err
	}
	var list []config.Config
	for i, asked := range configs {
		if m.Quantized && i > 0 && configs[i-1].Precision == asked.Precision {
			continue
		}
		cfg := g.base(m, asked)
		if precision := asked.Precision; cfg.Precision != precision {
			cfg.Precision, cfg.Pin, cfg.Forbid = precision, nil, nil
		}
		cfg = g.over(cfg, asked)
		cfg.Calibrator = asked.Calibrator
		if cfg, err = g.shaped(m, cfg, shapes); err != nil {
			return nil, err
		}
		list = append(list, cfg)
	}
	return list, nil
}

// listed returns the precisions and calibrators of a command that takes several: those that were given, otherwise the one
// that an engine was built with or --config says, otherwise the lists by default.
func (g *configFlags) listed(m *model.Model) (precisions, calibrators []string) {
	precisions, calibrators = g.precisions, g.calibrators
	base := g.base(m, config.Config{})
	if !g.changed("precision") && base.Precision != "" && (m.Engine != nil || g.file != nil) {
		precisions = []string{string(base.Precision)}
	}
	if !g.changed("precision") && g.weights != "" && m.Engine == nil && g.file == nil {
		precisions = []string{string(config.FP32)}
	}
	if !g.changed("calibrator") && base.Calibrator != "" {
		calibrators = []string{base.Calibrator}
	}
	return precisions, calibrators
}

// comparesCalibrators reports whether several calibrators were asked for.
func (g *configFlags) comparesCalibrators() bool {
	return len(g.calibrators) > 1 && g.changed("calibrator")
}
