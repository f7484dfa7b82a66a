package exchange

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// opened reads files of testdata as an engine.
func opened(t *testing.T, names ...string) *report.Snapshot {
	t.Helper()
	var files []File
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{name, data})
	}
	e, err := OpenEngine(files)
	if err != nil {
		t.Fatal(err)
	}
	return e.Snapshot()
}

// TestOpenEngine reads what trtexec 10 writes, in any order of files.
func TestOpenEngine(t *testing.T) {
	s := opened(t, "times10.json", "profile10.json", "layers10.json")
	if s.Model.Name != "layers10.json" || s.Config.Precision != "int8" || s.Model.Inputs[0].Name != "images" || s.Model.Outputs[0].Name != "out" || s.Overview.Batch != 1 {
		t.Errorf("%s in %s: %+v to %+v, batch %d", s.Model.Name, s.Config.Precision, s.Model.Inputs, s.Model.Outputs, s.Overview.Batch)
	}
	conv := s.Timings.Layers[1]
	if conv.Median != 29900 || conv.Mean != 30*time.Microsecond || conv.Count != 100 || conv.Precision != "i8" || conv.Op != "Convolution" {
		t.Errorf("convolution: %+v", conv)
	}
	// 7x7x3 products for each of 64x112x112 outputs; images and weights of a byte, biases of four
	if conv.FLOPs != 2*147*64*112*112 || conv.Bytes != 3*224*224+64*112*112+9408+4*64 {
		t.Errorf("convolution: %d FLOPs, %d bytes", conv.FLOPs, conv.Bytes)
	}
	var from []string
	for _, l := range s.Passes.Engine {
		from = append(from, strings.Join(l.From, "|"))
	}
	if want := []string{"", "Conv_0|Relu_1", "Sigmoid_2|Mul_3"}; !slices.Equal(from, want) {
		t.Errorf("sources %q, want %q", from, want)
	}
	e := s.Timings.EndToEnd
	if e.Count != 6 || e.Median != 71*time.Microsecond || e.Min != 70*time.Microsecond || s.Timings.Inference.Enqueue != 20*time.Microsecond {
		t.Errorf("end to end %+v, %+v", e, s.Timings.Inference)
	}
	if got := s.Tactics.Layers[1]; got.Layer != s.Passes.Engine[1].Name || got.Chosen != conv.Tactic || len(got.Candidates) != 1 || !got.Candidates[0].Timed || got.Candidates[0].Time != conv.Median {
		t.Errorf("tactic of the convolution: %+v", got)
	}
	if got := s.Overview.Counts; got.Launches != 3 || got.Reformats != 1 || got.Source != 4 {
		t.Errorf("%+v", got)
	}
	if n := s.Overview.Throughput; n < 9990 || n > 10010 { // 6 in 0.6 ms
		t.Errorf("throughput %g", n)
	}
}

// TestOpenEngine11 reads what TensorRT 11 writes, without times; and the layers as a bare list.
func TestOpenEngine11(t *testing.T) {
	s := opened(t, "layers11.json")
	if s.Timings != nil || s.Overview != nil || s.Config.Precision != "fp16" || len(s.Model.Inputs) != 1 || s.Model.Outputs[0].Type != "f32" {
		t.Errorf("%+v", s.Model)
	}
	if l := s.Passes.Engine[0]; l.Outputs[0].Type != "f16" || !slices.Equal(l.From, []string{"/conv/Conv", "/act/Relu"}) {
		t.Errorf("%+v", l)
	}
	if got := s.Passes.Source[0].Op; got != "Conv" {
		t.Errorf("the operator of /conv/Conv is %q", got)
	}
	e, err := OpenEngine([]File{{"list.json", []byte(`[{"Name": "a", "LayerType": "kgen", "Inputs": [], "Outputs": []}]`)}})
	if err != nil || len(e.Layers.Layers) != 1 {
		t.Errorf("a bare list: %+v, %v", e, err)
	}
	e, err = OpenEngine([]File{{"names.json", []byte(`{"Layers": ["a", "b + c"], "Bindings": []}`)}, {"p.json", []byte(`[{"count": 2}, {"name": "one", "averageMs": 1}, {"name": "two", "averageMs": 2}]`)}})
	if err != nil || !e.Layers.Names || e.Profile[1].Name != "b + c" {
		t.Errorf("names alone with a profile by place: %+v, %v", e, err)
	}
}

