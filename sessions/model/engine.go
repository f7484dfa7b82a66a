package model

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// EngineReport is what an engine file tells of its making, so that it can be looked at as a model is.
type EngineReport struct {
	Schema    int
	Config    config.Config
	Backend   string                   `json:",omitempty"` // that its plan is for; older engines do not say it
	Ranges    map[string]numeric.Range `json:",omitempty"` // of the source network's tensors, as they were calibrated
	Shifts    map[string][]float64     `json:",omitempty"` // by how much biases were corrected, by source layer
	Equalized build.Equalized          `json:",omitzero"`  // what channels were divided by; empty, not nil, where none had to be
	Rounded   build.Rounded            `json:",omitzero"`  // the integers that rounding weights on data found, where the source is kept; empty, not nil, where the nearest are as good
	ByToken   bool                     `json:",omitempty"` // products of rows have ranges by token
	Data      string                   `json:",omitempty"` // what they were calibrated on
	Random    bool                     `json:",omitempty"` // that was random input
	Notes     []string                 `json:",omitempty"` // what a person should know of the model's file
}

// BuiltWith returns the configuration that an engine file was built with.
func (m *Model) BuiltWith() (config.Config, error) {
	if m.Engine == nil {
		return config.Config{}, fmt.Errorf("%s is not an engine", m.Path)
	}
	r, err := m.Making()
	return r.Config, err
}

// BuiltOn returns the name of the backend that an engine file's plan is for; "" for a model, and where the file does not
// say it.
func (m *Model) BuiltOn() string {
	if m.Engine == nil {
		return ""
	}
	r, err := m.Making()
	if err != nil {
		return ""
	}
	return r.Backend
}

// Making reads what the engine file tells of its making.
func (m *Model) Making() (EngineReport, error) {
	var r EngineReport
	if len(m.Engine.Report) == 0 {
		return described(m.Engine.Any()), nil
	}
	if err := graph.UnmarshalStored(m.Engine.Report, &r); err != nil {
		return r, fmt.Errorf("engine %s: report: %w", m.Path, err)
	}
	if r.Config.Quantization.IsZero() {
		r.Config.Quantization = config.LegacyQuantization()
	}
	r.Config.Quantization = r.Config.Quantization.Effective()
	return r, nil
}

// described returns what an engine that tells nothing of its making tells by its plan: its precision, batch and shapes.
func described(p *run.Plan) EngineReport {
	cfg := config.Default()
	for _, s := range p.Steps {
		switch build.PrecisionOf(s.Layer) {
		case numeric.I8, numeric.U8:
			cfg.Precision = config.INT8
		case numeric.F16:
			if cfg.Precision != config.INT8 {
				cfg.Precision = config.FP16
			}
		}
	}
	env := p.Env()
	batched, size := graph.BatchAt(p.Network.Inputs, env)
	cfg.Batch = size
	shaped := free(p.Network, nil)
	if len(batched) == 0 {
		shaped = append(shaped, graph.Batched(p.Network.Inputs)...)
	}
	for _, t := range shaped {
		if cfg.Shapes == nil {
			cfg.Shapes = map[string][]int{}
		}
		cfg.Shapes[t.Name] = symbolic.Eval(t.Extents(), env)
	}
	r := EngineReport{Schema: report.Schema, Config: cfg}
	r.Backend, _, _ = strings.Cut(p.Target, " ")
	return r
}

// NeedsSource returns an error that wraps [run.ErrNoSource] where the model is an engine without its source: what says what
// needs that.
func (m *Model) NeedsSource(what string) error {
	if !m.Stripped {
		return nil
	}
	return fmt.Errorf("%s: %s needs the source network: %w", m.Path, what, run.ErrNoSource)
}

// Planned returns the lowered network that an engine has for a configuration, whatever its batch, shapes and tactics are; nil
// where it has none and the configuration must be built from the source.
func (m *Model) Planned(cfg config.Config) *graph.Network {
	if m.Engine == nil || !m.Stripped && len(m.Engine.Report) > 0 {
		return nil
	}
	built, err := m.BuiltWith()
	if err != nil {
		return nil
	}
	cfg.Batch, cfg.Shapes, cfg.MinShapes, cfg.MaxShapes = built.Batch, built.Shapes, built.MinShapes, built.MaxShapes
	cfg.Profiles = built.Profiles
	cfg.Pin, cfg.Forbid, cfg.State = built.Pin, built.Forbid, built.State
	if !config.Same(built, cfg) {
		return nil
	}
	return m.Engine.Any().Network
}

// NeedsCalibration reports whether lowering reads ranges: where layers may run in 8 bits, unless the model brings its
// own quantisation.
func (m *Model) NeedsCalibration(cfg config.Config) bool {
	return cfg.Quantizes() && !m.Quantized && m.Planned(cfg) == nil
}
