package exchange

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Layouts are the forms of layer information: as TensorRT 10 has it, which TREx reads, as TensorRT 11, and as a bare list.
func Layouts() []string { return []string{"trt10", "trt11", "list"} }

// generator is what files that are written here say in a member of that name, which other programs pass over: that the engine is none of
// TensorRT.
const generator = "trtui"

// LayerInfoJSON writes the steps of an engine as layer information of TensorRT. TREx ignores members that it does not know; a bare list
// has the generator in its first layer.
func LayerInfoJSON(s *report.Snapshot, layout string) ([]byte, error) {
	steps, err := stepsOf(s)
	if err != nil {
		return nil, err
	}
	layers := []object{}
	for _, l := range steps {
		layers = append(layers, layerObject(l, layout == "trt11"))
	}
	in, out := bindingsOf(s, steps)
	switch layout {
	case "trt10":
		names := []string{}
		for _, t := range slices.Concat(in, out) {
			names = append(names, t.Name)
		}
		return marshal(object{{"Layers", layers}, {"Bindings", names}, {"Generator", generator}})
	case "trt11":
		tensors := []object{}
		for i, t := range slices.Concat(in, out) {
			mode := map[bool]string{true: "Input", false: "Output"}[i < len(in)]
			tensors = append(tensors, object{{"Name", t.Name}, {"IOMode", mode}, {"DataType", trtType(t.Type)}, {"Dimensions", shapeOf(t)}, {"Location", "Device"}, {"IsShapeInferenceIO", false}})
		}
		return marshal(object{{"Layers", layers}, {"I/O Tensors", tensors}, {"Generator", generator}})
	case "list":
		if len(layers) > 0 {
			layers[0] = append(layers[0], member{"Generator", generator})
		}
		return marshal(layers)
	}
	return nil, fmt.Errorf("layout %s: want one of %s", quoted(layout), strings.Join(Layouts(), ", "))
}

// step is a step of a plan as other tools see it: a layer of the engine, or a reformat.
type step struct {
	report.Layer
	inputs  []report.Tensor
	tactic  string
	profile report.Latency
}

// stepsOf returns the steps in order of execution, with the tensors between them.
func stepsOf(s *report.Snapshot) ([]step, error) {
	if s.Passes == nil || len(s.Passes.Engine) == 0 {
		return nil, errors.New("layer information is of an engine's layers, and they are not known")
	}
	known, engine := map[string]report.Tensor{}, map[string]report.Layer{}
	if s.Model != nil {
		for _, t := range s.Model.Inputs {
			known[t.Name] = t
		}
	}
	for _, l := range s.Passes.Engine {
		engine[l.Name] = l
		for _, t := range l.Outputs {
			known[t.Name] = t
		}
	}
	source := map[string]bool{}
	for _, e := range s.Passes.Ledger {
		source[e.Layer] = true
	}
	withInputs := func(l report.Layer) step {
		if len(source) > 0 { // else the engine is without its source, and what the builder added cannot be told
			l.From = slices.DeleteFunc(slices.Clone(l.From), func(name string) bool { return !source[name] })
		}
		st := step{Layer: l}
		for _, name := range l.Inputs {
			t, ok := known[name]
			if !ok {
				t = report.Tensor{Name: name, Type: "?"}
			}
			st.inputs = append(st.inputs, t)
		}
		return st
	}
	var steps []step
	if s.Timings == nil {
		for _, l := range s.Passes.Engine {
			steps = append(steps, withInputs(l))
		}
		return steps, nil
	}
	for _, t := range s.Timings.Layers {
		l, ok := engine[t.Name]
		if !ok {
			l = reformat(t, known)
		}
		st := withInputs(l)
		st.tactic, st.profile = t.Tactic, t.Latency
		steps = append(steps, st)
	}
	return steps, nil
}

// reformat describes a step that the plan put between layers, whose name says of which tensor it is: "Reformat x to linear".
func reformat(t report.LayerTiming, known map[string]report.Tensor) report.Layer {
	l := report.Layer{Name: t.Name, Op: "Reformat", Precision: t.Precision}
	if words := strings.Fields(t.Name); len(words) > 1 {
		if from, ok := known[words[1]]; ok {
			l.Inputs = []string{from.Name}
			to := from
			to.Name = t.Name
			l.Outputs = []report.Tensor{to}
		}
	}
	return l
}

var groupAttr = regexp.MustCompile(`\bgroup=(\d+)`)

// layerObject writes a step as TensorRT writes a layer.
func layerObject(l step, eleven bool) object {
	typ := l.Op
	if l.Op == "Conv" {
		typ = "Convolution"
	}
	o := object{{"Name", l.Name}, {"LayerType", l.Op}, {"Inputs", tensorObjects(l.inputs, eleven)}, {"Outputs", tensorObjects(l.Outputs, eleven)}, {"ParameterType", typ}}
	switch l.Op {
	case "Conv":
		o = append(append(o, convolution(l)...), weights(l))
	case "Reformat":
		o = append(o, member{"Origin", "REFORMAT"})
	default:
		if l.Weights > 0 {
			o = append(o, weights(l))
		}
	}
	metadata := ""
	for _, name := range l.From {
		metadata += "\x1e[ONNX Layer: " + name + "]"
	}
	tactic := l.tactic
	if tactic == "" {
		tactic = "trtui"
	}
	return append(o, member{"TacticName", tactic}, member{"StreamId", 0}, member{"Metadata", strings.TrimPrefix(metadata, "\x1e")})
}

