package ptxsim

import (
	"fmt"
	"math/bits"
	"strings"
)

const (
	warpSize = 32
	all      = ^uint32(0)
)

// vec32 and vec64 are a register: one value for each lane.
type (
	vec32 = [warpSize]uint32
	vec64 = [warpSize]uint64
)

// group is lanes of a warp that are at the same place.
type group struct {
	pc     int
	mask   uint32
	waits  bool // for the other lanes of its member mask, or of the warp
	parked bool // at a block barrier, until all lanes of the warp are
}

// state is what a warp may do next.
type state uint8

const (
	ready state = iota
	blocked
	exited
)

// warp is 32 threads and their registers.
type warp struct {
	block *block
	index int    // in the block
	lanes uint32 // that exist
	live  uint32 // that have not exited
	apart bool   // Options.Apart
	state state

	r     []vec32  // 32-bit registers and narrower ones, zero-extended
	q     []vec64  // 64-bit registers
	p     []uint32 // predicates, a bit a lane
	carry uint32   // the condition code's carry flag
	known []uint32 // lanes in which a tracked register holds a value

	groups []group     // ascending by pc; never two at one pc unless one is parked
	waited uint32      // lanes that have waited for the kernel before this one; all where that has ended
	last   *allocation // of an access to global memory; nil while lanes have not waited
	addr   vec64       // scratch: addresses of the access at hand
	tmp32  vec32
	tmp64  vec64

	epoch    uint32           // counts the warp's synchronisations
	clock    [maxWarps]uint32 // the newest epoch of each warp that this one is ordered after
	released *released        // by its last fence
	meetings []meeting        // of some of its lanes, the latest last
	copies   []*asyncCopy     // issued and not delivered
	spare    []*asyncCopy
	groupN   vec32 // cp.async groups committed, by lane

	local        []byte // frames of local memory, a lane after another
	localWritten []byte

	fault *Fault
}

// maxWarps is the most that a block has.
const maxWarps = 32

// run executes up to n instructions, until the warp blocks, exits or faults, and returns how many it did.
func (w *warp) run(n int) int {
	left := n
	for left > 0 && w.state == ready && w.fault == nil {
		cur, limit, now := 0, -1, left
		if w.apart {
			cur, now = w.pickApart(), w.slice(left)
		} else {
			cur, limit = w.pick()
		}
		if cur < 0 {
			w.stuck()
			break
		}
		left += w.runGroup(cur, limit, now) - now
		if w.apart {
			w.meet()
		} else {
			w.merge()
		}
	}
	return n - left
}

// runGroup executes up to left instructions of group cur, until it moves elsewhere than on, or comes to limit, where
// other lanes are. It returns what is left.
func (w *warp) runGroup(cur, limit, left int) int {
	code := w.block.kernel.code
	count, idle := w.block.worker.count, w.block.worker.idle
	pc, act := w.groups[cur].pc, w.groups[cur].mask
	alone := len(w.groups) == 1
	apart := w.apart && !alone
	for left > 0 && pc != limit {
		in := &code[pc]
		m := act
		if in.guard >= 0 {
			g := w.p[in.guard]
			if in.negated {
				g = ^g
			}
			m &= g
		}
		if apart && in.aligned && m == act && act != w.live {
			w.groups[cur].pc, w.groups[cur].waits = pc, true
			return left
		}
		left--
		count[pc]++
		if m != all {
			idle[pc] += int64(warpSize - bits.OnesCount32(m))
		}
		if in.uses != nil && !w.checkKnown(in, act, m) {
			return left
		}
		switch {
		case in.flow == flowNext:
			if m != 0 {
				in.exec(w, in, m)
			}
		case alone && (in.flow == flowJump || in.flow == flowBranch && m == act):
			pc = in.target
			continue
		default:
			w.groups[cur].pc = pc
			if w.control(in, cur, m) {
				return left
			}
		}
		if w.fault != nil {
			return left
		}
		if in.defs != nil {
			for _, d := range in.defs {
				w.known[d] |= m
			}
		}
		pc++
	}
	w.groups[cur].pc = pc
	return left
}

