package ptxsim

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// A graph is the control flow of a kernel.
type graph struct {
	blocks []basicBlock
	order  []int    // of the reachable blocks: the order in which the simulator lays them out
	regs   []regUse // by instruction of the body
}

// regUse is the registers that an instruction reads and writes.
type regUse struct {
	uses, defs []ptx.Reg
	guarded    bool // it may be left out, and what it writes with it
}

// basicBlock is the instructions [start, end) of the body, and where control goes after them.
type basicBlock struct {
	start, end int
	succ       []int // a branch's target before what follows it
}

// maxFlow bounds blocks x registers, so that a hostile kernel costs neither much memory nor much time.
const maxFlow = 1 << 28

// isBranch, isEnd: what ends a basic block.
func isBranch(in *ptx.Inst) bool { return in.Op == "bra" }

func isEnd(in *ptx.Inst) bool { return in.Op == "ret" || in.Op == "exit" || in.Op == "trap" }

// newGraph finds the basic blocks of k and orders them.
func newGraph(k *ptx.Kernel) (*graph, error) {
	labels := make(map[string]int, len(k.Labels))
	for _, l := range k.Labels {
		if l.At < 0 || l.At > len(k.Body) {
			return nil, fmt.Errorf("label %s stands outside the body", l.Name)
		}
		labels[l.Name] = l.At
	}
	leader := make([]bool, len(k.Body)+1)
	leader[0] = true
	for i := range k.Body {
		in := &k.Body[i]
		if isBranch(in) {
			if len(in.Args) != 1 || in.Args[0].Kind != ptx.LabelOperand {
				return nil, fmt.Errorf("%s: %s: bra needs a label", place(k, i), spelled(k, i))
			}
			at, ok := labels[in.Args[0].Name]
			if !ok {
				return nil, fmt.Errorf("%s: %s: no such label in kernel %s", place(k, i), spelled(k, i), k.Name)
			}
			leader[at] = true
		}
		if isBranch(in) || isEnd(in) {
			leader[i+1] = true
		}
	}
	g := &graph{}
	at := make([]int, len(k.Body)+1) // the block that begins at an instruction
	for i := range k.Body {
		if leader[i] {
			at[i] = len(g.blocks)
			g.blocks = append(g.blocks, basicBlock{start: i})
		}
		g.blocks[len(g.blocks)-1].end = i + 1
	}
	exit := len(g.blocks) // the end of the body is a block of nothing
	at[len(k.Body)] = exit
	g.blocks = append(g.blocks, basicBlock{start: len(k.Body), end: len(k.Body)})
	for b := range g.blocks[:exit] {
		blk := &g.blocks[b]
		last := &k.Body[blk.end-1]
		if isBranch(last) {
			blk.succ = append(blk.succ, at[labels[last.Args[0].Name]])
		}
		if !isBranch(last) && !isEnd(last) || last.Guard.On {
			blk.succ = append(blk.succ, at[blk.end])
		}
	}
	if int64(len(g.blocks))*int64(len(k.Regs)+64) > maxFlow {
		return nil, fmt.Errorf("kernel %s: %d blocks of %d registers are more than the simulator takes", k.Name, len(g.blocks), len(k.Regs))
	}
	g.order = weakOrder(g.blocks)
	g.regs = make([]regUse, len(k.Body))
	for i := range k.Body {
		g.regs[i] = registers(&k.Body[i])
	}
	return g, nil
}

// weakOrder lays the blocks out so that lanes which wait at the highest place for the others meet them again as early as
// any compiler would have it: every loop is contiguous and comes before what its exits lead to, and a join comes after
// both of its sides, wherever the text put them. It is a weak topological order (F. Bourdoncle, "Efficient chaotic
// iteration strategies with widenings", 1993).
func weakOrder(blocks []basicBlock) []int {
	const done = 1 << 30
	var (
		number = make([]int, len(blocks))
		stack  []int
		count  int
		visit  func(v int, out *[]int) int
	)
	component := func(v int) []int { // in reverse, without its head
		var out []int
		for _, s := range blocks[v].succ {
			if number[s] == 0 {
				visit(s, &out)
			}
		}
		return out
	}
	visit = func(v int, out *[]int) int {
		stack = append(stack, v)
		count++
		number[v] = count
		head, loop := count, false
		for _, s := range blocks[v].succ {
			low := number[s]
			if low == 0 {
				low = visit(s, out)
			}
			if low <= head {
				head, loop = low, true
			}
		}
		if head != number[v] {
			return head
		}
		number[v] = done
		top := len(stack) - 1
		if loop {
			for stack[top] != v {
				number[stack[top]] = 0
				top--
			}
			stack = stack[:top]
			*out = append(*out, component(v)...)
		} else {
			stack = stack[:top]
		}
		*out = append(*out, v)
		return head
	}
	var out []int
	visit(0, &out)
	slices.Reverse(out)
	return out
}

// bitset is a set of small integers.
type bitset []uint64

func newBitset(n int) bitset        { return make(bitset, (n+63)/64) }
func (s bitset) has(i ptx.Reg) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s bitset) add(i ptx.Reg)      { s[i/64] |= 1 << (i % 64) }
func (s bitset) remove(i ptx.Reg)   { s[i/64] &^= 1 << (i % 64) }
func (s bitset) intersect(o bitset) {
	for i := range s {
		s[i] &= o[i]
	}
}
func (s bitset) union(o bitset) {
	for i := range s {
		s[i] |= o[i]
	}
}

