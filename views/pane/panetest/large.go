package panetest

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// Large returns the fixture repeated behind itself until its source network has so many layers, with names as long as exporters of
// large models give; every report goes along.
func Large(t testing.TB, layers int) *report.Snapshot {
	snap := Fixture(t)
	one := *snap
	passes, timings, memory, tactics := *one.Passes, *one.Timings, *one.Memory, *one.Tactics
	accuracy, calibration := *one.Accuracy, *one.Calibration
	snap.Passes, snap.Timings, snap.Memory, snap.Tactics, snap.Accuracy, snap.Calibration = &passes, &timings, &memory, &tactics, &accuracy, &calibration
	model := *one.Model
	snap.Model = &model
	passes.Steps = append([]report.PassStep(nil), passes.Steps...)
	for k := 1; len(passes.Source) < layers; k++ {
		to := prefixed(fmt.Sprintf("/model/decoder/layers.%d/self_attn/mixture_of_experts/", k))
		model.Layers = append(model.Layers, to.layers(one.Model.Layers)...)
		passes.Source, passes.Engine = append(passes.Source, to.layers(one.Passes.Source)...), append(passes.Engine, to.layers(one.Passes.Engine)...)
		for _, e := range one.Passes.Ledger {
			e.Layer, e.Into = to.name(e.Layer), to.name(e.Into)
			passes.Ledger = append(passes.Ledger, e)
		}
		for i := range passes.Steps {
			to.appendStep(&passes.Steps[i], &one.Passes.Steps[i])
		}
		for _, l := range one.Timings.Layers {
			l.Name, l.From = to.name(l.Name), to.names(l.From)
			timings.Layers = append(timings.Layers, l)
		}
		steps := len(one.Memory.Steps)
		memory.Steps, memory.Live = append(memory.Steps, to.names(one.Memory.Steps)...), append(memory.Live, one.Memory.Live...)
		for _, s := range one.Memory.Slots {
			s.Tensor, s.Of, s.First, s.Last = to.name(s.Tensor), to.name(s.Of), s.First+k*steps, s.Last+k*steps
			memory.Slots = append(memory.Slots, s)
		}
		for _, l := range one.Tactics.Layers {
			l.Layer = to.name(l.Layer)
			tactics.Layers = append(tactics.Layers, l)
		}
		for _, l := range one.Accuracy.Layers {
			l.Name, l.Tensor, l.From = to.name(l.Name), to.name(l.Tensor), to.names(l.From)
			accuracy.Layers = append(accuracy.Layers, l)
		}
		for _, c := range one.Calibration.Tensors {
			c.Tensor, c.Layer = to.name(c.Tensor), to.name(c.Layer)
			calibration.Tensors = append(calibration.Tensors, c)
		}
		for _, w := range one.Calibration.Weights {
			w.Layer, w.Tensor, w.From = to.name(w.Layer), to.name(w.Tensor), to.names(w.From)
			calibration.Weights = append(calibration.Weights, w)
		}
	}
	return snap
}

// prefixed puts itself before names.
type prefixed string

func (p prefixed) name(s string) string {
	if s == "" {
		return s
	}
	return string(p) + s
}

func (p prefixed) names(list []string) (out []string) {
	for _, s := range list {
		out = append(out, p.name(s))
	}
	return out
}

// appendStep appends what a pass did, and did not, to the same of other layers.
func (p prefixed) appendStep(all, one *report.PassStep) {
	for _, f := range one.Fired {
		f.Site, f.Layers, f.Into = p.name(f.Site), p.names(f.Layers), p.name(f.Into)
		all.Fired = append(all.Fired, f)
	}
	for _, m := range one.Missed {
		m.Site, m.Layers = p.name(m.Site), p.names(m.Layers)
		all.Missed = append(all.Missed, m)
	}
	all.After, all.Layers = append(all.After, p.layers(one.After)...), all.Layers+one.Layers
}

func (p prefixed) layers(list []report.Layer) (out []report.Layer) {
	for _, l := range list {
		l.Name, l.From, l.Inputs, l.Inside = p.name(l.Name), p.names(l.From), p.names(l.Inputs), p.name(l.Inside)
		outputs := append([]report.Tensor(nil), l.Outputs...)
		for i := range outputs {
			outputs[i].Name = p.name(outputs[i].Name)
		}
		l.Outputs = outputs
		out = append(out, l)
	}
	return out
}
