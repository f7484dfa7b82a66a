package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// LayerInfo is what TensorRT's inspector, and trtexec --exportLayerInfo, write of an engine: of TensorRT 10 and older with
// "Bindings", of 11 with "I/O Tensors", or a bare list of layers.
type LayerInfo struct {
	Layers  []EngineLayer
	Inputs  []EngineTensor // known by name alone before TensorRT 11, where no layer has them
	Outputs []EngineTensor
	Unknown []EngineTensor // bindings that no layer is said to read or make: inputs or outputs
	Names   bool           // the file has the layers' names alone
	Format  string
	own     bool // it was written here
}

// EngineLayer is a layer of an engine.
type EngineLayer struct {
	Name, LayerType, ParameterType string
	TacticName, TacticValue        string
	Metadata                       string
	StreamId                       int
	Inputs, Outputs                []EngineTensor
	Attrs                          map[string]any // what else there is, as decoded
	source                         string         // of ONNX Runtime: the model's node that it is named after; "": its own name
	own                            bool           // a bare list says in its first layer that it was written here
	added                          bool           // by the builder: other layers' metadata say of which of the model they are, and its own are empty
}

// EngineTensor is a tensor of an engine.
type EngineTensor struct {
	Name     string
	Dims     []int
	Format   string // in TensorRT's words, type and layout
	Type     string // "f32", "f16", "i8"...; "?" where Format names none
	IsInput  bool   `json:"-"`
	Elements int64  `json:"-"` // 0 where an extent is open
}

// layerTypes are read by hand; the others are attributes.
var layerFields = []string{"Name", "LayerType", "ParameterType", "TacticName", "TacticValue", "Metadata", "StreamId", "Inputs", "Outputs", "Generator"}

// ParseLayerInfo reads layer information. An error names the layer and the field.
func ParseLayerInfo(data []byte) (*LayerInfo, error) {
	var root struct {
		Layers   []json.RawMessage
		Bindings []string
		IO       []map[string]any `json:"I/O Tensors"`

		Generator any
	}
	info := &LayerInfo{Format: "TensorRT layer information"}
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		if err := unmarshal(data, &root.Layers); err != nil {
			return nil, err
		}
	} else if err := unmarshal(data, &root); err != nil {
		return nil, err
	}
	if len(root.Layers) == 0 {
		return nil, errors.New("it has no Layers")
	}
	for i, raw := range root.Layers {
		l, named, err := parseEngineLayer(raw)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		info.Names = info.Names || named
		info.Layers = append(info.Layers, l)
	}
	info.findAdded()
	info.own = root.Generator == generator || info.Layers[0].own
	if root.IO != nil {
		info.Format = "TensorRT 11 layer information"
		if err := info.takeIO(root.IO); err != nil {
			return nil, err
		}
		return info, nil
	}
	info.takeBindings(root.Bindings)
	return info, nil
}

// findAdded finds the layers that the builder added, where metadata says of which layers of the model the others are.
func (info *LayerInfo) findAdded() {
	says := func(l EngineLayer) bool { return origin.MatchString(l.Metadata) }
	some := slices.ContainsFunc(info.Layers, says)
	for i := range info.Layers {
		l := &info.Layers[i]
		l.added = some && l.added && !says(*l)
	}
}

// unmarshal decodes JSON with numbers as they stand; an error says where.
func unmarshal(data []byte, v any) error {
	if len(data) > Limit {
		return fmt.Errorf("more than %d MiB", Limit>>20)
	}
	err := json.Unmarshal(data, v)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		at := min(max(int(syntax.Offset), 0), len(data))
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:at], []byte("\n")), err)
	}
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return fmt.Errorf("field %s: %s is no %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return err
}

