package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// input adds a network input.
func (im *importer) input(v *valueInfo) {
	switch {
	case v.name == "":
		im.refuse(&Problem{Reason: `input "": it has no name`})
		return
	case im.values[v.name] != nil || im.sequences[v.name] != nil:
		im.refuse(&Problem{Reason: fmt.Sprintf("input %q: there are two inputs of this name", v.name)})
		return
	}
	if v.kind == kindSequence {
		im.sequenceInput(v)
		return
	}
	if value, ok := im.Fixed[v.name]; ok {
		im.values[v.name] = im.net.AddConst(v.name, value)
		return
	}
	typ, err := v.dataType()
	axes, given := im.Axes[v.name]
	switch {
	case err != nil || v.hasShape:
	case !given:
		err = fmt.Errorf("its number of dimensions is not known; export the model with input shapes")
	case axes < 0 || axes > maxAxes:
		err = fmt.Errorf("%d dimensions are given for it, 0 to %d are possible", axes, maxAxes)
	default:
		v.dims = make([]dim, axes)
	}
	if err != nil {
		im.values[v.name] = nil
		im.unread(v.name, Problem{Reason: fmt.Sprintf("input %q: %v", v.name, err), Axes: !v.hasShape && v.kind == "tensor"})
		if im.look != nil {
			im.values[v.name] = im.net.AddInput(v.name, numeric.Invalid)
		}
		return
	}
	if text, ok := im.Constants[v.name]; ok {
		im.constantInput(v, typ, text)
		return
	}
	dims, at := make([]symbolic.Dim, len(v.dims)), im.shapeOf(v)
	for i, d := range v.dims {
		if at != nil && !d.known {
			d = dim{known: true, value: int64(at[i])}
		}
		if d.known && d.value > maxElements {
			im.refuse(&Problem{Reason: fmt.Sprintf("input %q: dimension %d is %d", v.name, i, d.value)})
		} else {
			dims[i] = im.extent(v.name, i, d)
		}
	}
	im.values[v.name] = im.net.AddInput(v.name, typ, dims...)
}

