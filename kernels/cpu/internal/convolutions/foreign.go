package convolutions

import (
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// The panels of a grouped convolution read the channels of all groups that they have filters of, and blocks of 16 channels are
// read with lanes behind the last: what a filter is not made of has a weight of zero. That is no sum where the input is NaN or
// infinite, so a chunk of the reduction whose input is not finite there is computed by kernels that leave such products out.

// grouping says which channels a filter is made of.
type grouping struct{ channels, filters, groups int }

// lanes returns the lanes of a panel that a channel counts for.
func (g grouping) lanes(panel *convPanel, channel int) (low, high int) {
	if channel >= g.channels {
		return 0, 0
	}
	group, each := channel/(g.channels/g.groups), g.filters/g.groups
	first, width := panel.block*work.Lanes, panel.kernel.Blocks*work.Lanes
	low = max(0, min(width, group*each-first))
	return low, max(low, min(width, (group+1)*each-first))
}

// within returns the panel's kernel for a chunk of so many taps a plane without the products that are not the layer's.
func (g grouping) within(panel *convPanel, chunk *convChunk, taps int) *asm.ConvKernel {
	of, each := *panel, 1
	if !panel.kernel.Planar {
		each = work.Lanes
	}
	k := panel.kernel.Within(func(tap, channel int) (low, high int) {
		return g.lanes(&of, (chunk.first+tap/taps)*each+channel)
	})
	return &k
}

// foreign reports whether a filter of a section may meet a channel that it is not made of and that is not finite: elements
// [from, to), whole pixels, of the planes of a chunk.
func (g grouping) foreign(vec *asm.VecKernel, section *convSection, chunk *convChunk, planar bool, in []float32, plane, from, to int) bool {
	if from >= to {
		return false
	}
	if section.mixed {
		for p := chunk.first; p < chunk.last; p++ {
			if s := vec.Sum(in[p*plane+from : p*plane+to]); s-s != 0 {
				return true
			}
		}
		return false
	}
	used := g.channels % work.Lanes
	if planar || used%4 == 0 || chunk.last != work.BlocksOf(g.channels) {
		return false
	}
	last := in[(chunk.last-1)*plane:]
	if s := vec.Sum(last[from:to]); s-s == 0 {
		return false
	}
	for pixel := from; pixel < to; pixel += work.Lanes {
		for _, v := range last[pixel+used : pixel+(used+3)/4*4] {
			if v-v != 0 {
				return true
			}
		}
	}
	return false
}
