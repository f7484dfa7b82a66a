package exchange

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// hostile is a name that would be markup, a formula and a column of its own where it is not written as text.
const hostile = `=</title><script>alert(1)</script>|"&,` + "`*_"

// exported is a snapshot that has a report of each kind.
func exported() *report.Snapshot {
	layer := func(name, op, precision string, from, inputs []string, out report.Tensor) report.Layer {
		return report.Layer{Name: name, Op: op, Precision: precision, From: from, Inputs: inputs, Outputs: []report.Tensor{out}}
	}
	tensor := func(name, typ string, shape ...int) report.Tensor {
		return report.Tensor{Name: name, Type: typ, Shape: shape}
	}
	fate := func(layer, op, fate, into string) report.LedgerEntry {
		return report.LedgerEntry{Layer: layer, Op: op, Fate: fate, Into: into}
	}
	conv := layer("conv + relu", "Conv", "i8", []string{"conv", "relu"}, []string{"q"}, tensor("h", "i8", 1, 8, 4, 4))
	conv.Attrs, conv.Kernel, conv.Weights = "strides=[1 1] group=2", []int{3, 3}, 72
	s := &report.Snapshot{
		Seq: 1, Device: report.Device{Backend: "cpu", Device: "a processor", Threads: 2},
		Model: &report.Model{Name: "m.onnx", Path: "/models/m.onnx", Inputs: []report.Tensor{tensor("x", "f32", 1, 2, 4, 4)}, Outputs: []report.Tensor{tensor("y", "f32", 1, 10)}},
		Passes: &report.Passes{Kept: 1, Fused: 2, Engine: []report.Layer{
			layer("quantize", "QuantizeLinear", "f32", nil, []string{"x"}, tensor("q", "i8", 1, 2, 4, 4)), conv,
			layer(hostile, "Gemm", "f32", []string{hostile}, []string{"h"}, tensor("y", "f32", 1, 10)),
		}, Ledger: []report.LedgerEntry{fate("conv", "Conv", "fused", "conv + relu"), fate("relu", "Relu", "fused", "conv + relu"), fate(hostile, "Gemm", "kept", hostile)}},
		Memory: &report.Memory{MemoryNumbers: report.MemoryNumbers{Peak: 4096}, Steps: []string{"quantize", "conv + relu", "Reformat h to linear", hostile}, Live: []int{1, 2, 3, 4},
			Slots: []report.Slot{{Tensor: "q", Bytes: 512, Last: 1, Kind: "own"}, {Tensor: "h", Offset: 512, Bytes: 3584, First: 1, Last: 9, Kind: "own"}}},
		Calibration: &report.Calibration{Calibrators: []string{"mse"}, Active: "mse", Tensors: []report.TensorCalibration{
			{Tensor: hostile, Used: true, Histogram: report.HistogramBins{Low: -1, High: 1, Counts: []int64{1, 0, 5}}, By: []report.CalibratorResult{{Amax: 1, Scale: 1. / 127}}}}},
		Accuracy: &report.Accuracy{Tolerance: 20, Labels: report.LabelAccuracy{Top1: -1, Agreement: 1}, Layers: []report.LayerError{{Name: "conv + relu", Accumulated: report.Errors{SQNR: 12}, Local: report.Errors{SQNR: 200}}}},
	}
	s.Config.Precision = "int8"
	t := &report.Timings{Samples: 100, EndToEnd: report.Latency{Count: 100, Mean: 11 * time.Microsecond, Median: 10 * time.Microsecond}}
	for i, l := range []struct{ name, op, precision string }{{"quantize", "QuantizeLinear", "f32"}, {"conv + relu", "Conv", "i8"}, {"Reformat h to linear", "Reformat", "i8"}, {hostile, "Gemm", "f32"}} {
		d := time.Duration(i+1) * time.Microsecond
		t.SumMedian += d
		t.Layers = append(t.Layers, report.LayerTiming{Name: l.name, Op: l.op, Precision: l.precision, Tactic: "t" + fmt.Sprint(i), Latency: report.Latency{Count: 100, Mean: 2 * d, Median: d, P99: 3 * d}})
	}
	s.Timings, s.Overview = t, &report.Overview{Latency: t.EndToEnd, Throughput: 9e4, Batch: 1}
	return s
}

