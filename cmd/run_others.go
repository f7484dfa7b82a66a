package cmd

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// otherModel is one of what --compare of trtui run names.
type otherModel struct {
	name  string
	place *place
	cfg   config.Config
}

// otherModels opens what --compare names, each on the devices of the model that is run.
func (o *runFlags) otherModels(p *place, path string, cfg config.Config) (list []otherModel, err error) {
	for _, text := range o.others {
		x := parseOperand(text)
		if _, err := os.Stat(x.path); err != nil && slices.Contains(append(functionNames(), perceptual), x.text) {
			return nil, usageError{fmt.Errorf("--compare %s names a function by which outputs are judged, and not a model: --%s %s", x.text, functionFlag, x.text)}
		}
		other := otherModel{name: text, place: p}
		if x.path != "" && !sameFile(x.path, path) {
			if other.place, err = o.reopen(p, x.path); err != nil {
				return nil, named(err, x.path)
			}
		}
		if other.cfg, err = o.configOf(other.place.model, x); err != nil {
			return nil, named(err, text)
		}
		if other.place == p && other.cfg.SameEngine(cfg, p.model.Quantized) {
			return nil, usageError{fmt.Errorf("--compare %s is what is run anyway: name another file, or a precision behind @", text)}
		}
		list = append(list, other)
	}
	return list, nil
}

// lowestPrecision returns the precision by which tolerances go: that of any that is lowered.
func lowestPrecision(cfg config.Config, others []otherModel) config.Precision {
	for _, other := range others {
		if cfg.Precision == config.FP32 {
			cfg.Precision = other.cfg.Precision
		}
	}
	return cfg.Precision
}

// contendOthers builds the others, on the backend of the first contender or, where that is none, on the place's.
func (o *runFlags) contendOthers(ctx context.Context, p *place, first sessions.Contender, others []otherModel, progress func(report.Progress)) (list []sessions.Contender, closeAll func(), err error) {
	var opened []func()
	closeAll = func() {
		for _, f := range opened {
			f()
		}
	}
	for _, other := range others {
		w := other.place.work
		if w.Host == nil {
			w.Host = p.work.Host
		}
		if first.Backend != nil {
			w.Backend = first.Backend
		}
		c, closeIt, err := sessions.Other(ctx, other.name, p.model, other.place.model, w, other.cfg, o.perLayer, progress)
		if err != nil {
			return nil, closeAll, named(err, other.name)
		}
		opened = append(opened, closeIt)
		list = append(list, c)
	}
	return list, closeAll, nil
}
