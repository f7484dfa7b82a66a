package rules

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Bounds of the check of rewrites.
const (
	maxWork     = 1 << 30 // operations, of all checks of a pass
	maxElements = 1 << 22 // of all tensors, of one check
	freeExtent  = 3       // of symbols without a value
)

// draft returns the results of the replacement as they would be, made apart from the network.
func (m *match) draft() (z []*graph.Tensor, err error) {
	defer graph.CatchFault(&err)
	d := newDraft("draft", func(t *graph.Tensor) []symbolic.Dim { return t.Dims })
	return d.replacement(m)
}

// draft is a network of its own with the pattern's inputs.
type draft struct {
	net  *graph.Network
	dims func(*graph.Tensor) []symbolic.Dim
	has  map[*graph.Tensor]*graph.Tensor
}

func newDraft(name string, dims func(*graph.Tensor) []symbolic.Dim) *draft {
	return &draft{graph.NewNetwork(name), dims, map[*graph.Tensor]*graph.Tensor{}}
}

// place returns what stands for a tensor of the network that the pattern does not make.
func (d *draft) place(t *graph.Tensor) *graph.Tensor {
	if x := d.has[t]; x != nil {
		return x
	}
	var x *graph.Tensor
	if v, ok := t.Const(); ok {
		x = d.net.AddConst(t.Name, v)
	} else {
		x = d.net.AddInput(t.Name, t.Type, d.dims(t)...)
		x.Value = t.Value
	}
	d.has[t] = x
	return x
}

// replacement adds what takes the pattern's place, and returns its results.
func (d *draft) replacement(m *match) ([]*graph.Tensor, error) {
	for _, t := range m.inputs {
		d.place(t)
	}
	b := &builder{m: m, net: d.net, place: d.place, name: "new"}
	results, err := b.all()
	if err != nil {
		return nil, err
	}
	for _, x := range results {
		d.net.MarkOutput(x)
	}
	return results, nil
}

// pattern adds the layers that were found, and returns their results.
func (d *draft) pattern(m *match) (results []*graph.Tensor, err error) {
	for _, t := range m.inputs {
		d.place(t)
	}
	for _, l := range m.layers { // those that one reads come before it
		var inputs []*graph.Tensor
		for _, t := range l.Inputs {
			if t == nil {
				inputs = append(inputs, nil)
				continue
			}
			inputs = append(inputs, d.place(t))
		}
		names := make([]string, len(l.Outputs))
		for k, t := range l.Outputs {
			names[k] = t.Name
		}
		c, err := d.net.Add(l.Name, l.Op, l.Attrs, inputs, names...)
		if err != nil {
			return nil, err
		}
		for k, t := range l.Outputs {
			d.has[t] = c.Outputs[k]
		}
	}
	for _, t := range m.results() {
		d.net.MarkOutput(d.has[t])
		results = append(results, d.has[t])
	}
	return results, nil
}

// verify evaluates pattern and replacement on random numbers. The error is that they differ; the note is how much they agree, or
// why that is not known.
func (a *applying) verify(m *match) (note string, err error) {
	defer graph.CatchFault(&err)
	env := a.w.Shapes()
	fixed := func(t *graph.Tensor) []symbolic.Dim {
		all := map[string]int{}
		for _, d := range t.Dims {
			set := map[string]bool{}
			d.Symbols(set)
			for name := range set {
				if all[name] = freeExtent; env[name] > 0 {
					all[name] = env[name]
				}
			}
		}
		return symbolic.Shape(symbolic.Eval(t.Dims, all)...)
	}
	before, after := newDraft("pattern", fixed), newDraft("replacement", fixed)
	y, err := before.pattern(m)
	if err != nil {
		return "not checked: " + err.Error(), nil
	}
	z, err := after.replacement(m)
	if err != nil {
		return "not checked: " + err.Error(), nil
	}
	for k := range y {
		if !symbolic.Equal(y[k].Dims, z[k].Dims) {
			return "", fmt.Errorf("where the shapes are %s it makes %s of %s", shapes(before.net), z[k].TypeString(), y[k].TypeString())
		}
	}
	work, elements := before.cost()
	moreWork, moreElements := after.cost()
	if work += moreWork; elements+moreElements > maxElements || work > a.budget {
		return "not checked: too large", nil
	}
	a.budget -= work
	seed := fnv.New64a()
	seed.Write([]byte(m.rule.Name))
	random := rand.New(rand.NewPCG(seed.Sum64(), 1))
	most, known := 0.0, false
	for _, scale := range []float64{1, 4} {
		inputs := fill(before.net, random, scale)
		d, err := compare(before.net, after.net, inputs)
		if err != nil {
			return "not checked: " + err.Error(), nil
		}
		if d.text != "" {
			return "", fmt.Errorf("it changes what the layers compute: %s", d.text)
		}
		most, known = max(most, d.most), known || d.known
	}
	if !known {
		return "not checked: no result is finite on random input", nil
	}
	if most == 0 {
		return "checked on random input: equal", nil
	}
	return fmt.Sprintf("checked on random input: differs by at most %.2g of the largest", most), nil
}

