package attention

import (
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// What a block's cycles are estimated by; nothing of it was measured.
const (
	unhidden          = 0.25 // of the softmax, which waits for its scores as the next products wait for it
	scoreInstructions = 7    // for each score: scale, largest, exponential, sum, conversion
	tileLatency       = 250  // cycles from one tile of keys to the next that no product hides: the softmax waits for its scores
	blockLatency      = 2500 // to read queries and the first keys, and to write the result
)

// jobs estimates the launches.
func (p *problem) jobs(t Tile) []emit.Job {
	keys, values := t.widths(p)
	all := float64(p.keyTiles(t))
	mean, most := all/float64(t.Split), all/float64(t.Split)
	mean *= p.seen()
	softened := float64(t.BM*(scoreInstructions*t.BN+values)) / emit.ThreadsPerCycle
	beside := softened
	if t.Unit == emit.SimtF32 { // whose products are issued like all else, and read by 16 bytes a lane
		rows := t.BM * simtLanes / t.threads()
		reads := keys/4*(rows+t.BN/simtLanes) + t.BN/4*(rows+values/simtLanes)
		beside += float64(t.Warps*reads) + float64(t.BM*t.BN*(keys+values))/emit.ThreadsPerCycle
	} else {
		read := t.Warps * t.BN * (keys + values)
		if !t.kept(p) {
			read += t.BM * keys
		}
		beside += float64(2*read) / emit.SharedBytesPerCycle
	}
	g := t.grid(p)
	jobs := []emit.Job{{
		Blocks: g[0] * g[1] * g[2], Warps: t.Warps, Resident: t.resident(p), Shared: t.shared(p), Unit: t.Unit,
		Multiplied: mean * float64(t.BM*t.BN*(keys+values)), Beside: mean * beside, Cycles: mean * softened * unhidden,
		Longest: most / max(mean, 1e-9), Latency: blockLatency + most*tileLatency, Bytes: emit.Traffic(p.binding),
	}}
	if list := p.joins(t); len(list) > 0 {
		threads, bytes := 0, 0
		for _, j := range list {
			threads += p.joinedElements(j.of) / j.vector()
			bytes += 2 * p.joinedElements(j.of) * j.Type.Size()
		}
		jobs = append([]emit.Job{emit.ThreadJob(threads, 60, float64(bytes))}, jobs...)
	}
	if t.Split > 1 {
		sums, tops := p.partBytes(t)
		jobs = append(jobs, emit.ThreadJob(p.allRows()*emit.CeilDiv(p.sizeV, 4), 60+20*t.Split, float64(sums+tops)))
	}
	return jobs
}

// seen estimates the share of the keys that a query sees, on the mean.
func (p *problem) seen() float64 {
	keys := float64(p.keys)
	n := keys
	if p.ends { // of the present keys half
		n = min(keys, float64(p.past)+float64(p.keys-p.past)/2+float64(p.behind))
	}
	if p.window > 0 {
		n = min(n, float64(p.window+p.behind))
	}
	return n / keys
}

// sumRegisters estimates what the assembler gives a thread without its masks: sums, scores, operands, addresses.
func (t Tile) sumRegisters(p *problem) int {
	const operands, floats = 80, 90
	_, values := t.widths(p)
	n := t.BM * (values + t.BN) / t.threads()
	if t.Unit == emit.TensorF16 {
		return n + operands
	}
	return n + floats
}

// registers estimates what it gives a thread.
func (t Tile) registers(p *problem) int {
	n := t.sumRegisters(p)
	if p.mask != nil {
		n += 8 + t.fetched(p)
	}
	return min(255, n)
}

// resident returns for how many blocks an SM of the largest kind has registers and shared memory: the assembler leaves each its
// registers.
func (t Tile) resident(p *problem) int {
	const shared = 228 << 10
	return max(1, min(2048/t.threads(), emit.RegistersPerSM/(t.threads()*t.registers(p)), shared/(t.shared(p)+emit.SharedReserved)))
}
