package quant

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Unsigned stores the activations of a network with Quantize and Dequantize layers in U8 where I8 has zero points: each is larger by
// 128, and so is its zero point, so that they are the same real numbers. Weights stay as they are, and so do the activations of a
// network in which all zero points are 0, and what anything but a Dequantize layer reads.
func Unsigned(n *graph.Network) error {
	var signed []*graph.Tensor
	zeros := false
	for _, l := range n.Layers {
		if t := l.Outputs[0]; l.Op == graph.Quantize && l.Attrs.(graph.QuantAttrs).Range.IsSet() && onlyDequantized(n, t) {
			signed = append(signed, t)
			zeros = zeros || slices.ContainsFunc(t.Range.Zero, func(z int32) bool { return z != 0 })
		}
	}
	if !zeros {
		return nil
	}
	for _, t := range n.Consts() {
		if onlyDequantized(n, t) && onlyMoved(t) {
			signed = append(signed, t)
		}
	}
	for _, t := range signed {
		raise(t)
	}
	return n.Infer()
}

// onlyDequantized reports whether t has signed bytes that Dequantize layers read, which have their range, and nothing else.
func onlyDequantized(n *graph.Network, t *graph.Tensor) bool {
	return t.Type == numeric.I8 && !n.IsOutput(t) && !slices.ContainsFunc(t.Users, func(l *graph.Layer) bool {
		return l.Op != graph.Dequantize || !l.Attrs.(graph.QuantAttrs).Range.IsSet()
	})
}

// onlyMoved reports whether the real numbers of a constant that is dequantised go to layers that pass on what activations are, and
// not into products as weights.
func onlyMoved(t *graph.Tensor) bool {
	return !slices.ContainsFunc(t.Users, func(l *graph.Layer) bool {
		return len(l.Outputs[0].Users) == 0 || slices.ContainsFunc(l.Outputs[0].Users, func(u *graph.Layer) bool { return kindOf(u) != moving })
	})
}

// raise makes signed bytes unsigned, where they are made and read.
func raise(t *graph.Tensor) {
	t.Type, t.Range = numeric.U8, raised(t.Range)
	if t.IsConst() {
		t.Weights = slices.Clone(t.Weights)
		for i := range t.Weights {
			t.Weights[i] ^= 0x80
		}
	} else {
		a := t.Producer.Attrs.(graph.QuantAttrs)
		a.Type, a.Range = numeric.U8, raised(a.Range)
		t.Producer.Attrs = a
	}
	for _, l := range t.Users {
		a := l.Attrs.(graph.QuantAttrs)
		a.Range = raised(a.Range)
		l.Attrs = a
	}
}

// raised returns the range of bytes that are larger by 128.
func raised(r numeric.Range) numeric.Range {
	zero := make([]int32, len(r.Scale))
	for i := range zero {
		zero[i] = r.ZeroAt(i) + 128
	}
	r.Zero = zero
	return r
}