// pick chooses the group to run, the lowest that can, and the place at which it meets another.
func (w *warp) pick() (cur, limit int) {
	if len(w.groups) > 1 { // lanes that have come to an end are out of the others' way
		for i := range w.groups {
			if in := &w.block.kernel.code[w.groups[i].pc]; in.flow == flowExit && in.guard < 0 && in.exec == nil {
				return i, -1
			}
		}
	}
	for i := range w.groups {
		if g := &w.groups[i]; !g.waits && !g.parked {
			for _, o := range w.groups[i+1:] {
				if !o.parked {
					return i, o.pc
				}
			}
			return i, -1
		}
	}
	return -1, -1
}

// merge sorts the groups by place and joins those that are at the same one.
func (w *warp) merge() {
	if len(w.groups) < 2 {
		return
	}
	for i := 1; i < len(w.groups); i++ {
		for j := i; j > 0 && w.groups[j].pc < w.groups[j-1].pc; j-- {
			w.groups[j], w.groups[j-1] = w.groups[j-1], w.groups[j]
		}
	}
	out := w.groups[:1]
	for _, g := range w.groups[1:] {
		if t := &out[len(out)-1]; t.pc == g.pc && t.parked == g.parked {
			t.mask |= g.mask
			t.waits = false // look again: the lanes it waits for may be these
			continue
		}
		out = append(out, g)
	}
	w.groups = out
}

// control does an instruction that is not plain, for lanes m of group cur. It reports whether the groups have changed, so
// that the choice of what runs next must be made anew; otherwise the group goes on behind the instruction.
func (w *warp) control(in *inst, cur int, m uint32) (moved bool) {
	g := &w.groups[cur]
	switch in.flow {
	case flowJump:
		g.pc = in.target
		return true
	case flowBranch:
		switch m {
		case 0:
			return false
		case g.mask:
			g.pc = in.target
		default:
			rest := group{pc: g.pc + 1, mask: g.mask &^ m}
			g.pc, g.mask = in.target, m
			w.groups = append(w.groups, rest)
		}
		return true
	case flowExit:
		return w.exit(in, cur, m)
	case flowBarrier:
		return w.barrier(in, cur, m)
	case flowMembers:
		return w.members(in, cur, m)
	}
	return false
}

// exit ends lanes m of group cur.
func (w *warp) exit(in *inst, cur int, m uint32) (moved bool) {
	if in.exec != nil { // trap
		if m != 0 {
			in.exec(w, in, m)
		}
		return false
	}
	if m == 0 {
		return false
	}
	w.live &^= m
	g := &w.groups[cur]
	g.mask &^= m
	g.pc++
	if g.mask == 0 {
		w.groups = append(w.groups[:cur], w.groups[cur+1:]...)
	}
	for i := range w.groups {
		w.groups[i].waits = false // for a lane that is no more: it must be told
	}
	if w.live == 0 {
		w.state = exited
	}
	w.block.left(w)
	return true
}

// converged checks that an .aligned instruction is executed by all live lanes of the warp, with full set by all 32.
func (w *warp) converged(in *inst, act, m uint32, full bool) bool {
	switch {
	case m != act:
		w.failf(in, bits.TrailingZeros32(act&^m), Divergence, "its guard holds in some lanes only (%#08x of %#08x), and it is .aligned", m, act)
	case act != w.live:
		w.failf(in, bits.TrailingZeros32(w.live&^act), Divergence, "lanes %#08x are elsewhere%s, and it is .aligned", w.live&^act, w.whereabouts(act))
	case full && act != all:
		w.failf(in, -1, Divergence, "lanes %#08x have exited or do not exist, and it takes all 32", ^act)
	default:
		return true
	}
	return false
}

// checkKnown faults if lanes that read a tracked register have not written it: lanes m, of the guard all those that act.
func (w *warp) checkKnown(in *inst, act, m uint32) bool {
	for i, u := range in.uses {
		lanes := m
		if i == 0 && in.guardUse {
			lanes = act
		}
		if missing := lanes &^ w.known[u]; missing != 0 {
			w.failf(in, bits.TrailingZeros32(missing), Uninitialised, "%s is read before it is written", w.block.kernel.tracked[u])
			return false
		}
	}
	return true
}

