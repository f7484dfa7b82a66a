package exchange

import (
	"errors"
	"regexp"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// Netron writes an attachment for the ONNX model that an engine was made of: Netron shows with each node what became of it, and the time
// of the step that computes it. Nodes are found by their names. A name with a number at its end may be one that the importer gave, to a
// node without one or with another node's: what it says stands with the node's first output, too, which every node has.
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
	outputs := map[string]string{} // the first of each layer whose name may be made up
	for _, l := range s.Passes.Source {
		if len(l.Outputs) > 0 && numbered.MatchString(l.Name) {
			outputs[l.Name] = l.Outputs[0].Name
		}
	}
	seen := map[target]bool{}
	for _, e := range s.Passes.Ledger {
		for _, t := range []target{{"node", e.Layer}, {"value", outputs[e.Layer]}} {
			if seen[t] || t.name == "" || strings.ContainsAny(t.name, "\r\n") { // of what Netron finds by name
				continue
			}
			seen[t] = true
			metadata = append(metadata, item(t.kind, t.name, "fate", e.Fate, "string"))
			if e.Into == "" {
				continue
			}
			metadata = append(metadata, item(t.kind, t.name, "engine layer", e.Into, "string"))
			if l, ok := engine[e.Into]; ok {
				metadata = append(metadata, item(t.kind, t.name, "precision", l.Precision, "string"))
			}
			if l := times[e.Into]; l != nil {
				metadata = append(metadata, item(t.kind, t.name, "tactic", l.Tactic, "string"))
				metrics = append(metrics, item(t.kind, t.name, "time of its engine layer (µs)", micros(l.Median), "float64"), item(t.kind, t.name, "share of layers (%)", 100*l.Share, "float64"))
			}
		}
	}
	return marshal(object{{"signature", "netron:attachment"}, {"metadata", metadata}, {"metrics", metrics}})
}

// target is what an item is about.
type target struct{ kind, name string }

// numbered are names as the importer makes them.
var numbered = regexp.MustCompile(`_\d+$`)

func item(kind, target, name string, value any, typ string) object {
	return object{{"kind", kind}, {"target", target}, {"name", name}, {"value", value}, {"type", typ}}
}
