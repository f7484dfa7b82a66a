package ptxsim

// Needs is what a block of a kernel takes of a multiprocessor, beside what its launch asks for.
type Needs struct {
	Registers int // of a thread: the most that are live at a time
	Shared    int // bytes of static shared memory
	Local     int // bytes of a thread's local memory
	Threads   int // at most
}

// Needs returns what a kernel takes.
func (p *Program) Needs(name string) (Needs, error) {
	k := p.kernels[name]
	if k == nil {
		return Needs{}, p.unknown(name)
	}
	n := Needs{Registers: max(k.live, 1), Shared: k.static, Local: k.localBytes, Threads: 1024}
	if m := k.src.MaxThreads; m[0] > 0 {
		n.Threads = min(n.Threads, max(m[0], 1)*max(m[1], 1)*max(m[2], 1))
	}
	return n, nil
}
