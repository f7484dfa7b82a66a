package products

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// engine multiplies what a source copies.
type engine interface {
	// run multiplies so many steps. All copies have arrived then; other threads may still read the ring.
	run(count ptx.Uint, s source)
	// sums ends the multiplication and returns the thread's sums, registers that may be set. They are words, or the
	// registers of floats; which of the tile's they are is the same in every block.
	sums() []ptx.Word
	// spill writes the sums as words to shared memory: row by row of the tile, sumPitch words apart.
	spill(to ptx.SharedPtr)
}

// source copies what is multiplied.
type source interface {
	// copies returns the copies of a step, a few instructions each, into the stage that begins so many bytes into the ring:
	// the step so many turns on from where the source stands. They are in the order of steps. more says whether there is one;
	// nil: there is.
	copies(stage ptx.Uint, turn int, more *ptx.Cond) []func()
	// advance goes on by so many steps.
	advance(turns int)
}

// fill starts the copies of the first stages-1 of count steps, into stages from one on: they run ahead of the multiplication by
// so many.
func (b *block) fill(count ptx.Uint, s source, first int) {
	ahead := b.t.Stages - 1
	for i := range ahead {
		b.ifStep(ptx.U(i), count, func() { all(s.copies(b.stage(first+i), i, nil)) })
		b.CommitGroup()
	}
	s.advance(ahead)
}

// stage is where the i-th stage begins, around the ring.
func (b *block) stage(i int) ptx.Uint { return ptx.U(i % b.t.Stages * b.t.stageBytes()) }

// arrive waits until the next stage is there, for all threads; and all have read the one before.
func (b *block) arrive() {
	b.WaitGroup(b.t.Stages - 2)
	b.Barrier()
}

// rolled multiplies count steps with a function, stage by stage.
func (b *block) rolled(count ptx.Uint, s source, multiply func(stage ptx.Uint)) {
	t := b.t
	ahead := t.Stages - 1
	b.fill(count, s, 0)
	last := b.Sub(b.Max(count, ptx.U(ahead)), ptx.U(ahead)) // from here on there is nothing to copy
	if n, known := count.Constant(); known {
		last = ptx.U(max(0, int(n)-ahead))
	}
	reading, writing := b.Var(ptx.U(0)), b.Var(ptx.U(ahead*t.stageBytes()))
	b.ForRolled(ptx.U(0), count, ptx.U(1), func(step ptx.Uint) {
		b.arrive()
		b.ifStep(step, last, func() {
			all(s.copies(writing, 0, nil))
			s.advance(1)
		})
		b.CommitGroup()
		multiply(reading)
		b.Set(writing, reading) // it is free when all threads are behind the next barrier
		next := b.Add(reading, ptx.U(t.stageBytes()))
		b.Set(reading, b.Select(b.Eq(next, ptx.U(t.ringBytes())), ptx.U(0), next))
	})
}

// slicer multiplies a stage in slices, each of which is read while the one before is multiplied.
type slicer interface {
	// slices returns how many a stage has.
	slices() int
	// read reads a slice.
	read(s slice)
	// multiply adds the products of the slice that was read. Beside them it reads the next one, nil: none, then does what is
	// beside.
	multiply(of int, next *slice, beside []func())
}

// slice is a part of the stage that begins so many bytes into the ring.
type slice struct {
	stage ptx.Uint
	index int
}

// unrolled multiplies count steps. A turn of its loop goes once around the ring, so that the places of stages are known. The
// copies of a step are started between the products of one, and the first slice of a stage is read before the last products
// of the stage before it.
func (b *block) unrolled(count ptx.Uint, s source, e slicer) {
	stages := b.t.Stages
	switch n, known := count.Constant(); {
	case !known:
		b.circles(count, s, e)
	case int(n) <= stages:
		b.fill(count, s, 0)
		b.first(e, ptx.U(0))
		for i := range int(n) {
			var copies []func()
			if i+stages-1 < int(n) {
				copies = s.copies(b.stage(i+stages-1), i, nil)
			}
			b.step(b.stage(i), e, copies)
			if i+1 < int(n) {
				b.next(b.stage(i+1), e)
			}
		}
		e.multiply(e.slices()-1, nil, nil)
	default:
		b.wholeCircles(int(n), s, e)
	}
}