// checkConstants refuses a value of what is no input.
func (im *importer) checkConstants(g *graphProto) {
	var inputs []string
	for _, v := range g.inputs {
		if im.initializers[v.name] == nil {
			inputs = append(inputs, v.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(im.Constants)) {
		if !slices.Contains(inputs, name) {
			im.refuse(&Problem{Reason: fmt.Sprintf("a value is given for %q, and there is no such input; the inputs are %s", name, inputNames(inputs))})
		}
	}
}

// constantInput makes an input a constant of which each element is the number or truth value that a text is; an axis that is open has one.
func (im *importer) constantInput(v *valueInfo, typ numeric.DataType, text string) {
	refuse := func(why string, args ...any) {
		im.values[v.name] = nil
		im.refuse(&Problem{Reason: fmt.Sprintf("input %q is to be %q: ", v.name, text) + fmt.Sprintf(why, args...)})
	}
	dims, elements := make([]int, len(v.dims)), 1
	for i, d := range v.dims {
		dims[i] = 1
		if at := im.shapeOf(v); d.known {
			dims[i] = int(d.value)
		} else if at != nil {
			dims[i] = at[i]
		}
		if dims[i] < 0 || dims[i] > maxConstant || elements*dims[i] > maxConstant {
			refuse("it has more than %d elements", maxConstant)
			return
		}
		elements *= dims[i]
	}
	switch written := strings.ToLower(text); {
	case typ != numeric.Bool:
	case written == "true":
		text = "1"
	case written == "false":
		text = "0"
	}
	value := numeric.NewValue(typ, dims...)
	if err := value.SetParsed(slices.Repeat([]string{text}, elements)); err != nil {
		refuse("want a number, or true or false")
		return
	}
	if im.made != nil {
		im.made[v.name] = value
	}
	im.values[v.name] = im.net.AddConst(v.name, value)
}

// maxConstant bounds the elements of [Importer.Constants].
const maxConstant = 1 << 20

// shapeOf returns the shape at which alone an input is imported; nil where there is none, or it is of another number of axes.
func (im *importer) shapeOf(v *valueInfo) []int {
	at, ok := im.Shapes[v.name]
	if !ok {
		at = im.Shapes[""]
	}
	if len(at) != len(v.dims) {
		return nil
	}
	return at
}

// maxAxes bounds [Importer.Axes].
const maxAxes = 64

// extent returns extent i of a value; one that is not given becomes a symbol.
func (im *importer) extent(value string, i int, d dim) symbolic.Dim {
	switch {
	case d.known && d.value >= 0:
		return symbolic.Const(int(d.value))
	case d.param != "":
		return symbolic.Symbol(im.symbol(d.param))
	}
	return symbolic.Symbol(im.symbol(fmt.Sprintf("%s_dim%d", value, i)))
}

// unread reports why an input or an initializer cannot be read.
func (im *importer) unread(name string, p Problem) {
	im.report(&p)
	if im.look != nil {
		im.look.bad[name] = p.Reason
	}
}

func (v *valueInfo) dataType() (numeric.DataType, error) {
	if v.kind != "tensor" {
		return numeric.Invalid, fmt.Errorf("its type, %s, is not supported", v.kind)
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
		if list := im.list(v.name); list != nil {
			im.sequenceOutput(v.name, list)
		} else if im.rowsOf(v.name) != nil {
			im.report(&Problem{Reason: fmt.Sprintf("output %q is a sequence, and how many tensors it has is not known", v.name)})
		} else if !ok {
			im.refuse(&Problem{Reason: fmt.Sprintf("output %q: nothing produces it", v.name)})
		}
		return
	}
	if im.net.IsOutput(t) {
		im.refuse(&Problem{Reason: fmt.Sprintf("output %q is declared twice", v.name)})
		return
	}
	im.net.MarkOutput(t)
	if v.kind != "tensor" || im.look != nil && (!t.IsKnown() || im.look.behind[v.name] != "") {
		return
	}
	if typ, err := elementType(v.elemType); v.elemType != 0 && (err != nil || typ != t.Type) {
		im.report(&Problem{Reason: fmt.Sprintf("output %q is declared as %s, but the graph computes %s", v.name, typ, t.TypeString())})
	}
	if !v.hasShape {
		return
	}
	reason := fmt.Sprintf("output %q is declared with shape %s, but the graph computes %s", v.name, v.shapeString(), t.TypeString())
	switch {
	// A declaration without a number may have another rank, as those have that exporters infer of what they write otherwise than ONNX says.
	case len(v.dims) != len(t.Dims) && slices.ContainsFunc(v.dims, func(d dim) bool { return d.known }):
		im.report(&Problem{Reason: reason})
	case len(v.dims) == len(t.Dims) && v.contradicts(t.Dims):
		im.note(Problem{Reason: reason + "; the declaration is ignored"})
	}
}

// contradicts reports whether an extent that is declared is another number than the one of the graph; as many are declared.
func (v *valueInfo) contradicts(dims []symbolic.Dim) bool {
	for i, d := range v.dims {
		if n, ok := dims[i].IsConst(); ok && d.known && d.value >= 0 && d.value != int64(n) {
			return true
		}
	}
	return false
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
		im.unread(name, Problem{Reason: fmt.Sprintf("initializer %q is sparse, which is not supported", name)})
		return nil, true
	}
	init := im.initializers[name]
	if init == nil {
		return im.outside(name)
	}
	v, err := init.value(im.external)
	if err != nil {
		im.values[name] = nil
		im.unread(name, Problem{Reason: fmt.Sprintf("initializer %q: %v", name, err)})
		if _, unknown := elementType(init.dataType); unknown == nil && !init.segment {
			im.damaged = true // the data is not there, or is not as the model says
		}
		return nil, true
	}
	im.values[name] = im.net.AddConst(im.scope.prefix+name, v)
	return im.values[name], true
}
