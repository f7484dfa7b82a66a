package products

import "github.com/trtui/trtui/kernels/cuda/ptx"

// engine multiplies what a stage holds.
type engine interface {
	// step adds the products of the stage that begins so many bytes into the ring.
	step(stage ptx.Uint)
	// sums ends the multiplication and returns the thread's sums, registers that may be set. They are words, or the
	// registers of floats; which of the tile's they are is the same in every block.
	sums() []ptx.Word
	// spill writes the sums as words to shared memory: row by row of the tile, sumPitch words apart.
	spill(to ptx.SharedPtr)
}

// source copies what is multiplied.
type source interface {
	// copyStep starts the copies of the next step into the stage that begins so many bytes into the ring.
	copyStep(stage ptx.Uint)
}

// run multiplies count steps. The copies of a step are started stages-1 steps before it is multiplied.
func (m *block) run(count ptx.Uint, s source, e engine) {
	t := m.t
	ahead := t.Stages - 1
	for i := range ahead {
		m.ifStep(ptx.U(i), count, func() { s.copyStep(ptx.U(i * t.stageBytes())) })
		m.CommitGroup()
	}
	last := m.Sub(m.Max(count, ptx.U(ahead)), ptx.U(ahead)) // from here on there is nothing to copy
	if n, known := count.Constant(); known {
		last = ptx.U(max(0, int(n)-ahead))
	}
	reading, writing := m.Var(ptx.U(0)), m.Var(ptx.U(ahead*t.stageBytes()))
	m.ForRolled(ptx.U(0), count, ptx.U(1), func(step ptx.Uint) {
		m.WaitGroup(t.Stages - 2)
		m.Barrier()
		m.ifStep(step, last, func() { s.copyStep(writing) })
		m.CommitGroup()
		e.step(reading)
		m.Set(writing, reading) // it is free when all threads are behind the next barrier
		next := m.Add(reading, ptx.U(t.stageBytes()))
		m.Set(reading, m.Select(m.Eq(next, ptx.U(t.Stages*t.stageBytes())), ptx.U(0), next))
	})
	m.Barrier() // all groups that are still open are empty; now the ring is free for the sums
}

// ifStep runs body if step is below count. Either may be known.
func (m *block) ifStep(step, count ptx.Uint, body func()) {
	n, known := count.Constant()
	s, both := step.Constant()
	switch both = both && known; {
	case known && n == 0, both && s >= n:
	case both:
		body()
	default:
		m.If(m.Lt(step, count), body)
	}
}
