package describe

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// Model describes the source network at values of its symbols, where there are none without shapes and arithmetic, and
// the data beside it; calItems are those to calibrate with, 0 where there are none.
func Model(m *model.Model, d dataset.Data, calItems int, env map[string]int) *report.Model {
	n := m.Network
	r := &report.Model{
		Name: m.Name(), Graph: n.Name, Path: m.Path, Bytes: m.Bytes, SHA256: m.SHA256, Kind: m.Kind(), Stripped: m.Stripped, Requantized: m.Dropped != nil, Notes: m.Notes,
		Layers: layerInfos(n, env), Ops: map[string]int{}, Unsupported: UnsupportedLayers(n), CalItems: calItems,
	}
	r.NotRunnable = NotRunnable(m.Refused, r.Unsupported, len(n.AllLayers()))
	if d != nil {
		r.Labelled = d.Labels(0) != nil
		r.Data, r.Random, r.Items = d.Name(), d.Random(), d.Len()
		r.Images = dataset.Brought(d)
	}
	for _, t := range n.Inputs {
		r.Inputs = append(r.Inputs, tensorInfo(t, env))
	}
	for _, t := range n.Outputs {
		r.Outputs = append(r.Outputs, tensorInfo(t, env))
	}
	for _, l := range r.Layers {
		r.Ops[l.Op]++
		r.FLOPs += l.FLOPs
	}
	for _, t := range n.Consts() {
		r.Params += int64(numeric.Count(symbolic.Eval(t.Dims, nil)))
	}
	return r
}
