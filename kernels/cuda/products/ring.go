package products

import (
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

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

// steps returns of how many steps the block's part of the sum is.
func (m *implicit) steps() ptx.Uint {
	t := m.t
	longest := m.p.steps(t.BK)
	steps := ptx.U(longest)
	if m.p.subpixel != nil {
		steps = m.phase.steps
	}
	if t.Split == 1 {
		return steps
	}
	per := emit.CeilDiv(longest, t.Split) // the last part may be shorter
	done := m.Mul(m.part, ptx.U(per))
	return m.Min(m.Sub(m.Max(steps, done), done), ptx.U(per))
}

// run multiplies count steps. The copies of a step, which copyStep starts into the stage so many bytes into the ring, are
// started stages-1 steps before it is multiplied.
func (m *implicit) run(count ptx.Uint, copyStep func(stage ptx.Uint), e engine) {
	t := m.t
	ahead := t.Stages - 1
	for s := range ahead {
		m.ifStep(ptx.U(s), count, func() { copyStep(ptx.U(s * t.stageBytes())) })
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
		m.ifStep(step, last, func() { copyStep(writing) })
		m.CommitGroup()
		e.step(reading)
		m.Set(writing, reading) // it is free when all threads are behind the next barrier
		next := m.Add(reading, ptx.U(t.stageBytes()))
		m.Set(reading, m.Select(m.Eq(next, ptx.U(t.Stages*t.stageBytes())), ptx.U(0), next))
	})
	m.Barrier() // all groups that are still open are empty; now the ring is free for the sums
}

// ifStep runs body if step is below count. Either may be known.
func (m *implicit) ifStep(step, count ptx.Uint, body func()) {
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
