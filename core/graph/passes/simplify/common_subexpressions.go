package simplify

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// CommonSubexpressions computes once what several layers compute alike, and keeps one of several equal constants.
//
//	a = Sigmoid(x)       a = Sigmoid(x)
//	b = Sigmoid(x)  ->
//	y = Add(a, b)        y = Add(a, a)
//
// Extents are the same however they are found:
//
//	n = Shape(x f32[batch,length]) start=1      n = Shape(x) start=1
//	y = Relu(x)                             ->  y = Relu(x)
//	m = Shape(y) start=1                        z = Range(0, n)
//	z = Range(0, m)
var CommonSubexpressions = pass.Pass{
	Name:  "common-subexpressions",
	Doc:   "compute once what several layers compute",
	Rules: []string{"duplicate-layer"},
	Run: func(r *pass.Rewrite) {
		mergeConstants(r)
		first := map[string]*graph.Layer{}
		for _, l := range slices.Clone(r.Network().Layers) {
			if l.Unsupported() != nil { // nobody knows what it computes, which may be random
				continue
			}
			key := match.Expression(l)
			if extents := extentsOf(l); extents != "" {
				key = extents
			}
			if f := first[key]; f == nil {
				first[key] = l
			} else {
				mergeDuplicate(r, f, l)
			}
		}
	},
}

// extentsOf returns what says all of a layer that finds extents which are not known yet, whatever it finds them by; "" for others.
func extentsOf(l *graph.Layer) string {
	if len(l.Outputs) != 1 || len(l.Outputs[0].Value) == 0 {
		return ""
	}
	y := l.Outputs[0]
	if _, known := y.Ints(); known || y.Range.IsSet() {
		return ""
	}
	return y.TypeString() + " of " + symbolic.Format(y.Value)
}

func mergeDuplicate(r *pass.Rewrite, first, l *graph.Layer) bool {
	c := r.Candidate("duplicate-layer", l)
	c.Instead = first
	for i, t := range l.Outputs {
		if r.Network().IsOutput(t) && (r.Network().IsOutput(first.Outputs[i]) || len(l.Outputs) > 1) {
			return c.Miss(pass.NetworkOutput, "%s is an output of the network", t.Name)
		}
	}
	if !c.Enabled() {
		return false
	}
	for i, t := range l.Outputs {
		kept := first.Outputs[i]
		if r.Network().IsOutput(t) { // its name must stay: the first layer takes it over
			r.Network().Redirect(kept, t)
			t.Producer = nil
			first.SetOutput(i, t)
		} else {
			r.Network().Redirect(t, kept)
		}
	}
	r.Eliminate(l, first)
	r.Network().Remove(l)
	return c.Fire()
}

// mergeConstants keeps one of several constants of the same type, shape, range and bytes.
func mergeConstants(r *pass.Rewrite) {
	first := map[string][]*graph.Tensor{}
	for _, t := range r.Network().Consts() {
		key := fmt.Sprintf("%s %v %x", t.TypeString(), t.Range, crc32.Checksum(t.Weights, crc32.MakeTable(crc32.Castagnoli)))
		same := -1
		for i, f := range first[key] {
			if bytes.Equal(f.Weights, t.Weights) {
				same = i
				break
			}
		}
		if same < 0 {
			first[key] = append(first[key], t)
		} else if !r.Network().IsOutput(t) {
			r.Network().Redirect(t, first[key][same])
			r.Change()
		}
	}
}
