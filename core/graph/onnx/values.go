package onnx

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// input adds a network input.
func (im *importer) input(v *valueInfo) {
	typ, err := v.dataType()
	switch {
	case err != nil:
	case !v.hasShape:
		err = fmt.Errorf("its number of dimensions is not known; export the model with input shapes")
	case v.name == "":
		err = fmt.Errorf("it has no name")
	case im.values[v.name] != nil:
		err = fmt.Errorf("there are two inputs of this name")
	}
	if err != nil {
		im.values[v.name] = nil
		im.report(&Problem{Reason: fmt.Sprintf("input %q: %v", v.name, err)})
		return
	}
	dims := make([]graph.Dim, len(v.dims))
	for i, d := range v.dims {
		switch {
		case d.known && d.value > maxElements:
			im.report(&Problem{Reason: fmt.Sprintf("input %q: dimension %d is %d", v.name, i, d.value)})
		case d.known && d.value >= 0:
			dims[i] = graph.Const(int(d.value))
		case d.param != "":
			dims[i] = graph.Symbol(im.symbol(d.param))
		default:
			dims[i] = graph.Symbol(im.symbol(fmt.Sprintf("%s_dim%d", v.name, i)))
		}
	}
	im.values[v.name] = im.net.AddInput(v.name, typ, dims...)
}

func (v *valueInfo) dataType() (graph.DataType, error) {
	if v.kind != "tensor" {
		return graph.Invalid, fmt.Errorf("its type, %s, is not supported", v.kind)
	}
	return elementType(v.elemType)
}

// symbol returns a symbol for a dimension's name: letters, digits and underscores, and another one for every name.
func (im *importer) symbol(param string) string {
	if s, ok := im.symbols[param]; ok {
		return s
	}
	s := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, param)
	if s == "" || s[0] >= '0' && s[0] <= '9' || s == "div" || s == "min" || s == "max" {
		s = "_" + s
	}
	for im.taken[s] {
		s += "_"
	}
	im.taken[s], im.symbols[param] = true, s
	return s
}

// output marks a network output and checks it against its declaration.
func (im *importer) output(v *valueInfo) {
	t, ok := im.value(v.name)
	if t == nil {
		if !ok {
			im.report(&Problem{Reason: fmt.Sprintf("output %q: nothing produces it", v.name)})
		}
		return
	}
	if im.net.IsOutput(t) {
		im.report(&Problem{Reason: fmt.Sprintf("output %q is declared twice", v.name)})
		return
	}
	im.net.MarkOutput(t)
	if v.kind != "tensor" {
		return
	}
	if typ, err := elementType(v.elemType); v.elemType != 0 && (err != nil || typ != t.Type) {
		im.report(&Problem{Reason: fmt.Sprintf("output %q is declared as %s, but the graph computes %s", v.name, typ, t.TypeString())})
	}
	if !v.hasShape {
		return
	}
	bad := len(v.dims) != len(t.Dims)
	for i := 0; !bad && i < len(v.dims); i++ {
		n, ok := t.Dims[i].IsConst()
		bad = ok && v.dims[i].known && v.dims[i].value >= 0 && v.dims[i].value != int64(n)
	}
	if bad {
		im.report(&Problem{Reason: fmt.Sprintf("output %q is declared with shape %s, but the graph computes %s", v.name, v.shapeString(), t.TypeString())})
	}
}

func (v *valueInfo) shapeString() string {
	s := make([]string, len(v.dims))
	for i, d := range v.dims {
		switch {
		case d.known:
			s[i] = fmt.Sprint(d.value)
		case d.param != "":
			s[i] = d.param
		default:
			s[i] = "?"
		}
	}
	return "[" + strings.Join(s, ",") + "]"
}

// value returns the tensor of that name; an initializer becomes a constant on its first use. ok is false if nothing
// produces it, and true with a nil tensor if what produces it has been reported as a problem.
func (im *importer) value(name string) (t *graph.Tensor, ok bool) {
	if t, ok := im.values[name]; ok {
		return t, true
	}
	if im.sparse[name] {
		im.values[name] = nil
		im.report(&Problem{Reason: fmt.Sprintf("initializer %q is sparse, which is not supported", name)})
		return nil, true
	}
	init := im.initializers[name]
	if init == nil {
		return nil, false
	}
	v, err := init.value(im.external)
	if err != nil {
		im.values[name] = nil
		im.report(&Problem{Reason: fmt.Sprintf("initializer %q: %v", name, err)})
		return nil, true
	}
	im.values[name] = im.net.AddConst(name, v)
	return im.values[name], true
}