// convolution writes what TREx wants to know of one.
func convolution(l step) object {
	groups := 1
	if m := groupAttr.FindStringSubmatch(l.Attrs); m != nil {
		groups, _ = strconv.Atoi(m[1])
	}
	kernel := l.Kernel
	maps := 0
	if len(l.Outputs) > 0 && len(l.Outputs[0].Shape) > 1 {
		maps = l.Outputs[0].Shape[1]
		if kernel == nil {
			kernel = slices.Repeat([]int{1}, len(l.Outputs[0].Shape)-2)
		}
	}
	if kernel == nil {
		kernel = []int{}
	}
	return object{{"Kernel", kernel}, {"Groups", groups}, {"OutMaps", maps}}
}

// weights writes the constants of a layer in the type in which it computes, as bytes where they are not whole in it.
func weights(l step) member {
	typ, size := "Float", 4
	switch l.Precision {
	case "f16", "bf16":
		typ, size = "Half", 2
	case "i8", "u8":
		typ, size = "Int8", 1
	}
	if l.Weights%size != 0 {
		typ, size = "Int8", 1
	}
	return member{"Weights", object{{"Type", typ}, {"Count", l.Weights / size}}}
}

// trtFormats are the texts of TensorRT for types in rows; TREx knows these.
var trtFormats = map[string]string{"f32": "Row major linear FP32", "f16": "Row major linear FP16 format", "i8": "Row major Int8 format", "u8": "Row major Int8 format", "i32": "Row major linear Int32"}

// trtType names an element type as TensorRT 11 does.
func trtType(typ string) string {
	for _, w := range []struct{ ours, theirs string }{{"f32", "FP32"}, {"f16", "FP16"}, {"bf16", "BF16"}, {"i8", "INT8"}, {"u8", "UINT8"}, {"i32", "INT32"}, {"i64", "INT64"}, {"bool", "BOOL"}} {
		if w.ours == typ {
			return w.theirs
		}
	}
	return typ
}

func shapeOf(t report.Tensor) []int {
	if t.Shape == nil {
		return []int{}
	}
	return t.Shape
}

func tensorObjects(list []report.Tensor, eleven bool) []object {
	out := []object{}
	for _, t := range list {
		if eleven {
			out = append(out, object{{"Name", t.Name}, {"Dimensions", shapeOf(t)}, {"Format", "Row major linear"}, {"Datatype", trtType(t.Type)}})
			continue
		}
		format, ok := trtFormats[t.Type]
		if !ok {
			format = "Row major linear " + trtType(t.Type)
		}
		out = append(out, object{{"Name", t.Name}, {"Location", "Device"}, {"Dimensions", shapeOf(t)}, {"Format/Datatype", format}})
	}
	return out
}

// bindingsOf returns the inputs and outputs of an engine: those of its model, or what no step makes and none reads.
func bindingsOf(s *report.Snapshot, steps []step) (in, out []report.Tensor) {
	if s.Model != nil && len(s.Model.Inputs)+len(s.Model.Outputs) > 0 {
		return s.Model.Inputs, s.Model.Outputs
	}
	made, read := map[string]bool{}, map[string]bool{}
	for _, l := range steps {
		for _, t := range l.Outputs {
			made[t.Name] = true
		}
		for _, t := range l.inputs {
			read[t.Name] = true
		}
	}
	for _, l := range steps {
		for _, t := range l.inputs {
			if !made[t.Name] {
				made[t.Name] = true
				in = append(in, t)
			}
		}
		for _, t := range l.Outputs {
			if !read[t.Name] {
				out = append(out, t)
			}
		}
	}
	return in, out
}

// ProfileJSON writes the times of the steps as trtexec --exportProfile does. TREx takes rows of five members and no others, so
// that the row of the count may have another one.
func ProfileJSON(t *report.Timings) ([]byte, error) {
	if t == nil || len(t.Layers) == 0 {
		return nil, errors.New("a profile is of times of layers, and there are none")
	}
	runs, sum := 0, 0.0
	for _, l := range t.Layers {
		runs = max(runs, l.Count)
		sum += float64(l.Mean)
	}
	rows := []object{{{"count", max(runs, 1)}, {"generator", generator}}}
	for _, l := range t.Layers {
		mean := float64(l.Mean) / 1e6
		rows = append(rows, object{{"name", l.Name}, {"timeMs", mean * float64(max(runs, 1))}, {"averageMs", mean}, {"medianMs", float64(l.Median) / 1e6}, {"percentage", 100 * float64(l.Mean) / max(sum, 1)}})
	}
	return marshal(rows)
}

// TimesJSON writes times of inferences as trtexec --exportTimes does.
func TimesJSON(list []QueryTime) ([]byte, error) {
	rows := []object{}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	for _, q := range list {
		compute := q.Start + q.H2D
		rows = append(rows, object{{"startEnqMs", ms(q.Start)}, {"endEnqMs", ms(q.Start + q.Enqueue)}, {"startH2dMs", ms(q.Start)}, {"endH2dMs", ms(compute)},
			{"startComputeMs", ms(compute)}, {"endComputeMs", ms(compute + q.Compute)}, {"startD2hMs", ms(compute + q.Compute)}, {"endD2hMs", ms(q.End)},
			{"h2dMs", ms(q.H2D)}, {"computeMs", ms(q.Compute)}, {"d2hMs", ms(q.D2H)}, {"latencyMs", ms(q.Duration)}})
	}
	return marshal(rows)
}