// TestBindings: what a layer makes is an output and what is only read an input, of whatever profile, and where no layer tells, neither.
func TestBindings(t *testing.T) {
	const layers = `[{"Name": "a", "Inputs": [{"Name": "in", "Dimensions": [1]}], "Outputs": [{"Name": "out [profile 1]", "Dimensions": [2]}]}]`
	names := func(list []EngineTensor) string {
		var all []string
		for _, t := range list {
			all = append(all, t.Name)
		}
		return strings.Join(all, ",")
	}
	for file, want := range map[string]string{
		`{"Layers": ["a", "b"], "Bindings": ["in", "out", "in [profile 1]"]}`:           " |  | in,out",
		`{"Layers": ` + layers + `, "Bindings": ["in", "out [profile 1]"]}`:             "in | out [profile 1] | ",
		`{"Layers": ` + layers + `, "Bindings": ["in", "in [profile 1]", "elsewhere"]}`: "in |  | elsewhere",
	} {
		info, err := ParseLayerInfo([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		if got := names(info.Inputs) + " | " + names(info.Outputs) + " | " + names(info.Unknown); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestOpenRuntime reads a profile of ONNX Runtime 1.32.
func TestOpenRuntime(t *testing.T) {
	s := opened(t, "runtime.json")
	if len(s.Timings.Layers) != 3 || s.Timings.EndToEnd.Count != 5 || s.Device.Backend != "ONNX Runtime" {
		t.Fatalf("%+v", s.Timings)
	}
	if l := s.Timings.Layers[0]; l.Op != "Conv" || l.Count != 5 || l.Precision != "f32" || l.Tactic != "CPUExecutionProvider" || l.Bytes == 0 {
		t.Errorf("%+v", l)
	}
}

// TestSources finds the layers of the model in the names of an engine's.
func TestSources(t *testing.T) {
	for name, want := range map[string][]string{
		"a":                              {"a"},
		"a + b + PWN(c)":                 {"a", "b", "c"},
		"a || b":                         {"a", "b"},
		"PWN(PWN(s), m) [profile 1]":     {"s", "m"},
		"PWN((Unnamed Layer* 3) [X], b)": {"(Unnamed Layer* 3) [X]", "b"},
		"Reformatting CopyNode for Input Tensor 0 to a": nil,
	} {
		l := EngineLayer{Name: name}
		if got := l.Sources(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestOpenEngineErrors names the file and what is wrong in it.
func TestOpenEngineErrors(t *testing.T) {
	layers := `{"Layers": [{"Name": "a", "LayerType": "x"}]}`
	for says, files := range map[string][]string{
		"0.json: it is neither":       {`{"version": 1}`},
		"it has no Layers":            {`{"Layers": []}`},
		"line 2":                      {"{\"Layers\": [\n}"},
		"layer 0: it has no Name":     {`{"Layers": [{"LayerType": "x"}]}`},
		"layer 1: Name: \"3\" is not": {`{"Layers": ["a", {"Name": 3}]}`},
		"Inputs: tensor 0: in Dimensions \"1.5\" is no extent": {`{"Layers": [{"Name": "a", "Inputs": [{"Name": "t", "Dimensions": [1.5]}]}]}`},
		"IOMode \"None\" is neither":                           {`{"Layers": ["a"], "I/O Tensors": [{"Name": "x", "IOMode": "None"}]}`},
		"1.json: layer information was given already":          {layers, layers},
		"row 1, \"a\": averageMs: -1 is no time":               {`[{"count": 1}, {"name": "a", "averageMs": -1}]`},
		"row 1: it has no name":                                {`[{"count": 1, "averageMs": 0}, {"averageMs": 1}]`},
		"query 1: it has no computeMs":                         {`[{"latencyMs": 1, "computeMs": 1}, {"latencyMs": 1}]`},
		"times of inferences alone":                            {`[{"latencyMs": 1, "computeMs": 1}]`},
		"the profile is of another engine":                     {layers, `[{"count": 1}, {"name": "b", "averageMs": 1}, {"name": "c", "averageMs": 1}]`},
	} {
		var list []File
		for i, text := range files {
			list = append(list, File{fmt.Sprint(i, ".json"), []byte(text)})
		}
		if _, err := OpenEngine(list); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", files, err, says)
		}
	}
}

// TestAstray: what a profile has of layers that are not described is not lost.
func TestAstray(t *testing.T) {
	e, err := OpenEngine([]File{{"layers.json", []byte(`{"Layers": ["conv", "fc"]}`)},
		{"profile.json", []byte(`[{"count": 9}, {"name": "conv + relu", "averageMs": 7}, {"name": "fc", "averageMs": 3}]`)}})
	if err != nil {
		t.Fatal(err)
	}
	s := e.Snapshot()
	want := `1 of 2 layers of the profile, such as "conv + relu", are not among those that are described: the files may be of two builds (70 % of the time)`
	if len(s.Model.Notes) != 1 || s.Model.Notes[0] != want || s.Overview.Badges[0].Why != want {
		t.Errorf("%q, %+v", s.Model.Notes, s.Overview.Badges)
	}
	if l := s.Timings.Layers; len(l) != 2 || l[0].Name != "conv + relu" || l[0].Share != 0.7 {
		t.Errorf("%+v", l)
	}
}

func FuzzOpenEngine(f *testing.F) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) == 0 {
		f.Fatal("no files", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		if e, err := OpenEngine([]File{{"x", data}}); err == nil {
			e.Snapshot()
		}
	})
}

// What ONNX Runtime fuses for another layout is of the node whose output it is named after.
func TestNodeOf(t *testing.T) {
	for name, want := range map[string]string{
		"stem/act/Relu_output_0_nchwc": "stem/act/Relu", "relu1_nchwc": "relu1", "Conv_0": "", "x_output_0": "", "_nchwc": "",
	} {
		if got := nodeOf(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}