// wholeCircles multiplies more steps than the ring has stages. The first one's stage is such that the last one's is the
// ring's last: there the loop ends, and only its last circle has nothing to copy but for its first step.
func (b *block) wholeCircles(n int, s source, e slicer) {
	stages := b.t.Stages
	begin := (stages - n%stages) % stages
	b.fill(ptx.U(n), s, begin)
	s.advance(-begin)
	b.first(e, b.stage(begin))
	left := b.Var(ptx.U(n + begin))
	b.LoopInto(begin > 0, func(enter func()) ptx.Cond {
		for i := range stages {
			if i == begin {
				enter()
			}
			var more *ptx.Cond
			if i > 0 {
				c := b.Gt(left, ptx.U(stages))
				more = &c
			}
			b.step(b.stage(i), e, s.copies(b.stage(i+stages-1), i, more))
			b.next(b.stage(i+1), e) // behind the last one nothing of it is used
		}
		s.advance(stages)
		b.Set(left, b.Sub(left, ptx.U(stages)))
		return b.Gt(left, ptx.U(0))
	})
}

// circles multiplies a number of steps that is not known.
func (b *block) circles(count ptx.Uint, s source, e slicer) {
	stages := b.t.Stages
	b.fill(count, s, 0)
	b.If(b.Gt(count, ptx.U(0)), func() {
		b.first(e, ptx.U(0))
		left := b.Var(count)
		b.Loop(func(leave func(ptx.Cond)) {
			for i := range stages {
				more := b.Gt(left, ptx.U(i+stages-1))
				b.step(b.stage(i), e, s.copies(b.stage(i+stages-1), i, &more))
				leave(b.Le(left, ptx.U(i+1)))
				b.next(b.stage(i+1), e)
			}
			s.advance(stages)
			b.Set(left, b.Sub(left, ptx.U(stages)))
		})
		e.multiply(e.slices()-1, nil, nil)
	})
}

// stepwise multiplies count steps, one in a turn of its loop, with the places of stages in registers. Copies and reads are where
// unrolled has them; the last step is behind the loop, since it reads no further stage.
func (b *block) stepwise(count ptx.Uint, s source, e slicer) {
	ahead := b.t.Stages - 1
	b.fill(count, s, 0)
	reading, writing := b.Var(ptx.U(0)), b.Var(ptx.U(ahead*b.t.stageBytes()))
	body := func() {
		b.first(e, reading)
		b.ForRolled(ptx.U(1), count, ptx.U(1), func(step ptx.Uint) {
			more := b.Le(b.Add(step, ptx.U(ahead)), count)
			b.step(reading, e, s.copies(writing, 0, &more))
			s.advance(1)
			b.Set(writing, reading) // it is free when all threads are behind the next barrier
			next := b.Add(reading, ptx.U(b.t.stageBytes()))
			b.Set(reading, b.Select(b.Eq(next, ptx.U(b.t.ringBytes())), ptx.U(0), next))
			b.next(reading, e)
		})
		b.step(reading, e, nil)
		e.multiply(e.slices()-1, nil, nil)
	}
	if n, known := count.Constant(); known && n > 0 {
		body()
	} else {
		b.If(b.Gt(count, ptx.U(0)), body)
	}
}

// first waits for the first stage and reads its first slice.
func (b *block) first(e slicer, stage ptx.Uint) {
	b.arrive()
	e.read(slice{stage, 0})
}

// step multiplies a stage but for its last slice, with copies beside.
func (b *block) step(stage ptx.Uint, e slicer, copies []func()) {
	last := e.slices() - 1
	for of := range last {
		e.multiply(of, &slice{stage, of + 1}, part(copies, of, min(2, last)))
	}
	b.CommitGroup()
}

// next waits for the next stage, and reads its first slice beside the products of the last one.
func (b *block) next(stage ptx.Uint, e slicer) {
	b.arrive()
	e.multiply(e.slices()-1, &slice{stage, 0}, nil)
}

// all does what a list has.
func all(list []func()) {
	for _, f := range list {
		f()
	}
}

// part returns the i-th of n parts of a list.
func part(list []func(), i, n int) []func() {
	if i >= n {
		return nil
	}
	return list[len(list)*i/n : len(list)*(i+1)/n]
}

// ifStep runs body if step is below count. Either may be known.
func (b *block) ifStep(step, count ptx.Uint, body func()) {
	n, known := count.Constant()
	s, both := step.Constant()
	switch both = both && known; {
	case known && n == 0, both && s >= n:
	case both:
		body()
	default:
		b.If(b.Lt(step, count), body)
	}
}
