package sessions

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
)

// reportOfPlan tells of an engine that was written without a report, as a program that embeds the engine writes it, what its
// plan shows: the lowest precision, the shapes, and the ranges of the tensors that are stored in 8 bits. What found those is
// not known; the default calibrator stands for it.
func reportOfPlan(e *run.Engine) engineReport {
	p := e.Plans[0]
	r := engineReport{Config: config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}, Ranges: map[string]graph.Range{}, Data: "data that the file does not name"}
	for _, l := range p.Network.Layers {
		for _, t := range l.Outputs {
			switch {
			case t.Quantized():
				r.Config.Precision, r.Ranges[t.Name] = config.INT8, t.Range
			case t.Type == graph.F16 && r.Config.Precision == config.FP32:
				r.Config.Precision = config.FP16
			}
		}
	}
	env, open := p.Env(), false
	for _, t := range e.Source.Inputs {
		for axis, d := range t.Dims {
			if _, symbol := d.SymbolName(); symbol && axis == 0 {
				r.Config.Batch = d.Eval(env)
			} else if symbol {
				open = true
			}
		}
	}
	if open {
		r.Config.Shapes = map[string][]int{}
		for _, t := range e.Source.Inputs {
			r.Config.Shapes[t.Name] = graph.EvalDims(t.Dims, env)
		}
	}
	return r
}
