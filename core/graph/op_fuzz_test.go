package graph

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// extremes are the integers that mutations put into attributes and inputs.
var extremes = []int64{math.MinInt64, -1 << 40, -100, -3, -2, -1, 0, 1, 2, 3, 4, 7, 64, 1 << 20, math.MaxInt32, 1 << 40, math.MaxInt64}

// mutator changes a case of the op table as bytes say.
type mutator struct{ data []byte }

func (m *mutator) next(n int) int {
	if len(m.data) == 0 || n == 0 {
		return 0
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b) % n
}

func (m *mutator) extreme() int64 { return extremes[m.next(len(extremes))] }

func (m *mutator) value(v numeric.Value) numeric.Value {
	types := []numeric.DataType{numeric.F32, numeric.F16, numeric.BF16, numeric.F64, numeric.I8, numeric.U8, numeric.I16, numeric.U16, numeric.I32, numeric.U32, numeric.I64, numeric.U64, numeric.Bool}
	switch m.next(4) {
	case 0:
		if n := v.Len(); n > 0 && v.Type.IsInteger() {
			ints := append([]int64(nil), v.Ints()...)
			ints[m.next(n)] = m.extreme()
			w := numeric.NewValue(v.Type, v.Dims...)
			w.SetInts(ints, false)
			return w
		}
		return v
	case 1:
		dims := append([]int(nil), v.Dims...)
		if len(dims) > 0 {
			dims[m.next(len(dims))] = m.next(6)
		}
		return numeric.NewValue(v.Type, dims...)
	case 2:
		dims := make([]int, m.next(5))
		for i := range dims {
			dims[i] = m.next(4)
		}
		return numeric.NewValue(v.Type, dims...)
	}
	w := numeric.NewValue(types[m.next(len(types))], v.Dims...)
	numeric.Cast(w, v)
	return w
}

func (m *mutator) attr(a Attr) Attr {
	switch a.Kind {
	case AttrInt:
		a.Int = m.extreme()
	case AttrInts:
		list := append([]int64(nil), a.Ints...)
		if len(list) > 0 && m.next(3) > 0 {
			list[m.next(len(list))] = m.extreme()
		} else {
			list = append(list, m.extreme())
		}
		a.Ints = list
	case AttrTensor:
		a.Tensor = m.value(a.Tensor)
	}
	return a
}

// FuzzOps imports and evaluates mutated cases of the op table: they may be refused, but must not panic.
func FuzzOps(f *testing.F) {
	for i := range 500 {
		f.Add(uint16(i), []byte{byte(i), 0, byte(i * 7), 3, byte(i * 11), 1, 2, byte(i * 13)})
	}
	var cases []tableCase
	f.Fuzz(func(t *testing.T, index uint16, data []byte) {
		if cases == nil {
			cases = readTable(t)
		}
		c := cases[int(index)%len(cases)]
		m := &mutator{data}
		n, inputs := NewNetwork("fuzz"), map[string]numeric.Value{}
		node := &Node{Name: "node", OpType: c.Op, Version: c.Version, Outputs: len(c.Outputs), Attrs: c.attrs(t)}
		for _, name := range []string{"axis", "axes", "pads", "perm", "starts", "k", "blocksize", "split", "value", "start", "end", "batch_dims", "to"} {
			if a, ok := node.Attrs[name]; ok && m.next(2) == 1 {
				node.Attrs[name] = m.attr(a)
			}
		}
		for i, in := range c.Inputs {
			if in == nil || m.next(16) == 15 {
				node.Inputs = append(node.Inputs, nil)
				continue
			}
			v := in.value()
			if m.next(2) == 1 {
				v = m.value(v)
			}
			name := fmt.Sprintf("x%d", i)
			if in.Const != (m.next(8) == 7) {
				node.Inputs = append(node.Inputs, n.AddConst(name, v))
				continue
			}
			dims := symbolic.Shape(v.Dims...)
			for a := range dims {
				if m.next(3) == 2 {
					dims[a] = symbolic.Symbol(fmt.Sprintf("s%d", m.next(3)))
				}
			}
			inputs[name] = v
			node.Inputs = append(node.Inputs, n.AddInput(name, v.Type, dims...))
		}
		evaluateFuzzed(n, node, inputs)
	})
}

func evaluateFuzzed(n *Network, node *Node, inputs map[string]numeric.Value) {
	op := Ops().Onnx("", node.OpType)
	attrs, args := any(nil), node.Inputs
	if op.Import != nil {
		var err error
		if attrs, args, err = op.Import(node); err != nil {
			return
		}
	}
	names := make([]string, node.Outputs)
	for i := range names {
		names[i] = fmt.Sprintf("y%d", i)
	}
	l, err := n.Add("node", op, attrs, args, names...)
	if err != nil {
		return
	}
	env, err := n.Bind(inputs)
	if err != nil {
		return
	}
	for _, y := range l.Outputs {
		if size, _ := countDims(symbolic.Shape(symbolic.Eval(y.Dims, env)...)); size > 1<<16 {
			return
		}
		n.MarkOutput(y)
	}
	_, _ = n.Eval(context.Background(), inputs, nil)
}