func shapes(n *graph.Network) string {
	text := ""
	for i, t := range n.Inputs {
		if i > 0 {
			text += ", "
		}
		text += t.TypeString()
	}
	return text
}

// cost returns the operations and elements of a network whose extents are known.
func (d *draft) cost() (work, elements int64) {
	for _, l := range d.net.Layers {
		work += l.Op.FLOPs(l, nil)
		for _, t := range slices.Concat(l.Inputs, l.Outputs) {
			if t == nil {
				continue
			}
			n := int64(max(0, numeric.Count(symbolic.Eval(t.Dims, nil))))
			elements += n
			work += n
		}
	}
	return work, elements
}

// fill returns random elements for a network's inputs: real numbers around 0, small integers that are no less than 0.
func fill(n *graph.Network, random *rand.Rand, scale float64) map[string]numeric.Value {
	inputs := map[string]numeric.Value{}
	for _, t := range n.Inputs {
		v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
		switch {
		case t.Type == numeric.F32 || t.Type == numeric.F16 || t.Type == numeric.BF16:
			x := make([]float32, v.Len())
			for i := range x {
				x[i] = float32(random.NormFloat64() * scale)
			}
			numeric.FromReal(v, x, numeric.Range{})
		case t.Type == numeric.F64:
			x := numeric.View[float64](v.Data)
			for i := range x {
				x[i] = random.NormFloat64() * scale
			}
		default: // the lowest byte of each element
			for i := 0; i < len(v.Data); i += t.Type.Size() {
				v.Data[i] = byte(random.IntN(2))
			}
		}
		inputs[t.Name] = v
	}
	return inputs
}

// difference is how far two networks' results are from each other.
type difference struct {
	text  string  // of the largest difference, where that is more than rounding
	most  float64 // of the largest magnitude
	known bool    // there are finite results
}

// compare evaluates both networks. What is not finite before the rewrite may be anything after it: sqrt(x)*sqrt(x) is x.
func compare(before, after *graph.Network, inputs map[string]numeric.Value) (d difference, err error) {
	want, err := before.Eval(context.Background(), inputs, nil)
	if err != nil {
		return d, err
	}
	have, err := after.Eval(context.Background(), inputs, nil)
	if err != nil {
		return d, err
	}
	for k, t := range before.Outputs {
		one, err := compareOne(want[t.Name], have[after.Outputs[k].Name], func(at, count int) string { return beside(before, inputs, at, count) })
		if err != nil {
			return d, err
		}
		if d.text == "" && one.text != "" {
			d.text = one.text
			if len(before.Outputs) > 1 {
				d.text = t.Name + ": " + d.text
			}
		}
		d.most, d.known = max(d.most, one.most), d.known || one.known
	}
	return d, nil
}

// compareOne compares a result with what it becomes; beside tells more of an element.
func compareOne(x, y numeric.Value, beside func(at, count int) string) (d difference, err error) {
	a, b := numbers(x), numbers(y)
	if len(a) != len(b) || len(a) != x.Len() {
		return d, fmt.Errorf("%s cannot be compared", x.Type)
	}
	largest := 0.0
	for _, v := range a {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			largest = max(largest, math.Abs(v))
		}
	}
	relative := 0.0
	switch x.Type {
	case numeric.F32, numeric.F64:
		relative = 1e-4
	case numeric.F16, numeric.BF16:
		relative = 2e-2
	}
	worst, at := 0.0, -1
	for i, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		d.known = true
		gap := math.Abs(v - b[i])
		if math.IsNaN(gap) {
			gap = math.Inf(1)
		}
		d.most = max(d.most, gap/max(largest, 1e-30))
		if over := gap - relative*(math.Abs(v)+0.1*largest); over > worst {
			worst, at = over, i
		}
	}
	if at >= 0 {
		d.text = fmt.Sprintf("element %d of the result was %.6g and becomes %.6g%s", at, a[at], b[at], beside(at, len(a)))
	}
	return d, nil
}

// beside tells what inputs of the result's size are there.
func beside(n *graph.Network, inputs map[string]numeric.Value, at, count int) string {
	text := ""
	for _, t := range n.Inputs {
		if list := numbers(inputs[t.Name]); len(list) == count {
			text += fmt.Sprintf(", where %s is %.6g", t.Name, list[at])
		}
	}
	return text
}
