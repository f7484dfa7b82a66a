package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// A sequence that is an input or an output of a model is an input or an output of the network for each of its tensors. How many an
// input has is given by [Importer.Lengths].

// Element returns the name that tensor i of the sequence has in a network whose input or output the sequence is.
func Element(sequence string, i int) string { return fmt.Sprintf("%s.%d", sequence, i) }

// checkLengths refuses a length of what is no sequence among the inputs, and names those that there are.
func (im *importer) checkLengths(g *graphProto) {
	var inputs, sequences []string
	for _, v := range g.inputs {
		if im.initializers[v.name] == nil {
			inputs = append(inputs, v.name)
			if v.kind == kindSequence {
				sequences = append(sequences, v.name)
			}
		}
	}
	there := "none of the inputs is one: " + inputNames(inputs)
	if len(sequences) > 0 {
		there = "the sequences among the inputs are " + inputNames(sequences)
	}
	for _, name := range slices.Sorted(maps.Keys(im.Lengths)) {
		switch {
		case slices.Contains(sequences, name):
		case slices.Contains(inputs, name):
			im.refuse(&Problem{Reason: fmt.Sprintf("a length is given for input %q, which is no sequence; %s", name, there), Length: true})
		default:
			im.refuse(&Problem{Reason: fmt.Sprintf("a length is given for %q, and there is no such input; %s", name, there), Length: true})
		}
	}
}

// inputNames lists names, the first of many.
func inputNames(names []string) string {
	const most = 8
	var list []string
	for _, n := range names[:min(len(names), most)] {
		list = append(list, fmt.Sprintf("%q", n))
	}
	if more := len(names) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// sequenceInput adds an input for each tensor of a sequence. Their extents may differ, whatever they are called.
func (im *importer) sequenceInput(v *valueInfo) {
	im.values[v.name] = nil
	n, ok := im.Lengths[v.name]
	if !ok || n < 0 || n > maxSequence {
		p := Problem{Reason: fmt.Sprintf("input %q is a sequence, and how many tensors it has is not given", v.name), Length: true}
		if ok {
			p.Reason = fmt.Sprintf("input %q is a sequence of %d tensors; 0 to %d are possible", v.name, n, maxSequence)
		}
		im.report(&p)
		if im.look != nil {
			im.look.bad[v.name] = p.Reason
			im.values[v.name] = im.net.AddInput(v.name, numeric.Invalid)
		}
		return
	}
	list := make([]*graph.Tensor, n)
	for i := range list {
		element := *v
		element.kind, element.name, element.dims = "tensor", Element(v.name, i), slices.Clone(v.dims)
		for axis := range element.dims {
			element.dims[axis].param = ""
		}
		if im.values[element.name] != nil || im.initializers[element.name] != nil || im.isReserved(element.name) {
			im.refuse(&Problem{Reason: fmt.Sprintf("input %q: its tensor %d would be %q, and there is another value of that name", v.name, i, element.name)})
			return
		}
		im.input(&element)
		if list[i] = im.values[element.name]; list[i] == nil {
			return
		}
	}
	delete(im.values, v.name)
	im.sequences[v.name] = list
}

// sequenceOutput marks the tensors of a sequence as outputs.
func (im *importer) sequenceOutput(name string, list []*graph.Tensor) {
	if len(list) == 0 {
		im.report(&Problem{Reason: fmt.Sprintf("output %q is a sequence without tensors, which is not supported", name)})
	}
	for i, t := range list {
		element := Element(name, i)
		if im.net.Tensor(element) == t && im.net.IsInput(t) && !im.net.IsOutput(t) { // a sequence handed through
			im.net.MarkOutput(t)
			continue
		}
		if im.net.Tensor(element) != nil || im.net.Layer(element) != nil {
			im.report(&Problem{Reason: fmt.Sprintf("output %q: its tensor %d would be %q, and there is another of that name", name, i, element)})
			return
		}
		l, err := im.net.Add(element, graph.Identity, nil, []*graph.Tensor{t}, element)
		if err != nil {
			im.report(&Problem{Reason: fmt.Sprintf("output %q: tensor %d: %v", name, i, unwrapLayer(err))})
			return
		}
		im.net.MarkOutput(l.Outputs[0])
	}
}

// ErrNoElement is the error of test data that is an optional without an element; see [Importer.Without].
var ErrNoElement = errors.New("it is an optional without an element")

// ReadTensors decodes a SequenceProto of tensors, or an OptionalProto of a tensor or of such a sequence: the forms of ONNX's test data
// for inputs that are no tensors. A sequence of one tensor and an optional tensor are written alike. The values' data may be parts of b.
func ReadTensors(b []byte) (name string, list []numeric.Value, err error) {
	var d decoder
	var tensors []*tensor
	var nested []byte
	typ := int64(-1)
	d.fields("sequence", b, func(f field) {
		switch f.num {
		case 1:
			name = d.text(f)
		case 2:
			typ = d.int(f)
		case 3:
			if len(tensors) < maxSequence {
				tensors = append(tensors, d.tensor(d.bytes(f)))
			} else {
				d.bytes(f)
			}
		case 5:
			nested = d.bytes(f)
		}
	})
	switch {
	case d.err != nil:
		return "", nil, d.err
	case len(tensors) == maxSequence:
		return name, nil, fmt.Errorf("sequence %q has %d tensors or more", name, maxSequence)
	case nested != nil && typ == elementSequence:
		_, list, err = ReadTensors(nested)
		return name, list, err
	case tensors == nil && typ == 0:
		return name, nil, ErrNoElement
	case tensors == nil && typ != elementTensor:
		return name, nil, fmt.Errorf("sequence %q is of no tensors", name)
	}
	for _, t := range tensors {
		v, err := t.value(nil)
		if err != nil {
			return name, nil, err
		}
		list = append(list, v)
	}
	return name, list, nil
}

// What an optional or a sequence has, by their elem_type.
const (
	elementTensor   = 1
	elementSequence = 3
)
