package ptxsim

import (
	"fmt"
	"math/bits"
	"sort"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Stats is what a launch did. Conflicts and sectors are measured in the blocks that Options.Lints chose, all else in all.
type Stats struct {
	Kernel       string
	Blocks       int
	Threads      int   // of a block
	Instructions int64 // of warps
	FMA          int64 // fused multiply-adds of threads
	Floats       int64 // additions, multiplications and multiply-adds of threads in 32 bits
	MACs         int64 // multiply-adds of tensor cores on 16 bits and more
	ByteMACs     int64 // and on bytes
	GlobalRead   int64 // bytes
	GlobalWrite  int64
	SharedRead   int64 // bytes, ldmatrix included
	SharedWrite  int64 // bytes, cp.async included
	Registers    int   // the most 32-bit registers live at one place of the text; a compiler, which orders it anew, takes fewer or more
	Shared       int   // bytes of shared memory of a block
	Occupancy    int   // blocks that fit an SM at a time
	// Abandoned counts asynchronous copies of threads that read something and that no wait ends. The ISA does not forbid
	// them; whoever issues one has most likely forgotten it.
	Abandoned int64
	// Reads and Writes are the addresses of global memory that the launch read and wrote, in words of 4 bytes, in order; where
	// Options.Touched is set.
	Reads, Writes []Range
	Insts         []InstStats
}

// InstStats is what one instruction did. Counts of a load or store that found no memory to measure are zero.
type InstStats struct {
	Op         string // with all its modifiers
	Index      int    // in the kernel's body
	Line       int
	Text       string
	Executions int64 // by warps
	Lanes      int64 // by threads
	Space      ptx.Space

	Requests int64 // measured executions
	// Conflicts is the most passes over the banks of shared memory that a part of a request took: 1 is free of conflicts.
	// The parts are what the banks can serve at once: 32 lanes of 4 bytes, 16 of 8, 8 of 16, one matrix of ldmatrix.
	Conflicts     int
	MeanConflicts float64
	// Sectors is the mean of the 32-byte sectors of global memory that a request touched, Ideal what its bytes fill.
	Sectors, Ideal float64
}

// Efficiency is the used part of the sectors that an instruction moved: 1 is fully coalesced.
func (s *InstStats) Efficiency() float64 {
	if s.Sectors == 0 {
		return 1
	}
	return s.Ideal / s.Sectors
}

// Worst returns the instruction with the most bank conflicts, or where none has any the lowest efficiency, among those
// whose name begins with op ("ldmatrix", "ld.shared", "st.global"); nil if none was measured.
func (s *Stats) Worst(op string) *InstStats {
	var worst *InstStats
	for i := range s.Insts {
		in := &s.Insts[i]
		if in.Requests == 0 || in.Op != op && !strings.HasPrefix(in.Op, op+".") {
			continue
		}
		if worst == nil || in.Conflicts > worst.Conflicts || in.Conflicts == worst.Conflicts && in.Efficiency() < worst.Efficiency() {
			worst = in
		}
	}
	return worst
}

// String lists the totals, and the instructions that access memory with what was measured.
func (s *Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d blocks of %d threads, %d warp instructions, %d FMA, %d tensor MAC, %d of bytes\n", s.Kernel, s.Blocks, s.Threads, s.Instructions, s.FMA, s.MACs, s.ByteMACs)
	fmt.Fprintf(&b, "  %d registers live, %d bytes of shared memory, %d blocks an SM\n", s.Registers, s.Shared, s.Occupancy)
	fmt.Fprintf(&b, "  global %d bytes read, %d written; shared %d read, %d written\n", s.GlobalRead, s.GlobalWrite, s.SharedRead, s.SharedWrite)
	for i := range s.Insts {
		in := &s.Insts[i]
		if in.Requests == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %6d  %-60s x%d", in.Line, in.Text, in.Executions)
		if in.Conflicts > 0 {
			fmt.Fprintf(&b, "  conflicts %d (mean %.2f)", in.Conflicts, in.MeanConflicts)
		}
		if in.Sectors > 0 {
			fmt.Fprintf(&b, "  sectors %.2f of %.2f", in.Sectors, in.Ideal)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// lintCount is what was measured of one instruction.
type lintCount struct {
	requests int64
	parts    int64 // of shared requests, and the passes they took
	passes   int64
	worst    int
	sectors  int64 // of global requests, and what their bytes fill
	ideal    int64
}

func (c *lintCount) add(o *lintCount) {
	c.requests += o.requests
	c.parts += o.parts
	c.passes += o.passes
	c.worst = max(c.worst, o.worst)
	c.sectors += o.sectors
	c.ideal += o.ideal
}

// stats sums up what the workers counted.
func (l *launch) stats(workers []*worker) *Stats {
	k := l.kernel
	names := k.insts()
	s := &Stats{Kernel: k.src.Name, Blocks: l.blocks, Threads: l.block[0] * l.block[1] * l.block[2], Registers: k.live, Shared: l.shared - k.span + k.static, Insts: make([]InstStats, 0, len(k.code))}
	for _, w := range workers {
		s.Abandoned += w.abandoned
	}
	l.addTouched(s)
	s.Occupancy = l.opt.SM.Occupancy(s.Threads, s.Registers, s.Shared)
	for pc := range k.code {
		in := &k.code[pc]
		if in.src < 0 {
			continue
		}
		st := names[pc]
		var c lintCount
		for _, w := range workers {
			st.Executions += w.count[pc]
			st.Lanes += w.count[pc]*warpSize - w.idle[pc]
			c.add(&w.lints[pc])
		}
		s.Instructions += st.Executions
		s.FMA += in.work.fma * st.Lanes
		s.Floats += in.work.floats * st.Lanes
		s.MACs += in.work.macs * st.Executions
		s.ByteMACs += in.work.byteMACs * st.Executions
		s.addBytes(in, st.Lanes)
		st.Requests, st.Conflicts = c.requests, c.worst
		if c.parts > 0 {
			st.MeanConflicts = float64(c.passes) / float64(c.parts)
		}
		if c.sectors > 0 {
			st.Sectors, st.Ideal = float64(c.sectors)/float64(c.requests), float64(c.ideal)/float64(c.requests)
		}
		s.Insts = append(s.Insts, st)
	}
	sort.Slice(s.Insts, func(i, j int) bool { return s.Insts[i].Index < s.Insts[j].Index })
	return s
}

// nameInsts names the instructions, by place in the code.
func (k *kernel) nameInsts() []InstStats {
	out := make([]InstStats, len(k.code))
	for pc := range k.code {
		if in := &k.code[pc]; in.src >= 0 {
			src := &k.src.Body[in.src]
			out[pc] = InstStats{Op: strings.Join(append([]string{src.Op}, src.Mods...), "."), Index: in.src, Line: src.Line, Text: spelled(k.src, in.src), Space: in.space}
		}
	}
	return out
}

// addBytes counts the bytes that lanes of in moved.
func (s *Stats) addBytes(in *inst, lanes int64) {
	n := in.work.bytes * lanes
	switch {
	case in.work.moves == movesCopy:
		s.GlobalRead += n
		s.SharedWrite += n
	case in.work.moves == movesRead && in.space == ptx.Global:
		s.GlobalRead += n
	case in.work.moves == movesWrite && in.space == ptx.Global:
		s.GlobalWrite += n
	case in.work.moves == movesRead && in.space == ptx.Shared:
		s.SharedRead += n
	case in.work.moves == movesWrite && in.space == ptx.Shared:
		s.SharedWrite += n
	}
}

// measure counts the banks or sectors that lanes m of an access touch, in blocks that are measured.
func (w *warp) measure(in *inst, addr *vec64, m uint32) {
	if !w.block.worker.lint {
		return
	}
	w.lintOf(in).requests++
	switch in.space {
	case ptx.Shared:
		w.measureShared(in, addr, m, uint64(in.size))
	case ptx.Global:
		w.measureGlobal(in, addr, m, uint64(in.size))
	}
}

func (w *warp) lintOf(in *inst) *lintCount {
	return &w.block.worker.lints[in.at]
}

// measureShared counts passes over the 32 banks of 4 bytes: each part of a request takes as many as there are different
// words in its busiest bank.
func (w *warp) measureShared(in *inst, addr *vec64, m uint32, size uint64) {
	c := w.lintOf(in)
	part := warpSize
	if size > 4 {
		part = warpSize * 4 / int(size)
	}
	for first := 0; first < warpSize; first += part {
		if m>>first&(1<<part-1) == 0 {
			continue
		}
		var banks bankSet
		for l := first; l < first+part; l++ {
			if m>>l&1 == 0 {
				continue
			}
			for x := addr[l] / 4; x <= (addr[l]+size-1)/4; x++ {
				banks.add(x)
			}
		}
		most := int(banks.most)
		c.parts++
		c.passes += int64(most)
		c.worst = max(c.worst, most)
	}
}

// bankSet counts the different words of each bank. A part of a request has at most 32 words.
type bankSet struct {
	first [warpSize]uint64 // of each bank, the word that came first
	count [warpSize]uint8
	more  [warpSize]uint64 // the other words, of all banks
	n     int
	most  uint8
}

func (s *bankSet) add(word uint64) {
	b := word % warpSize
	switch {
	case s.count[b] == 0:
		s.first[b] = word
	case s.first[b] == word, contains(s.more[:s.n], word):
		return
	default:
		s.more[s.n] = word
		s.n++
	}
	s.count[b]++
	s.most = max(s.most, s.count[b])
}

// measureGlobal counts the different sectors of 32 bytes.
func (w *warp) measureGlobal(in *inst, addr *vec64, m uint32, size uint64) {
	c := w.lintOf(in)
	var sectors, places [warpSize]uint64
	ns, np := 0, 0
	for rest := m; rest != 0; rest &= rest - 1 {
		x := addr[bits.TrailingZeros32(rest)]
		if !contains(sectors[:ns], x/32) {
			sectors[ns] = x / 32
			ns++
		}
		if !contains(places[:np], x) {
			places[np] = x
			np++
		}
	}
	c.sectors += int64(ns)
	c.ideal += int64((uint64(np)*size + 31) / 32)
}

func contains(s []uint64, x uint64) bool {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == x {
			return true
		}
	}
	return false
}

// SM is the limits of a multiprocessor.
type SM struct {
	Name           string
	Threads        int
	Blocks         int
	Registers      int
	Shared         int // bytes, of all blocks and what the system reserves for each
	SharedPerBlock int
	Reserved       int // bytes of shared memory the system takes for each block
}

// SMOf describes the multiprocessor of a target (CUDA C++ Programming Guide, "Compute Capabilities").
func SMOf(t ptx.Target) SM {
	s := SM{Name: fmt.Sprintf("sm_%d", t.SM), Threads: 2048, Blocks: 32, Registers: 64 << 10, Shared: 164 << 10, SharedPerBlock: 163 << 10, Reserved: 1 << 10}
	switch {
	case t.SM >= 90 && t.SM < 120:
		s.Shared, s.SharedPerBlock = 228<<10, 227<<10
	case t.SM == 86 || t.SM == 89 || t.SM >= 120:
		s.Threads, s.Blocks, s.Shared, s.SharedPerBlock = 1536, 24, 100<<10, 99<<10
	case t.SM < 80:
		s.Threads, s.Blocks, s.Shared, s.SharedPerBlock, s.Reserved = 1024, 16, 64<<10, 64<<10, 0
	}
	return s
}

// Occupancy is how many blocks of some threads, with registers for each thread and bytes of shared memory, an SM holds at
// a time. Registers are given out in steps of 8 to a thread.
func (s *SM) Occupancy(threads, registers, shared int) int {
	warps := (threads + warpSize - 1) / warpSize
	n := min(s.Blocks, s.Threads/(warps*warpSize))
	if r := alignUp(max(registers, 1), 8) * warps * warpSize; r > 0 {
		n = min(n, s.Registers/r)
	}
	return min(n, s.Shared/max(shared+s.Reserved, 1))
}