// TestTrace checks what Perfetto wants: slices of a track do not overlap, and counters are numbers.
func TestTrace(t *testing.T) {
	s := exported()
	s.Timings.Inference = &report.InferenceSplit{H2D: time.Microsecond, Compute: 10 * time.Microsecond, D2H: time.Microsecond}
	data, err := Trace(s)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Ph, Name string
			Pid, Tid int
			Ts, Dur  float64
			Args     map[string]any
		}
	}
	if err := json.Unmarshal(data, &trace); err != nil {
		t.Fatal(err)
	}
	end, slices, live := map[int]float64{}, 0, []float64{}
	for _, e := range trace.TraceEvents {
		switch e.Ph {
		case "X":
			if e.Ts < end[e.Tid]-1e-9 || e.Pid != 1 {
				t.Errorf("%s begins at %g in track %d, before %g", e.Name, e.Ts, e.Tid, end[e.Tid])
			}
			end[e.Tid] = e.Ts + e.Dur
			slices++
		case "C":
			live = append(live, e.Args["live bytes"].(float64))
		case "M":
			if e.Args["name"] == nil {
				t.Errorf("a track without a name: %+v", e)
			}
		}
	}
	if slices != 4+3 || math.Abs(end[1]-11) > 1e-9 || len(live) != 5 || live[3] != 4 || live[4] != 0 {
		t.Errorf("%d slices to %g µs, live %v", slices, end[1], live)
	}
	if _, err := Trace(&report.Snapshot{}); err == nil {
		t.Error("a trace of nothing")
	}
}

// TestNetron checks what Netron wants of an attachment: it drops items of the same name on the same target, and targets of two lines.
func TestNetron(t *testing.T) {
	s := exported()
	s.Passes.Source = append(s.Passes.Source, report.Layer{Name: "Relu_7", Outputs: []report.Tensor{{Name: "nameless"}}}, report.Layer{Name: "conv", Outputs: []report.Tensor{{Name: "named"}}})
	s.Passes.Ledger = append(s.Passes.Ledger, report.LedgerEntry{Layer: "Relu_7", Op: "Relu", Fate: "fused", Into: "conv + relu"})
	data, err := Netron(s)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Signature         string
		Metadata, Metrics []struct {
			Kind, Name, Type string
			Target           *string
			Value            any
		}
	}
	if err := json.Unmarshal(data, &file); err != nil || file.Signature != "netron:attachment" {
		t.Fatal(file.Signature, err)
	}
	seen, nodes := map[string]bool{}, map[string]bool{}
	for _, i := range append(file.Metadata, file.Metrics...) {
		key := i.Kind + "\x00" + *i.Target + "\x00" + i.Name
		if seen[key] || i.Name == "" || i.Value == nil || (i.Kind == "model") != (*i.Target == "") {
			t.Errorf("%+v", i)
		}
		seen[key] = true
		nodes[*i.Target] = true
	}
	if !nodes["conv"] || !nodes["relu"] || !nodes[hostile] || !nodes["Relu_7"] || !nodes["nameless"] || nodes["named"] || len(file.Metrics) != 1+5*2 {
		t.Errorf("nodes %v, %d metrics", nodes, len(file.Metrics))
	}
}

// trexFormats are those of the texts that TREx 0.2.1 knows of which ours are.
var trexFormats = []string{"Row major linear FP32", "Row major linear FP16 format", "Row major Int8 format", "Row major linear Int32"}