// members does an instruction that exchanges values among the lanes of a member mask: all of them that have not exited
// must be here. If some are still on their way, the group waits for them.
func (w *warp) members(in *inst, cur int, m uint32) (moved bool) {
	masks := &w.r[in.c]
	for rest := m; rest != 0; {
		l := bits.TrailingZeros32(rest)
		want := masks[l]
		same := lanesEqual(masks, want, m)
		switch missing := want & w.live &^ m; {
		case same&^want != 0:
			w.failf(in, bits.TrailingZeros32(same&^want), Illegal, "the lane is not in its own member mask %#08x", want)
			return false
		case missing&w.groups[cur].mask != 0:
			w.failf(in, bits.TrailingZeros32(missing), Divergence, "lanes %#08x of member mask %#08x are held off by the guard", missing, want)
			return false
		case missing != 0:
			w.groups[cur].waits = true
			return true
		case same != want&m:
			w.failf(in, bits.TrailingZeros32(want&m&^same), Illegal, "lanes of member mask %#08x have other member masks", want)
			return false
		}
		rest &^= same
	}
	for rest := m; rest != 0 && w.fault == nil; {
		same := lanesEqual(masks, masks[bits.TrailingZeros32(rest)], rest)
		in.exec(w, in, same)
		rest &^= same
	}
	return false
}

// lanesEqual is the lanes of m in which v has the value x.
func lanesEqual(v *vec32, x, m uint32) uint32 {
	var same uint32
	for l := range v {
		if v[l] == x {
			same |= 1 << l
		}
	}
	return same & m
}

// stuck faults: all groups wait for lanes that will not come.
func (w *warp) stuck() {
	for i := range w.groups {
		g := &w.groups[i]
		in := &w.block.kernel.code[g.pc]
		if g.waits && in.aligned {
			w.failf(in, bits.TrailingZeros32(w.live&^g.mask), Divergence, "lanes %#08x never come here%s, and it is .aligned", w.live&^g.mask, w.whereabouts(g.mask))
			return
		}
		if g.waits {
			want := w.r[in.c][bits.TrailingZeros32(g.mask)]
			w.failf(in, bits.TrailingZeros32(g.mask), Divergence, "lanes %#08x of member mask %#08x never come here%s", want&w.live&^g.mask, want, w.whereabouts(g.mask))
			return
		}
	}
	g := &w.groups[0]
	w.failf(&w.block.kernel.code[g.pc], bits.TrailingZeros32(g.mask), Deadlock, "the lanes of the warp wait at different barriers%s", w.whereabouts(g.mask))
}

// whereabouts lists where the groups other than that of lanes act are.
func (w *warp) whereabouts(act uint32) string {
	var b strings.Builder
	k := w.block.kernel
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&act == 0 && g.pc < len(k.code) {
			fmt.Fprintf(&b, "; lanes %#08x at %s", g.mask, k.where(g.pc))
		}
	}
	return b.String()
}

// where names the place pc of the code.
func (k *kernel) where(pc int) string {
	for ; pc < len(k.code); pc++ {
		if src := k.code[pc].src; src >= 0 {
			return place(k.src, src)
		}
	}
	return "the end"
}

// failf records a fault of instruction in; lane is -1 where it is the whole warp's. The first one counts.
func (w *warp) failf(in *inst, lane int, kind Kind, format string, args ...any) {
	if w.fault != nil {
		return
	}
	k := w.block.kernel
	w.fault = &Fault{Kind: kind, Kernel: k.src.Name, Block: w.block.at, Warp: w.index, Lane: lane, Inst: in.src, Detail: fmt.Sprintf(format, args...)}
	if in.src >= 0 {
		w.fault.Line, w.fault.Text = k.src.Body[in.src].Line, spelled(k.src, in.src)
	}
}
