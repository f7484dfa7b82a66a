package run

import "time"

// Inside is what a step of a body took in an inference.
type Inside struct {
	Step Step
	Of   string        // the step of the plan that it is in
	Runs int           // how often it ran
	Time time.Duration // of all of these; 0 where it launches nothing itself
}

// bodies calls f for every body of the frame's steps, and of theirs, with the step of the frame that it is in.
func (f *frame) bodies(of string, visit func(of string, b *body)) {
	for i := range f.args {
		x := f.args[i].control
		if x == nil {
			continue
		}
		name := of
		if name == "" {
			name = x.step.Name
		}
		for _, b := range x.bodies {
			visit(name, b)
			b.frame.bodies(name, visit)
		}
	}
}

// beginInside has the steps of bodies timed from now on.
func (c *ExecutionContext) beginInside() {
	c.inner = true
	for _, f := range c.frames { // it may go on at others
		f.bodies("", func(_ string, b *body) {
			b.runs = 0
			clear(b.times)
		})
	}
}

// endInside returns what the steps of bodies took since; nil where there are none.
func (c *ExecutionContext) endInside() (list []Inside) {
	c.inner = false
	var ran []*body
	for _, f := range append([]*frame{c.frame}, c.frames...) {
		at := 0
		f.bodies("", func(_ string, b *body) {
			if at == len(ran) {
				ran = append(ran, b)
			} else if b.runs > 0 {
				ran[at] = b
			}
			at++
		})
	}
	at := 0
	c.frame.bodies("", func(of string, _ *body) {
		b := ran[at]
		at++
		for i, s := range b.loaded.Plan.Steps {
			list = append(list, Inside{s, of, b.runs, b.times[i]})
		}
	})
	return list
}