// TestTREx checks the fields that TREx 0.2.1 reads and the number of members of a row, and that what is read again is the same.
func TestTREx(t *testing.T) {
	s := exported()
	files, err := TREx(s)
	if err != nil || len(files) != 4 || files[0].Name != "m.onnx.graph.json" {
		t.Fatal(files, err)
	}
	var graph struct {
		Layers   []map[string]any
		Bindings []string
	}
	var profile []map[string]any
	if err := errors.Join(json.Unmarshal(files[0].Data, &graph), json.Unmarshal(files[1].Data, &profile)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(graph.Bindings, []string{"x", "y"}) || len(profile) != 1+len(graph.Layers) {
		t.Errorf("bindings %q, %d rows for %d layers", graph.Bindings, len(profile), len(graph.Layers))
	}
	for i, l := range graph.Layers {
		for _, field := range []string{"Name", "LayerType", "ParameterType", "TacticName"} {
			if text, ok := l[field].(string); !ok || text == "" {
				t.Errorf("layer %d: %s is %v", i, field, l[field])
			}
		}
		for _, list := range []string{"Inputs", "Outputs"} {
			for _, v := range l[list].([]any) {
				tensor := v.(map[string]any)
				if !slices.Contains(trexFormats, tensor["Format/Datatype"].(string)) || tensor["Name"] == "" || tensor["Dimensions"] == nil {
					t.Errorf("layer %d: %v", i, tensor)
				}
			}
		}
		if row := profile[i+1]; len(row) != 5 || row["name"] != l["Name"] {
			t.Errorf("row %d: %v", i, row)
		}
	}
	conv := graph.Layers[1]
	if conv["ParameterType"] != "Convolution" || conv["Groups"] != 2. || len(conv["Kernel"].([]any)) != 2 || conv["Metadata"] != "[ONNX Layer: conv]\x1e[ONNX Layer: relu]" {
		t.Errorf("%v", conv)
	}
	for _, name := range []string{"performance_summary", "inference_options", "device_information"} {
		if !bytes.Contains(files[2].Data, []byte(`"`+name+`"`)) {
			t.Errorf("%s lacks %s", files[2].Name, name)
		}
	}
	sameAgain(t, s, files[0].Data, files[1].Data)
	for _, layout := range []string{"trt11", "list"} {
		data, err := LayerInfoJSON(s, layout)
		if err != nil {
			t.Fatal(err)
		}
		sameAgain(t, s, data, files[1].Data)
	}
	if _, err := LayerInfoJSON(s, "trt9"); err == nil {
		t.Error("an unknown layout")
	}
}

// sameAgain reads what was written of a snapshot.
func sameAgain(t *testing.T, s *report.Snapshot, layers, profile []byte) {
	t.Helper()
	e, err := OpenEngine([]File{{"layers.json", layers}, {"profile.json", profile}})
	if err != nil {
		t.Fatal(err)
	}
	again := e.Snapshot()
	if alone, err := OpenEngine([]File{{"profile.json", profile}}); err != nil || alone.Snapshot().Viewed() != "a profile of trtui" || again.Viewed() != "layer information of trtui" || again.Device.Backend != "trtui" {
		t.Errorf("written by %s: %q, %v", again.Device.Backend, again.Viewed(), err)
	}
	for i, l := range again.Timings.Layers {
		if was := s.Timings.Layers[i]; l.Name != was.Name || l.Median != was.Median || l.Mean != was.Mean || l.Tactic != was.Tactic {
			t.Errorf("read again %+v, was %+v", l, was)
		}
	}
	if l := again.Passes.Engine[1]; !slices.Equal(l.From, []string{"conv", "relu"}) || l.Precision != "i8" {
		t.Errorf("%+v", l)
	}
}

// TestTimesJSON reads again what was written.
func TestTimesJSON(t *testing.T) {
	list := []QueryTime{{Start: 1000, End: 9000, Enqueue: 500, H2D: 1000, Compute: 6000, D2H: 1000, Duration: 8000}}
	data, err := TimesJSON(list)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseTimes(data); err != nil || !slices.Equal(again, list) {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestHTML parses the page: every element is closed, nothing is a script, and names are text.
func TestHTML(t *testing.T) {
	data, err := HTML(exported())
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta"}, xml.HTMLEntity
	count, text, depth := map[string]int{}, "", 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			count[e.Name.Local]++
			depth++
			for _, a := range e.Attr {
				if name := strings.ToLower(a.Name.Local); strings.HasPrefix(name, "on") || name == "src" || name == "href" {
					t.Errorf("<%s %s=%q>", e.Name.Local, name, a.Value)
				}
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			text += string(e)
		}
	}
	if depth != 0 || count["script"] > 0 || count["svg"] != 5 || count["table"] < 5 || count["h1"] != 1 {
		t.Errorf("depth %d, elements %v", depth, count)
	}
	if !strings.Contains(text, hostile) || !bytes.Contains(data, []byte("prefers-color-scheme:dark")) {
		t.Error("a name is not text, or there is no dark page")
	}
	if _, err := HTML(&report.Snapshot{}); err == nil {
		t.Error("a page of nothing")
	}
}

// TestHTMLRoofline draws layers under the ceilings of their device, the configurations that were tried and those that were searched,
// and tells what is worth changing.
func TestHTMLRoofline(t *testing.T) {
	s := exported()
	peaks := report.Peaks{Threads: 2, Compute: []report.Peak{{Name: "f32", Rate: 2e11}}, Memory: []report.Peak{{Name: "L2", Rate: 1e11, Holds: 1 << 20}, {Name: "DRAM", Rate: 1e10}}}
	s.Timings.Roofline = &report.Roofline{Peaks: []report.Peaks{peaks}}
	for i := range s.Timings.Layers {
		s.Timings.Layers[i].Roof = &report.Roof{Operations: 1000, Intensity: float64(i + 1), Reached: 10 * float64(i+1), Ceiling: 50, Bound: "DRAM", OfPeak: 0.2}
	}
	s.Timings.Layers[0].Roof.Operations = 0 // moves alone
	sqnr := []float64{40, 30, report.MaxDB}
	search := &report.Search{}
	for i := range sqnr {
		search.Points = append(search.Points, report.SearchPoint{Raised: i, Point: report.Point{Latency: time.Duration(i+1) * time.Millisecond, SQNR: &sqnr[i]}})
	}
	s.Search, s.Timings.EndToEnd.CV = search, 0.5
	data, err := HTML(s)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{"<h2>Roofline</h2>", "L2 100 GB/s", "f32 200 Gop/s", "what 3 layers that compute reach", "<h2>Precisions searched</h2>", "3 front", "<h2>Worth changing</h2>", `<li class="`} {
		if !strings.Contains(page, want) {
			t.Errorf("without %q", want)
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("a place in a picture is no number")
	}
	if p, ok := rooflinePicture(&report.Timings{Roofline: &report.Roofline{Peaks: []report.Peaks{peaks}}}); ok {
		t.Errorf("a roofline of no layers: %v", p.caption)
	}
}

// TestTables reads every table of CSV again, in which no cell is a formula, and counts the columns of Markdown's.
func TestTables(t *testing.T) {
	files, err := CSV(exported())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		rows, err := csv.NewReader(bytes.NewReader(f.Data)).ReadAll() // of as many cells each
		if err != nil || len(rows) < 2 {
			t.Errorf("%s: %d rows, %v", f.Name, len(rows), err)
		}
		for _, cell := range slices.Concat(rows...) {
			if strings.HasPrefix(cell, "=") {
				t.Errorf("%s: %q is a formula", f.Name, cell)
			}
		}
	}
	if want := []string{"layers.csv", "fusion.csv", "memory.csv", "accuracy.csv", "calibration.csv"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	data, err := Markdown(exported())
	if err != nil {
		t.Fatal(err)
	}
	columns := 0
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns > 0 && n != columns {
			t.Errorf("%d columns, want %d: %s", n, columns, line)
		}
		columns = n
	}
	if bytes.Contains(data, []byte("<script")) {
		t.Error("a name is markup")
	}
}

// TestTraceOfForks: lanes begin with their fork, on tracks of their own, and what follows begins when it is over.
func TestTraceOfForks(t *testing.T) {
	s := exported()
	layers := s.Timings.Layers
	fork := report.Fork{InTurn: 9 * time.Microsecond, Beside: 4 * time.Microsecond}
	for k := range 2 {
		l := &layers[1+k]
		l.Fork, l.Lane = 1, k+1
		fork.Lanes = append(fork.Lanes, []report.LaneStep{{Step: l.Name, Median: time.Duration(3+k) * time.Microsecond}})
	}
	s.Timings.Forks = []report.Fork{fork}
	data, err := Trace(s)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Ph, Name string
			Tid      int
			Ts, Dur  float64
		}
	}
	if err := json.Unmarshal(data, &trace); err != nil {
		t.Fatal(err)
	}
	at := map[string][2]float64{}
	tracks := map[int]bool{}
	for _, e := range trace.TraceEvents {
		if e.Ph == "X" {
			at[e.Name], tracks[e.Tid] = [2]float64{e.Ts, e.Dur}, true
		}
	}
	first := at[layers[0].Name][1]
	for name, want := range map[string][2]float64{layers[1].Name: {first, 3}, layers[2].Name: {first, 4}, layers[3].Name: {first + 4, at[layers[3].Name][1]}} {
		if got := at[name]; math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1]) > 1e-9 {
			t.Errorf("%s is at %v, want %v", name, got, want)
		}
	}
	if len(tracks) != 3 {
		t.Errorf("tracks %v", tracks)
	}
}
