package reduce

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// Read reads the model at path, to be tried on these inputs, by name.
func Read(path string, feeds map[string]numeric.Value) (*Model, error) {
	p, err := onnx.ReadParts(path)
	if err != nil {
		return nil, err
	}
	m := &Model{IR: p.IR, Opset: p.Opsets[""], Domains: p.Opsets, Outputs: p.Outputs, Functions: p.Functions, Types: p.Types}
	if m.Opset == 0 {
		m.Opset = 1
	}
	delete(m.Domains, "")
	for _, in := range p.Inputs {
		v, ok := feeds[in.Name]
		switch {
		case !ok:
			return nil, fmt.Errorf("input %s has no value to be tried with", in.Name)
		case v.Type != in.Type:
			return nil, fmt.Errorf("input %s is %s, the value to be tried with %s", in.Name, in.Type, v.Type)
		case len(in.Symbols) != len(v.Dims):
			in.Symbols = make([]string, len(v.Dims)) // the file does not say its rank
		}
		m.Inputs = append(m.Inputs, Input{Name: in.Name, Open: in.Symbols, Feed: v})
	}
	for _, c := range p.Consts {
		m.Consts = append(m.Consts, Const(c))
	}
	for _, n := range p.Nodes {
		m.Nodes = append(m.Nodes, Node{
			Op: n.Op, Name: n.Name, Domain: n.Domain, Overload: n.Overload, In: n.Inputs, Out: n.Outputs,
			Attrs: n.Attrs, Raw: n.Raw, Captured: n.Captured,
		})
	}
	m.Prune()
	return m, nil
}