// parseEngineLayer reads a layer, which may be its name alone.
func parseEngineLayer(raw json.RawMessage) (l EngineLayer, named bool, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		err = unmarshal(raw, &l.Name)
		return l, true, err
	}
	var fields map[string]any
	if err := unmarshal(raw, &fields); err != nil {
		return l, false, err
	}
	for field, to := range map[string]*string{"Name": &l.Name, "LayerType": &l.LayerType, "ParameterType": &l.ParameterType,
		"TacticName": &l.TacticName, "TacticValue": &l.TacticValue, "Metadata": &l.Metadata} {
		if v, ok := fields[field]; ok {
			if *to, ok = v.(string); !ok {
				return l, false, fmt.Errorf("%s: %s is not a text", field, quoted(fmt.Sprint(v)))
			}
		}
	}
	if l.Name == "" {
		return l, false, errors.New("it has no Name")
	}
	_, l.added = fields["Metadata"]
	l.own = fields["Generator"] == generator
	if n, ok := fields["StreamId"].(float64); ok {
		l.StreamId = int(n)
	}
	for field, to := range map[string]*[]EngineTensor{"Inputs": &l.Inputs, "Outputs": &l.Outputs} {
		if *to, err = engineTensors(fields[field]); err != nil {
			return l, false, fmt.Errorf("%s: %s: %w", quoted(l.Name), field, err)
		}
	}
	for _, f := range layerFields {
		delete(fields, f)
	}
	l.Attrs = fields
	return l, false, nil
}

// engineTensors reads a list of tensors.
func engineTensors(v any) ([]EngineTensor, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, errors.New("it is not a list")
	}
	var tensors []EngineTensor
	for i, v := range list {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("tensor %d is not an object", i)
		}
		t, err := engineTensor(fields)
		if err != nil {
			return nil, fmt.Errorf("tensor %d: %w", i, err)
		}
		tensors = append(tensors, t)
	}
	return tensors, nil
}

// engineTensor reads a tensor of TensorRT 10, whose format and type are one text, or of 11.
func engineTensor(fields map[string]any) (t EngineTensor, err error) {
	text := func(names ...string) string {
		for _, name := range names {
			if s, ok := fields[name].(string); ok {
				return s
			}
		}
		return ""
	}
	t.Name, t.Format = text("Name"), text("Format/Datatype", "Format")
	typ := text("Datatype", "DataType", "Format/Datatype")
	if typ == "" {
		typ = t.Format
	} else if !strings.Contains(t.Format, typ) {
		t.Format = strings.TrimSpace(t.Format + " " + typ)
	}
	t.Type = typeOf(typ)
	if t.Dims, err = extents(fields["Dimensions"]); err != nil {
		return t, err
	}
	t.Elements = elements(t.Dims)
	return t, nil
}

// extents reads the extents of a tensor; -1 is open.
func extents(v any) ([]int, error) {
	list, ok := v.([]any)
	if v != nil && !ok {
		return nil, errors.New("its Dimensions are not a list")
	}
	if len(list) > 64 {
		return nil, fmt.Errorf("it has %d Dimensions", len(list))
	}
	var dims []int
	for _, v := range list {
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) || n < -1 || n > 1<<40 {
			return nil, fmt.Errorf("in Dimensions %s is no extent", quoted(fmt.Sprint(v)))
		}
		dims = append(dims, int(n))
	}
	return dims, nil
}

// elements returns how many elements there are, 0 where that is not known or absurd.
func elements(dims []int) int64 {
	n := int64(1)
	for _, d := range dims {
		if d < 0 || d > 0 && n > (1<<50)/int64(d) {
			return 0
		}
		n *= int64(d)
	}
	return n
}

// typeWords are the words of TensorRT for element types, the longer before those that they begin with, and their bits.
var typeWords = []struct {
	word, name string
	bits       int64
}{
	{"bf16", "bf16", 16}, {"bfloat16", "bf16", 16}, {"fp16", "f16", 16}, {"half", "f16", 16}, {"fp32", "f32", 32}, {"fp8", "f8", 8}, {"fp4", "f4", 4},
	{"int64", "i64", 64}, {"int32", "i32", 32}, {"uint8", "u8", 8}, {"int8", "i8", 8}, {"int4", "i4", 4}, {"bool", "bool", 8}, {"float", "f32", 32},
}

// typeOf returns our name of the element type in a text of TensorRT.
func typeOf(text string) string {
	text = strings.ToLower(text)
	for _, w := range typeWords {
		if strings.Contains(text, w.word) {
			return w.name
		}
	}
	return "?"
}

// bytesOf returns how many bytes elements of a type take.
func bytesOf(typ string, elements int64) int64 {
	for _, w := range typeWords {
		if w.name == typ {
			return (elements*w.bits + 7) / 8
		}
	}
	return 0
}

