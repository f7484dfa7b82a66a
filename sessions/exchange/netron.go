package exchange

import (
	"errors"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// Netron writes an attachment for the ONNX model that an engine was made of: Netron shows with each node what became of it, and the time
// of the step that computes it. Nodes are found by their names; those without one have none.
func Netron(s *report.Snapshot) ([]byte, error) {
	if s.Passes == nil || len(s.Passes.Ledger) == 0 {
		return nil, errors.New("an attachment is about the nodes of a model, and what became of them is not known")
	}
	metadata := []object{item("model", "", "configuration", string(s.Config.Precision), "string"), item("model", "", "device", s.Device.Backend+" "+s.Device.Device, "string")}
	metrics := []object{}
	if t := s.Timings; t != nil {
		metrics = append(metrics, item("model", "", "latency (ms)", t.EndToEnd.Median.Seconds()*1e3, "float64"))
	}
	times := map[string]*report.LayerTiming{}
	if s.Timings != nil {
		for i := range s.Timings.Layers {
			times[s.Timings.Layers[i].Name] = &s.Timings.Layers[i]
		}
	}
	engine := map[string]report.Layer{}
	for _, l := range s.Passes.Engine {
		engine[l.Name] = l
	}
	seen := map[string]bool{}
	for _, e := range s.Passes.Ledger {
		if seen[e.Layer] || e.Layer == "" || strings.ContainsAny(e.Layer, "\r\n") { // of what Netron finds by name
			continue
		}
		seen[e.Layer] = true
		metadata = append(metadata, item("node", e.Layer, "fate", e.Fate, "string"))
		if e.Into == "" {
			continue
		}
		metadata = append(metadata, item("node", e.Layer, "engine layer", e.Into, "string"))
		if l, ok := engine[e.Into]; ok {
			metadata = append(metadata, item("node", e.Layer, "precision", l.Precision, "string"))
		}
		if l := times[e.Into]; l != nil {
			metadata = append(metadata, item("node", e.Layer, "tactic", l.Tactic, "string"))
			metrics = append(metrics, item("node", e.Layer, "time of its engine layer (µs)", micros(l.Median), "float64"), item("node", e.Layer, "share of layers (%)", 100*l.Share, "float64"))
		}
	}
	return marshal(object{{"signature", "netron:attachment"}, {"metadata", metadata}, {"metrics", metrics}})
}

func item(kind, target, name string, value any, typ string) object {
	return object{{"kind", kind}, {"target", target}, {"name", name}, {"value", value}, {"type", typ}}
}
