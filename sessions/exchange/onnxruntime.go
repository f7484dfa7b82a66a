package exchange

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// RuntimeProfile is a profile of ONNX Runtime (SessionOptions.enable_profiling): the nodes of its graph with the times of all runs.
type RuntimeProfile struct {
	Nodes []RuntimeNode // by when they first ran
	Runs  []time.Duration
}

// RuntimeNode is a node of an ONNX Runtime graph.
type RuntimeNode struct {
	Name, Op, Provider string
	Inputs, Outputs    []EngineTensor // their names are not told
	Times              []time.Duration
}

// runtimeEvent is an event of the profile, which is a list of those of Chrome's traces.
type runtimeEvent struct {
	Cat, Name string
	Ts, Dur   float64 // µs
	Args      struct {
		OpName          string             `json:"op_name"`
		Provider        string             `json:"provider"`
		InputTypeShape  []map[string][]any `json:"input_type_shape"`
		OutputTypeShape []map[string][]any `json:"output_type_shape"`
	}
}

const kernelTime = "_kernel_time"

// ParseRuntimeProfile reads a profile of ONNX Runtime.
func ParseRuntimeProfile(data []byte) (*RuntimeProfile, error) {
	var list []json.RawMessage
	if err := unmarshal(data, &list); err != nil {
		return nil, err
	}
	p, at := &RuntimeProfile{}, map[string]int{}
	for i, raw := range list {
		var e runtimeEvent
		if json.Unmarshal(raw, &e) != nil && !strings.Contains(string(raw), kernelTime) {
			continue // an event of another shape, which is none of a node
		} else if err := unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		took, err := milliseconds(e.Dur / 1e3)
		if err != nil {
			return nil, fmt.Errorf("event %d, %s: dur: %w", i, quoted(e.Name), err)
		}
		if e.Cat == "Session" && e.Name == "model_run" {
			p.Runs = append(p.Runs, took)
		}
		name, isKernel := strings.CutSuffix(e.Name, kernelTime)
		if e.Cat != "Node" || !isKernel {
			continue
		}
		key := name + "\x00" + e.Args.OpName
		n, ok := at[key]
		if !ok {
			n = len(p.Nodes)
			at[key] = n
			p.Nodes = append(p.Nodes, RuntimeNode{Name: name, Op: e.Args.OpName, Provider: e.Args.Provider,
				Inputs: runtimeTensors(e.Args.InputTypeShape), Outputs: runtimeTensors(e.Args.OutputTypeShape)})
		}
		p.Nodes[n].Times = append(p.Nodes[n].Times, took)
	}
	if len(p.Nodes) == 0 {
		return nil, errors.New("it has no times of nodes")
	}
	return p, nil
}

// runtimeTensors reads types and shapes, a tensor each: {"float": [1, 3]}.
func runtimeTensors(list []map[string][]any) (tensors []EngineTensor) {
	for _, m := range list {
		for typ, shape := range m {
			t := EngineTensor{Type: typeOf(typ), Format: typ}
			if dims, err := extents(shape); err == nil {
				t.Dims, t.Elements = dims, elements(dims)
			}
			tensors = append(tensors, t)
		}
	}
	return tensors
}

// layers returns the nodes as layers of an engine; nothing says how they are connected.
func (p *RuntimeProfile) layers() (*LayerInfo, []ProfileRow) {
	info := &LayerInfo{Format: "a profile of ONNX Runtime"}
	var rows []ProfileRow
	seen := map[string]int{}
	for _, n := range p.Nodes {
		name := cmp.Or(n.Name, n.Op)
		if seen[name]++; seen[name] > 1 {
			name += " #" + strconv.Itoa(seen[name])
		}
		info.Layers = append(info.Layers, EngineLayer{Name: name, LayerType: n.Op, TacticName: n.Provider, Inputs: n.Inputs, Outputs: n.Outputs, source: nodeOf(n.Name)})
		rows = append(rows, ProfileRow{Name: name, Samples: n.Times})
	}
	return info, rows
}

var ofOutput = regexp.MustCompile(`(_output_\d+)?_nchwc$`)

// nodeOf returns the node of the model that a node of ONNX Runtime is named after, "" where it has its name. What is fused for another
// layout is named after its output, which exporters name after its node: "relu1_output_0_nchwc".
func nodeOf(name string) string {
	if i := ofOutput.FindStringIndex(name); i != nil {
		return name[:i[0]]
	}
	return ""
}
