package ptxsim

import "math/bits"

// Lanes that a branch has parted may stay apart for as long as they like since Volta: the PTX ISA gives no order between
// the threads of a warp, and says of no place that they are together again. Where Options.Apart is set they do: each group
// goes on alone, in an order that the seed draws, until an instruction brings some together.
//
// The rule, of the PTX ISA's "Control flow", "mma", "ldmatrix", "bar" and "shfl.sync": an instruction with a member mask
// waits for the lanes that the mask names and that have not exited, at the same instruction. An instruction with .aligned
// must be executed by all lanes of the warp, at the same instruction; that they arrive together is what the assembler sees
// to at the places that all of them come through (it is NVIDIA's convention that lanes converge at a branch's immediate
// post-dominator; all tensor-core kernels rely on it behind an if or a loop of uneven lengths). So it waits too, for all
// lanes that have not exited. What is an error is that they never come, or are at another instruction: there is no moment
// at which the warp could execute either.

// pickApart chooses a group that can run by chance; -1 if there is none.
func (w *warp) pickApart() int {
	n := 0
	for i := range w.groups {
		if g := &w.groups[i]; !g.waits && !g.parked {
			n++
		}
	}
	if n == 0 {
		return -1
	}
	n = int(w.block.rand() % uint64(n))
	for i := range w.groups {
		if g := &w.groups[i]; !g.waits && !g.parked {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// slice is how many of left instructions a group of several executes before another may.
func (w *warp) slice(left int) int {
	if len(w.groups) == 1 {
		return left
	}
	return min(left, 1+int(w.block.rand()%32))
}

// meet joins the groups that wait at the same instruction, for the same lanes, or are at the same block barrier. Others stay
// apart, wherever they are.
func (w *warp) meet() {
	for i := 0; i < len(w.groups); i++ {
		g := &w.groups[i]
		if !g.waits && !g.parked {
			continue
		}
		in := &w.block.kernel.code[g.pc]
		for j := len(w.groups) - 1; j > i; j-- {
			o := &w.groups[j]
			if o.pc != g.pc || o.waits != g.waits || o.parked != g.parked || g.waits && !in.aligned && w.firstMembers(in, g) != w.firstMembers(in, o) {
				continue
			}
			g.mask |= o.mask
			g.waits = false // look again: the lanes it waits for may be these
			w.groups = append(w.groups[:j], w.groups[j+1:]...)
			g = &w.groups[i]
		}
	}
}

// firstMembers is the member mask of a group's first lane.
func (w *warp) firstMembers(in *inst, g *group) uint32 {
	return w.r[in.c][bits.TrailingZeros32(g.mask)]
}
