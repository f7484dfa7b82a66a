package exchange

import (
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TREx writes what TREx 0.2.1 opens of an engine, named as its tools name it: graph, profile and the metadata of both.
func TREx(s *report.Snapshot) ([]Output, error) {
	graph, err := LayerInfoJSON(s, "trt10")
	if err != nil {
		return nil, err
	}
	profile, err := ProfileJSON(s.Timings)
	if err != nil {
		return nil, err
	}
	device := object{{"Selected Device", s.Device.Device}, {"Compute Capability", "0.0"}, {"SMs", strconv.Itoa(s.Device.Threads)}, {"Compute Clock Rate", "0 GHz"},
		{"Device Global Memory", "0 MiB"}, {"Shared Memory per SM", "0 KiB"}, {"Memory Bus Width", "0 bits"}, {"Memory Clock Rate", "0 GHz"}}
	ran, err := marshal(object{{"performance_summary", performance(s)}, {"inference_options", object{{"Batch", strconv.Itoa(max(1, s.Timings.BatchItems))}, {"Iterations", strconv.Itoa(s.Timings.Samples)}}}, {"device_information", device}})
	if err != nil {
		return nil, err
	}
	model := ""
	if s.Model != nil {
		model = s.Model.Path
	}
	built, err := marshal(object{{"model_options", object{{"Format", "ONNX"}, {"Model", model}}},
		{"build_options", object{{"Precision", strings.ToUpper(string(s.Config.Precision))}, {"Calibration", s.Config.Calibrator}}}, {"device_information", device}})
	if err != nil {
		return nil, err
	}
	name := "engine"
	if s.Model != nil && s.Model.Name != "" {
		name = s.Model.Name
	}
	return []Output{{name + ".graph.json", graph}, {name + ".profile.json", profile}, {name + ".profile.metadata.json", ran}, {name + ".build.metadata.json", built}}, nil
}

// performance is trtexec's summary: of a time its least, largest, mean, median and three percentiles, in milliseconds.
func performance(s *report.Snapshot) object {
	t := s.Timings
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	same := func(d time.Duration) []float64 {
		v := ms(d)
		return []float64{v, v, v, v, v, v, v}
	}
	e, throughput := t.EndToEnd, 0.0
	total := time.Duration(e.Count) * e.Mean
	walltime := max(t.Walltime, total)
	if walltime > 0 {
		throughput = float64(e.Count) / walltime.Seconds()
	}
	compute := []float64{ms(e.Min), ms(e.Max), ms(e.Mean), ms(e.Median), ms(e.P90), ms(e.P95), ms(e.P99)}
	o := object{{"Throughput", throughput}, {"Latency", compute}, {"GPU Compute Time", compute}, {"Total Host Walltime", walltime.Seconds()}, {"Total GPU Compute Time", total.Seconds()}}
	if i := t.Inference; i != nil {
		o = append(o, member{"Enqueue Time", same(i.Enqueue)}, member{"H2D Latency", same(i.H2D)}, member{"D2H Latency", same(i.D2H)})
	}
	return o
}
