package pass

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// commonSubexpressions computes once what several layers compute alike, and keeps one of several equal constants.
//
//	a = Sigmoid(x)       a = Sigmoid(x)
//	b = Sigmoid(x)  ->
//	y = Add(a, b)        y = Add(a, a)
var commonSubexpressions = Pass{
	Name:  "common-subexpressions",
	Doc:   "compute once what several layers compute",
	Rules: []string{"duplicate-layer"},
	run: func(r *rewrite) {
		r.mergeConstants()
		first := map[string]*graph.Layer{}
		for _, l := range slices.Clone(r.net.Layers) {
			if l.Unsupported() != nil { // nobody knows what it computes, which may be random
				continue
			}
			key := expression(l)
			if f := first[key]; f == nil {
				first[key] = l
			} else {
				r.mergeDuplicate(f, l)
			}
		}
	},
}

// expression returns a text that is equal for two layers only if they compute the same from the same tensors.
func expression(l *graph.Layer) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %#v %#v %d", l.Op.Name, l.Attrs, l.Epilogue, len(l.Outputs))
	for _, t := range l.Inputs {
		if t == nil {
			s.WriteString(" -")
		} else {
			fmt.Fprintf(&s, " %q", t.Name)
		}
	}
	for _, t := range l.Outputs {
		fmt.Fprintf(&s, " %s %v", t.Type, t.Range)
	}
	return s.String()
}

func (r *rewrite) mergeDuplicate(first, l *graph.Layer) bool {
	c := r.candidate("duplicate-layer", l)
	c.instead = first
	for i, t := range l.Outputs {
		if r.net.IsOutput(t) && (r.net.IsOutput(first.Outputs[i]) || len(l.Outputs) > 1) {
			return c.miss(NetworkOutput, "%s is an output of the network", t.Name)
		}
	}
	if !c.enabled() {
		return false
	}
	for i, t := range l.Outputs {
		kept := first.Outputs[i]
		if r.net.IsOutput(t) { // its name must stay: the first layer takes it over
			r.net.Redirect(kept, t)
			t.Producer = nil
			first.SetOutput(i, t)
		} else {
			r.net.Redirect(t, kept)
		}
	}
	r.drop(l, Eliminated, first)
	r.net.Remove(l)
	return c.fire()
}

// mergeConstants keeps one of several constants of the same type, shape, range and bytes.
func (r *rewrite) mergeConstants() {
	first := map[string][]*graph.Tensor{}
	for _, t := range r.net.Consts() {
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
		} else if !r.net.IsOutput(t) {
			r.net.Redirect(t, first[key][same])
			r.changed = true
		}
	}
}