// takeIO takes the inputs and outputs that TensorRT 11 lists.
func (info *LayerInfo) takeIO(list []map[string]any) error {
	for i, fields := range list {
		t, err := engineTensor(fields)
		if err != nil {
			return fmt.Errorf("I/O Tensors %d: %w", i, err)
		}
		switch mode := fields["IOMode"]; mode {
		case "Input":
			info.Inputs = append(info.Inputs, t)
		case "Output":
			info.Outputs = append(info.Outputs, t)
		default:
			return fmt.Errorf("I/O Tensors %d: IOMode %s is neither Input nor Output", i, quoted(fmt.Sprint(mode)))
		}
	}
	return nil
}

// takeBindings tells inputs from outputs, as far as layers tell: what one makes is an output, what is only read an input. A tensor
// that is listed for several profiles counts once.
func (info *LayerInfo) takeBindings(names []string) {
	if len(names) > 0 {
		info.Format = "TensorRT layer information, 10 or older"
	}
	find := func(name string, of func(*EngineLayer) []EngineTensor) (EngineTensor, bool) {
		for i := range info.Layers {
			list := of(&info.Layers[i])
			if at := slices.IndexFunc(list, func(t EngineTensor) bool { return t.Name == name }); at >= 0 {
				return list[at], true
			}
		}
		return EngineTensor{}, false
	}
	seen := map[string]bool{}
	for _, name := range names {
		plain := profiled.ReplaceAllString(name, "")
		if seen[plain] {
			continue
		}
		seen[plain] = true
		if t, made := find(name, func(l *EngineLayer) []EngineTensor { return l.Outputs }); made {
			info.Outputs = append(info.Outputs, t)
		} else if t, read := find(name, func(l *EngineLayer) []EngineTensor { return l.Inputs }); read {
			info.Inputs = append(info.Inputs, t)
		} else {
			info.Unknown = append(info.Unknown, EngineTensor{Name: name, Type: "?"})
		}
	}
}

var (
	profiled = regexp.MustCompile(` \[profile \d+\]$`)
	origin   = regexp.MustCompile(`\[ONNX Layer: ([^\]\x1e\x1f]*)\]`)
)

// Sources returns the layers of the model that a layer computes, as its metadata says, or its name: fused one behind the other "a + b",
// side by side "a || b", element by element "PWN(a, b)". A layer that the builder added has none.
func (l *EngineLayer) Sources() (names []string) {
	if l.source != "" {
		return []string{l.source}
	}
	for _, m := range origin.FindAllStringSubmatch(l.Metadata, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	if len(names) > 0 || l.added || l.Reformats() {
		return names
	}
	for part := range strings.SplitSeq(profiled.ReplaceAllString(l.Name, ""), " + ") {
		for one := range strings.SplitSeq(part, " || ") {
			for _, name := range pointwise(one) {
				if name != "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// pointwise returns the members of a name of pointwise layers, "PWN(PWN(a), b)", each of which may have parentheses of its own.
func pointwise(name string) (members []string) {
	inner, ok := strings.CutPrefix(name, "PWN(")
	if !ok || !strings.HasSuffix(inner, ")") {
		return []string{name}
	}
	const deepest = 100
	inner = inner[:len(inner)-1]
	depth, from := 0, 0
	for i := range len(inner) {
		switch inner[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 && strings.HasPrefix(inner[i:], ", ") {
				members = append(members, inner[from:i])
				from = i + 2
			}
		}
		if depth > deepest {
			return []string{name}
		}
	}
	var all []string
	for _, m := range append(members, inner[from:]) {
		all = append(all, pointwise(m)...)
	}
	return all
}

// Reformats reports whether the builder added the layer to change a format.
func (l *EngineLayer) Reformats() bool {
	return l.LayerType == "Reformat" || l.LayerType == "ReorderInput" || l.LayerType == "ReorderOutput" || strings.HasPrefix(l.Name, "Reformatting CopyNode") || strings.HasPrefix(l.Name, "Reformat ")
}

// Untimed reports whether the layer launches nothing: profiles do not have it.
func (l *EngineLayer) Untimed() bool {
	return slices.Contains([]string{"NoOp", "Constant", "shape_call", "signal", "wait"}, l.LayerType)
}
