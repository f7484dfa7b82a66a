package ptxsim

import (
	"math/bits"
	"strings"
)

// exchange decodes what lanes of a warp do together: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, activemask.
// Their member mask goes to c, where warp.members reads it.
func (d *decoder) exchange() {
	op := d.in.Op
	if op != "activemask" && !d.has("sync") {
		d.fail("the simulator has the forms with .sync only")
		return
	}
	d.out.flow = flowMembers
	switch {
	case op == "activemask":
		d.out.flow = flowNext
		d.out.d = d.dst(32)
		d.out.exec = func(w *warp, in *inst, m uint32) { w.splat(in.d, m, m) }
	case op == "shfl" || op == "shfl.sync":
		d.shuffle()
	case op == "vote" || op == "vote.sync":
		d.vote()
	case op == "match" || op == "match.sync":
		d.match()
	case op == "redux" || op == "redux.sync":
		d.reduce()
	case op == "elect" || op == "elect.sync":
		if d.want(2, 2) {
			d.out.d, d.out.e, d.out.c = d.dst(32), d.pair(), d.arg(1, 32)
			d.out.exec = func(w *warp, in *inst, m uint32) {
				leader := bits.TrailingZeros32(m)
				w.splat(in.d, m, uint32(leader))
				w.setPred(in.e, m, 1<<leader)
			}
		}
	}
}

// splat sets register d to v in lanes m.
func (w *warp) splat(d slot, m, v uint32) {
	x := &w.r[d]
	for l := range x {
		if m>>l&1 != 0 {
			x[l] = v
		}
	}
}

// shuffle decodes shfl.sync d|p, a, b, c, membermask (PTX ISA 9.7.9.6): lanes read a of another lane, which b names, within
// the segment and the bound that c gives.
func (d *decoder) shuffle() {
	if !d.want(5, 5) {
		return
	}
	mode := d.one("up", "down", "bfly", "idx")
	d.out.d, d.out.e = d.dst(32), d.pair()
	d.out.a, d.out.b, d.out.va, d.out.c = d.arg(1, 32), d.arg(2, 32), []slot{d.arg(3, 32)}, d.arg(4, 32)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		a := w.r[in.a]
		var valid uint32
		out := &w.r[in.d]
		b, c := w.r[in.b], w.r[in.va[0]]
		for l := range uint32(warpSize) {
			if m>>l&1 == 0 {
				continue
			}
			from, ok := shuffleSource(mode, l, b[l]&31, c[l])
			if ok {
				valid |= 1 << l
			} else {
				from = l
			}
			if m>>from&1 == 0 {
				w.failf(in, int(l), Illegal, "reads lane %d, which takes no part", from)
				return
			}
			out[l] = a[from]
		}
		w.setPred(in.e, m, valid)
	}
}

// shuffleSource is the lane that lane l reads, and whether it is within bounds.
func shuffleSource(mode string, l, b, c uint32) (from uint32, ok bool) {
	clamp, segment := c&31, c>>8&31
	high := l&segment | clamp&^segment
	low := l & segment
	switch mode {
	case "up":
		from = l - b
		ok = int32(from) >= int32(high)
	case "down":
		from = l + b
		ok = from <= high
	case "bfly":
		from = l ^ b
		ok = from <= high
	default:
		from = low | b&^segment
		ok = from <= high
	}
	return from & 31, ok
}

// vote decodes vote.sync.
func (d *decoder) vote() {
	if !d.want(3, 3) {
		return
	}
	mode := d.one("all", "any", "uni", "ballot")
	d.out.p, d.out.c = d.pred(1), d.arg(2, 32)
	if mode == "ballot" {
		d.out.d = d.dst(32)
		d.out.exec = func(w *warp, in *inst, m uint32) { w.splat(in.d, m, w.predicate(in.p)&m) }
		return
	}
	d.out.d = d.dst(1)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		p := w.predicate(in.p) & m
		w.setPred(in.d, m, truth(mode == "all" && p == m || mode == "any" && p != 0 || mode == "uni" && (p == m || p == 0)))
	}
}

// match decodes match.sync.
func (d *decoder) match() {
	if !d.want(3, 3) {
		return
	}
	width, every := bitsOf(d.typ()), d.has("all")
	wide := width == 64
	d.out.d, d.out.e, d.out.a, d.out.c = d.dst(32), d.pair(), d.arg(1, width), d.arg(2, 32)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		var out vec32
		for l := range warpSize {
			for o := range warpSize {
				if m>>o&1 != 0 && w.load(in.a, wide, o) == w.load(in.a, wide, l) {
					out[l] |= 1 << o
				}
			}
		}
		if every {
			same := out[bits.TrailingZeros32(m)] == m
			w.setPred(in.e, m, truth(same))
			w.splat(in.d, m, m&truth(same))
			return
		}
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			w.r[in.d][l] = out[l]
		}
	}
}

// reduce decodes redux.sync.
func (d *decoder) reduce() {
	if !d.want(3, 3) {
		return
	}
	t := d.typ()
	if bitsOf(t) != 32 || isFloatType(t) {
		d.fail("the simulator has redux.sync of 32-bit integers")
		return
	}
	f := d.atomicFunction(d.one("add", "min", "max", "and", "or", "xor"), t)
	d.out.d, d.out.a, d.out.c = d.dst(32), d.arg(1, 32), d.arg(2, 32)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		v := uint64(w.r[in.a][bits.TrailingZeros32(m)])
		for rest := m & (m - 1); rest != 0; rest &= rest - 1 {
			v = f(v, uint64(w.r[in.a][bits.TrailingZeros32(rest)]), 0)
		}
		w.splat(in.d, m, uint32(v))
	}
}

// control decodes branches, ends, and barriers.
func (d *decoder) control() {
	switch d.in.Op {
	case "bra":
		d.out.flow = flowBranch
	case "ret", "exit":
		d.out.flow = flowExit
	case "trap":
		d.out.flow = flowExit
		d.out.exec = func(w *warp, in *inst, m uint32) {
			w.failf(in, bits.TrailingZeros32(m), Trap, "the program stops itself here")
		}
	default:
		d.barriers()
	}
}

// barriers decodes bar and barrier.
func (d *decoder) barriers() {
	if d.has("warp") { // bar.warp.sync membermask
		d.out.flow, d.out.c = flowMembers, d.arg(0, 32)
		d.out.exec = func(w *warp, _ *inst, m uint32) { w.sync(m) }
		return
	}
	first, kind := 0, barSync
	switch {
	case d.has("arrive"):
		kind = barArrive
	case d.has("popc"):
		kind = barPopc
	case d.has("red") && d.has("and"):
		kind = barAnd
	case d.has("red") && d.has("or"):
		kind = barOr
	}
	n := len(d.in.Args)
	if kind >= barPopc {
		if !d.want(3, 4) {
			return
		}
		width := 1
		if kind == barPopc {
			width = 32
		}
		d.out.d = d.dst(width)
		d.out.p = d.pred(n - 1)
		first, n = 1, n-1
	}
	if n-first < 1 || n-first > 2 {
		d.fail("has %d operands", n)
		return
	}
	d.out.a = d.arg(first, 32)
	if n-first == 2 {
		d.out.b, d.out.n = d.arg(first+1, 32), 1
	} else if kind == barArrive {
		d.fail("needs a count")
	}
	d.out.x = kind
	d.out.aligned = !strings.HasPrefix(d.in.Op, "barrier") || d.has("aligned")
	d.out.flow = flowBarrier
}
