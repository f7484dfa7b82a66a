package reduce

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

func values(dims ...int) numeric.Value {
	v := numeric.NewValue(numeric.F32, dims...)
	for i := range v.F32() {
		v.F32()[i] = float32(i%7)/4 - 0.5
	}
	return v
}

// chain is Relu, so many Sinh, Softmax, a Reshape by a constant shape, and again so many Sinh.
func chain(n int) *Model {
	m := &Model{
		Opset: 17, Inputs: []Input{{Name: "x", Open: []string{"n", ""}, Feed: values(6, 8)}},
		Consts: []Const{{"shape", numeric.Values(numeric.I64, []int64{8, 6}, 2)}},
	}
	last := "x"
	add := func(op string, more ...string) {
		out := op + string(rune('a'+len(m.Nodes)))
		m.Nodes = append(m.Nodes, Node{Op: op, Name: out, In: append([]string{last}, more...), Out: []string{out}})
		last = out
	}
	add("Relu")
	for range n {
		add("Sin")
	}
	add("Softmax")
	add("Reshape", "shape")
	for range n {
		add("Sin")
	}
	m.Outputs = []string{last}
	return m
}

func has(m *Model, op string) bool {
	return slices.ContainsFunc(m.Nodes, func(n Node) bool { return n.Op == op })
}

// A long chain is cut to the two nodes that are wrong together, in fewer tries than it has nodes, and each model on the way can
// be imported and computed.
func TestSearch(t *testing.T) {
	whole := chain(40)
	s := Search{Fails: func(_ context.Context, m *Model) bool {
		n, err := onnx.Parse(graph.Ops(), "m.onnx", m.Encode())
		if err != nil {
			return false
		}
		if _, err := n.Eval(context.Background(), m.Feeds(), nil); err != nil {
			return false
		}
		return has(m, "Softmax") && has(m, "Reshape")
	}}
	m := s.Run(context.Background(), whole, time.Minute)
	if len(m.Nodes) != 2 || s.tries > len(whole.Nodes) {
		t.Errorf("%d nodes are left behind %d tries", len(m.Nodes), s.tries)
	}
	for _, v := range m.Data() {
		if v.Len() > 2 {
			t.Errorf("%v elements are left", v.Dims)
		}
	}
	if m.Types[m.Outputs[0]] != numeric.F32 || len(whole.Nodes) != 83 {
		t.Errorf("outputs %v, the model itself has %d nodes now", m.Types, len(whole.Nodes))
	}
	if _, ok := m.Shapes[m.Outputs[0]]; !ok {
		t.Error("the output's shape is not known")
	}
}

// A file says of outputs what ONNX's checker wants to know, also of those of rank 0 and of extents that are open.
func TestDeclared(t *testing.T) {
	m := chain(1)
	m.Nodes = append(m.Nodes[:1], Node{Op: "ReduceSum", Name: "sum", In: []string{"Relua"}, Out: []string{"sum"}, Attrs: map[string]graph.Attr{"keepdims": {Kind: graph.AttrInt}}})
	m.Outputs = []string{"Relua", "sum"}
	d := m.Declared()
	if m.Shapes != nil || !slices.Equal(d.Shapes["Relua"], []int{-1, 8}) || d.Shapes["sum"] == nil || len(d.Shapes["sum"]) != 0 {
		t.Fatalf("%v, of the model itself %v", d.Shapes, m.Shapes)
	}
	for name, want := range map[string]string{
		"Relua": "\x0a\x05Relua\x12\x0c\x0a\x0a\x08\x01\x12\x06\x0a\x00\x0a\x02\x08\x08",
		"sum":   "\x0a\x03sum\x12\x06\x0a\x04\x08\x01\x12\x00",
	} {
		if got := string(d.encodeOutput(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := onnx.Parse(graph.Ops(), "m.onnx", d.Encode()); err != nil {
		t.Error(err)
	}
}

// What is cut off at nodes that cannot be imported has the values of those before.
func TestSearchUnsupported(t *testing.T) {
	m := chain(3)
	m.Nodes[4].Op, m.Nodes[4].Domain, m.Domains = "Sift", "com.example", map[string]int{"com.example": 1}
	s := Search{Fails: func(_ context.Context, m *Model) bool { return has(m, "Sift") }}
	got := s.Run(context.Background(), m, time.Minute)
	if len(got.Nodes) != 1 || len(got.Inputs) != 1 || got.Inputs[0].Feed.Len() != 1 {
		t.Errorf("%+v", got)
	}
}

// A search ends with its context and has what it found until then.
func TestSearchStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	s := Search{}
	s.Fails = func(_ context.Context, m *Model) bool {
		if s.tries == 2 {
			stop()
		}
		return true
	}
	if m := s.Run(ctx, chain(40), time.Hour); s.tries != 2 || len(m.Nodes) != 41 || !s.Over() {
		t.Errorf("%d tries, %d nodes", s.tries, len(m.Nodes))
	}
}

// A model that is read and written computes what it did.
func TestRead(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "digits.onnx")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	net, err := onnx.Parse(graph.Ops(), "digits.onnx", data)
	if err != nil {
		t.Fatal(err)
	}
	in := net.Inputs[0]
	dims := make([]int, len(in.Dims))
	for i, d := range in.Dims {
		if n, ok := d.IsConst(); ok {
			dims[i] = n
		} else {
			dims[i] = 1
		}
	}
	feeds := map[string]numeric.Value{in.Name: values(dims...)}
	m, err := Read(path, feeds)
	if err != nil {
		t.Fatal(err)
	}
	again, err := onnx.Parse(graph.Ops(), "digits.onnx", m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	want, err := net.Eval(context.Background(), feeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Eval(context.Background(), feeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if !Equal(want[name], got[name]) {
			t.Errorf("output %s differs", name)
		}
	}
	if _, err := Read(path, nil); err == nil {
		t.Error("a model is read without its inputs")
	}
}
