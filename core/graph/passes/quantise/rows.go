package quantise

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
)

// Rows makes one layer of a product and what rounds its rows by ranges of their own: they become bytes as they come, and are multiplied
// as such.
//
//	r = RoundRows(x)
//	t = DequantizeLinear(w i8)
//	s = MatMul(r, t) | add($0, b)        ->   q i8 = DynamicQuantizeMatMul(x, w, scales) rows | add($0, b)
//	q = QuantizeLinear(s)
//
// Parts of the result may have different ranges, as behind other products (Fuse). Without a Quantize behind it the result is f32. Where the target has no such tactic both stay as they are.
var Rows = pass.Pass{
	Name:  "fuse-rows",
	Doc:   "products quantise the rows that they read, each by its own range",
	Rules: []string{"int8-rows"},
	Lower: true,
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return fuseRows(r, l) }) },
}

func fuseRows(r *pass.Rewrite, l *graph.Layer) bool {
	if !l.Op.IsProduct() || len(l.Inputs) < 2 {
		return false
	}
	rows, d := l.Inputs[0].Producer, l.Inputs[1].Producer
	if rows == nil || rows.Op != graph.RoundRows || !IsDequantize(d) {
		return false
	}
	c := r.Candidate("int8-rows", rows, d, l)
	q, ok := d.Inputs[0].Const()
	if !ok {
		return c.Miss(pass.NotConstant, "weights %s are computed", d.Inputs[0].Name)
	}
	by, err := l.ByRows(rows.Inputs[0], q, d.Attrs.(graph.QuantAttrs).Range, rows.Attrs.(graph.RoundRowsAttrs).Rows)
	if err != nil {
		return c.Miss(pass.WrongAttribute, "%v", err)
	}
	y := l.Outputs[0]
	behind := quantizedBehind(r, y)
	if behind.result != nil {
		by.Outputs = []*graph.Tensor{behind.result}
		if r.Supports(by) != nil { // perhaps it has a tactic that gives f32
			behind, by.Outputs = quantizedResult{}, l.Outputs
		}
	}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	found := []*graph.Layer{l}
	for _, m := range []*graph.Layer{rows, d} {
		if r.Network().Sole(m.Outputs[0]) == l {
			found = append(found, m)
		}
	}
	found = append(found, behind.quantize...)
	c.Found, c.Traffic, c.Members = found, r.Traffic(found), nil
	for _, m := range found {
		c.Members = append(c.Members, m.From...)
	}
	c.Members = r.Sources(c.Members)
	return replaceByRows(c, l, by, behind)
}

// replaceByRows puts the dynamic product in the place of l, of what quantises its result and of what nothing else reads.
func replaceByRows(c *pass.Candidate, l, by *graph.Layer, behind quantizedResult) bool {
	n := c.Rewrite().Network()
	for i, t := range by.Inputs {
		if t != nil && t.IsConst() && n.Tensor(t.Name) != t {
			v, _ := t.Const()
			by.Inputs[i] = n.AddConst(t.Name, v)
		}
	}
	y := l.Outputs[0]
	by.Outputs, by.From = []*graph.Tensor{y}, c.Members
	if behind.split != nil {
		y.Type, y.Range = behind.result.Type, behind.result.Range
	}
	for i, q := range behind.quantize {
		out := q.Outputs[0]
		out.Producer, out.Range = nil, q.Attrs.(graph.QuantAttrs).Range // so that it stays when its layer goes
		if behind.split != nil {
			behind.split.SetOutput(i, out)
		} else {
			by.Outputs[0] = out
		}
	}
	if by.Outputs[0] == y {
		y.Producer = nil
	}
	for _, m := range c.Found {
		n.Remove(m)
	}
	return c.Fire(n.Insert(by))
}