// registers lists what an instruction reads and writes, its guard first.
func registers(in *ptx.Inst) regUse {
	var uses, defs []ptx.Reg
	if in.Guard.On {
		uses = append(uses, in.Guard.Reg)
	}
	for i := range in.Args {
		o := &in.Args[i]
		dest := i == 0 && hasResult(in)
		switch o.Kind {
		case ptx.RegOperand:
			if dest {
				defs = append(defs, o.Reg)
			} else {
				uses = append(uses, o.Reg)
			}
			if o.Pair != nil {
				defs = append(defs, *o.Pair)
			}
		case ptx.AddrOperand:
			if o.Base {
				uses = append(uses, o.Reg)
			}
		case ptx.VectorOperand:
			for j := range o.Vec {
				if v := &o.Vec[j]; v.Kind == ptx.RegOperand && dest {
					defs = append(defs, v.Reg)
				} else if v.Kind == ptx.RegOperand {
					uses = append(uses, v.Reg)
				}
			}
		}
	}
	return regUse{uses, defs, in.Guard.On}
}

// hasResult reports whether the first operand of in is a destination.
func hasResult(in *ptx.Inst) bool {
	if len(in.Args) == 0 || in.Args[0].Kind == ptx.AddrOperand || in.Args[0].Kind == ptx.LabelOperand {
		return false
	}
	if in.Op == "bar.red" || strings.HasPrefix(in.Op, "barrier") && slices.Contains(in.Mods, "red") {
		return true
	}
	root, _, _ := strings.Cut(in.Op, ".")
	switch root {
	case "st", "red", "bar", "barrier", "cp", "nanosleep", "bra", "prefetch", "prefetchu", "membar", "fence", "stmatrix", "griddepcontrol", "setmaxnreg":
		return false
	}
	return true
}

// unassigned finds, for each instruction, the registers it reads that some path leaves unwritten: those whose lanes are
// tracked as the kernel runs. All others are known to hold a value.
func (g *graph) unassigned(k *ptx.Kernel) map[int][]ptx.Reg {
	n := len(k.Regs)
	in := make([]bitset, len(g.blocks))
	for _, b := range g.order {
		in[b] = newBitset(n)
		for i := range in[b] {
			in[b][i] = ^uint64(0)
		}
	}
	clear(in[g.order[0]])
	for changed := true; changed; {
		changed = false
		for _, b := range g.order {
			out := slices.Clone(in[b])
			for i := g.blocks[b].start; i < g.blocks[b].end; i++ {
				g.regs[i].assign(out)
			}
			for _, s := range g.blocks[b].succ {
				before := slices.Clone(in[s])
				in[s].intersect(out)
				changed = changed || !slices.Equal(before, in[s])
			}
		}
	}
	found := map[int][]ptx.Reg{}
	for _, b := range g.order {
		have := in[b]
		for i := g.blocks[b].start; i < g.blocks[b].end; i++ {
			for _, r := range g.regs[i].uses {
				if !have.has(r) {
					found[i] = append(found[i], r)
				}
			}
			g.regs[i].assign(have)
		}
	}
	return found
}

// assign adds to have what the instruction surely writes.
func (u *regUse) assign(have bitset) {
	if u.guarded {
		return
	}
	for _, r := range u.defs {
		have.add(r)
	}
}

// maxLive is the most 32-bit registers that hold a value needed later, over all places of the kernel: what a perfect
// allocator would use. Predicates have registers of their own.
func (g *graph) maxLive(k *ptx.Kernel) int {
	width := make([]int, len(k.Regs))
	for i, r := range k.Regs {
		switch bitsOf(r.Type) {
		case 1:
		case 64:
			width[i] = 2
		default:
			width[i] = 1
		}
	}
	n := len(k.Regs)
	live := make([]bitset, len(g.blocks)) // at the start
	for b := range live {
		live[b] = newBitset(n)
	}
	most := 0
	for changed := true; changed; {
		changed = false
		for j := len(g.order) - 1; j >= 0; j-- {
			b := g.order[j]
			now := newBitset(n)
			for _, s := range g.blocks[b].succ {
				now.union(live[s])
			}
			for i := g.blocks[b].end - 1; i >= g.blocks[b].start; i-- {
				g.regs[i].stepLive(now)
			}
			if !slices.Equal(now, live[b]) {
				live[b], changed = now, true
			}
		}
	}
	for _, b := range g.order {
		now := newBitset(n)
		for _, s := range g.blocks[b].succ {
			now.union(live[s])
		}
		most = max(most, weigh(now, width))
		for i := g.blocks[b].end - 1; i >= g.blocks[b].start; i-- {
			g.regs[i].stepLive(now)
			most = max(most, weigh(now, width))
		}
	}
	return most
}

// stepLive moves a set of live registers from after the instruction to before it.
func (u *regUse) stepLive(live bitset) {
	if !u.guarded {
		for _, r := range u.defs {
			live.remove(r)
		}
	}
	for _, r := range u.uses {
		live.add(r)
	}
}

func weigh(s bitset, width []int) int {
	n := 0
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			n += width[i*64+bits.TrailingZeros64(word)]
		}
	}
	return n
}
