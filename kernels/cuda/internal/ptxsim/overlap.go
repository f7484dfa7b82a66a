package ptxsim

// Launches that overlap with the kernel before them in the stream ([Options].Overlap).

// gridDependency decodes griddepcontrol. That the next kernel may begin has no effect of its own: it waits, in turn.
func (d *decoder) gridDependency() {
	waits := d.has("wait")
	d.out.exec = func(w *warp, _ *inst, m uint32) {
		if waits {
			w.waited |= m
			w.block.launch.waited.Store(true)
		}
	}
}

// mayOverlap faults a lane that uses global memory before it has waited.
func (w *warp) mayOverlap(in *inst, lane int, addr uint64, does string) bool {
	if w.waited>>lane&1 == 0 {
		w.failf(in, lane, Overlap, "%s global address %#x before griddepcontrol.wait: the kernel before this one may still use it", does, addr)
		return false
	}
	return true
}

// readsThroughCache finds a load through the cache of what no thread writes, in a launch that overlaps.
func (l *launch) readsThroughCache() *Fault {
	if !l.opt.Overlap {
		return nil
	}
	k := l.kernel
	for i := range k.code {
		if in := &k.code[i]; in.readOnly {
			return &Fault{Kind: Overlap, Kernel: k.src.Name, Warp: -1, Lane: -1, Inst: in.src, Line: k.src.Body[in.src].Line, Text: spelled(k.src, in.src),
				Detail: "it may read what the kernel before this one wrote after this one began: ld.global without .nc does"}
		}
	}
	return nil
}

// neverWaits is the fault of a launch that overlaps in which no thread waits.
func (l *launch) neverWaits() *Fault {
	return &Fault{Kind: Overlap, Kernel: l.kernel.src.Name, Warp: -1, Lane: -1, Inst: -1,
		Detail: "no thread executes griddepcontrol.wait: it may end, and the next kernel begin, before the one before has ended"}
}
