package fuse

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// launchBytes is what a launch costs, in the bytes that are moved meanwhile: about 4 us at 16 GB/s.
const launchBytes = 64 << 10

// sliceBlock is a number of channels at multiples of which slices may begin in the formats with channels in blocks.
const sliceBlock = 16

// horizontalCost is what becomes of a group of products that are merged.
type horizontalCost struct {
	saved  int // bytes that need not be read again, and launches
	copied int // bytes that are moved because a reader cannot read a slice
	copies bool
	odd    bool // a slice of channels begins within a block
}

func costOf(r *pass.Rewrite, group []sibling) horizontalCost {
	var m horizontalCost
	l := group[0].layer
	m.saved = (len(group) - 1) * (r.Bytes(l.Inputs[0]) + launchBytes)
	conv := l.Op.Class == graph.ClassConvolution
	for i, s := range group {
		y := s.layer.Outputs[0]
		m.odd = m.odd || conv && i < len(group)-1 && s.n%sliceBlock != 0
		for _, u := range y.Users {
			m.copies = m.copies || !readsSlice(r, u, y, s.channelAxis())
		}
	}
	if m.copies {
		m.copied = launchBytes
		for _, s := range group {
			m.copied += 2 * r.Bytes(s.layer.Outputs[0])
		}
	}
	return m
}

// readsSlice reports whether backends have kernels for layer u that read y where it is a slice along an axis.
func readsSlice(r *pass.Rewrite, u *graph.Layer, y *graph.Tensor, axis int) bool {
	dims := symbolic.Eval(y.Dims, r.Shapes())
	if numeric.Count(dims[:axis]) <= 1 {
		return true // it is dense
	}
	if axis == 1 {
		switch u.Op.Class {
		case graph.ClassConvolution, graph.ClassPooling, graph.ClassElementwise:
			return len(dims) > 2 || u.Op.Class == graph.ClassElementwise
		}
		return false
	}
	return u.Op == graph.Attention || u.Op == graph.Rotary
}

// pays reports whether the merged product takes less time.
func (m horizontalCost) pays() bool { return !m.odd && m.saved > m.copied }

// String says why it does not pay.
func (m horizontalCost) String() string {
	if m.odd {
		return fmt.Sprintf("a part begins within a block of %d channels", sliceBlock)
	}
	return fmt.Sprintf("slices have to be copied: %d bytes are moved for %d that are not", m.copied, m.saved)
}
