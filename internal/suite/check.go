package suite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// Bind returns a layer's binding in the tactic's formats, and whether there is one; extra elements between two batch
// indices, between pixels in NHWC, or between the rows that a tactic reads apart, make the tensors slices of larger ones.
func Bind(l *graph.Layer, tac kernels.Tactic, extra int) (kernels.Binding, bool) {
	if extra > 0 && !tac.Strided || !tac.Reference && run.HasStrings(l) { // which the reference alone takes
		return kernels.Binding{}, false
	}
	b := kernels.Binding{Layer: l, Consts: make([][]byte, len(l.Inputs))}
	form := func(t *graph.Tensor, f kernels.Format, rows bool) (kernels.Desc, bool) {
		d := kernels.Desc{Type: t.Type, Dims: symbolic.Eval(t.Dims, nil), Format: f}
		if f != kernels.Linear && len(d.Dims) < 2 {
			return d, false
		}
		switch {
		case extra == 0 || len(d.Dims) < 2:
		case f == kernels.NHWC:
			d.Pitch = d.Width() + extra
		case rows && f == kernels.Linear && len(d.Dims) > 2:
			d.Pitch = d.RowPitch() + extra
		case d.Dims[0] > 1:
			d.Batch = d.BatchStride() + extra
		}
		return d, true
	}
	for i, t := range l.Inputs {
		var d kernels.Desc
		ok := true
		switch {
		case t == nil:
		case t.IsConst():
			d = kernels.Desc{Type: t.Type, Dims: symbolic.Eval(t.Dims, nil)}
			b.Consts[i] = t.Weights
		case i >= len(l.OpInputs()):
			d, ok = form(t, tac.Out, false)
		default:
			d, ok = form(t, tac.In, tac.Rows)
		}
		if !ok {
			return b, false
		}
		b.In = append(b.In, d)
	}
	for _, t := range l.Outputs {
		d, ok := form(t, tac.Out, false)
		if !ok {
			return b, false
		}
		b.Out = append(b.Out, d)
	}
	return b, true
}

// Reference is a layer's inputs, random but for its constants, and what its Eval makes of them.
type Reference struct{ In, Out []numeric.Value }

// NewReference draws inputs and evaluates the layer.
func NewReference(l *graph.Layer, rnd *rand.Rand) (Reference, error) {
	r := Reference{make([]numeric.Value, len(l.Inputs)), make([]numeric.Value, len(l.Outputs))}
	for i, t := range l.Inputs {
		if t == nil {
			continue
		}
		v, ok := t.Const()
		if !ok {
			v = Random(rnd, t)
		}
		r.In[i] = v
	}
	for i, t := range l.Outputs {
		r.Out[i] = numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
	}
	return r, l.Eval(r.In, r.Out)
}

// Result is what a check measured.
type Result struct {
	MaxError float64       // in steps for integers, as a share of the largest magnitude, or of 1, for reals
	Time     time.Duration // of a launch on the device; 0 where it was not asked for
}

// Check launches a bound kernel on the inputs of each reference, twice, into outputs and workspace that hold NaN, and
// compares: with the reference within the tolerance, and both launches bit by bit. A tactic that can work in place does so
// in the end. With timed it then measures; where there are no references, on random inputs.
func Check(b run.Backend, s kernels.Stream, tac kernels.Tactic, binding kernels.Binding, k kernels.Kernel, refs []Reference, tol Tolerance, timed bool) (Result, error) {
	c := &check{backend: b, stream: s, binding: binding, kernel: k, tolerance: tol}
	defer c.free()
	var err error
	if c.constants, err = run.Place(b, k); err != nil {
		return c.result, err
	}
	if err := c.alloc(tac); err != nil {
		return c.result, err
	}
	for i, r := range refs {
		if err := c.repeat(r); err != nil {
			return c.result, fmt.Errorf("repetition %d: %w", i+1, err)
		}
	}
	if len(refs) == 0 {
		if err := c.fill(); err != nil {
			return c.result, err
		}
	}
	if timed {
		if err := c.time(); err != nil {
			return c.result, err
		}
	}
	if tac.InPlace && len(refs) > 0 {
		return c.result, c.inPlace(refs[len(refs)-1])
	}
	return c.result, nil
}

// check is the memory of one check.
type check struct {
	backend   run.Backend
	stream    kernels.Stream
	binding   kernels.Binding
	kernel    kernels.Kernel
	tolerance Tolerance
	constants kernels.Mem
	in, out   []kernels.Mem
	scratch   kernels.Mem
	room      int // bytes of scratch
	result    Result
}

func (c *check) alloc(tac kernels.Tactic) (err error) {
	place := func(n int) kernels.Mem {
		if err != nil {
			return kernels.Mem{}
		}
		var m kernels.Mem
		m, err = c.backend.Alloc(n)
		return m
	}
	for i, d := range c.binding.In {
		var m kernels.Mem
		if c.active(i) {
			m = place(d.Span())
		}
		c.in = append(c.in, m)
	}
	for _, d := range c.binding.Out {
		c.out = append(c.out, place(d.Span()))
	}
	if tac.Workspace != nil {
		c.room = tac.Workspace(c.binding)
		c.scratch = place(c.room)
	}
	return err
}

// active reports whether input i is a tensor in the device's memory.
func (c *check) active(i int) bool {
	return c.binding.Layer.Inputs[i] != nil && c.binding.Consts[i] == nil
}

func (c *check) free() {
	for _, list := range [][]kernels.Mem{c.in, c.out, {c.scratch, c.constants}} {
		for _, m := range list {
			c.backend.Free(m)
		}
	}
}

// repeat is one repetition: two launches.
func (c *check) repeat(r Reference) error {
	if err := c.upload(r); err != nil {
		return err
	}
	var first [][]byte
	for launch := range 2 {
		if err := c.poison(); err != nil {
			return err
		}
		if err := c.kernel.Launch(c.stream, c.in, c.out, c.scratch); err != nil {
			return err
		}
		stored, err := c.compare(c.out, r)
		if err != nil {
			return err
		}
		if launch == 0 {
			first = stored
			for i, d := range c.binding.Out {
				if err := untouched(d, stored[i]); err != nil {
					return fmt.Errorf("%s, output %d: %w", c.binding.Layer, i, err)
				}
			}
			continue
		}
		for i := range stored {
			if !bytes.Equal(stored[i], first[i]) {
				return fmt.Errorf("output %d of a second launch on the same inputs has other bits", i)
			}
		}
	}
	return nil
}

// upload gives the inputs the elements of the reference.
func (c *check) upload(r Reference) error {
	for i, d := range c.binding.In {
		if c.active(i) {
			if err := c.backend.Upload(c.stream, c.in[i], poisoned(d, r.In[i].Data)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fills are the elements that fillOf made, by type.
var fills sync.Map

const fillBytes = 4 << 20

// fillOf returns random elements of a type.
func fillOf(t numeric.DataType) []byte {
	some, ok := fills.Load(t)
	if !ok {
		some, _ = fills.LoadOrStore(t, randomBytes(t, fillBytes))
	}
	return some.([]byte)
}

// fill gives the inputs random elements, as they lie: a device is faster on zeros.
func (c *check) fill() error {
	for i, d := range c.binding.In {
		if !c.active(i) || d.Span() == 0 {
			continue
		}
		some := fillOf(d.Type)
		for at := 0; at < d.Span(); at += len(some) {
			n := min(len(some), d.Span()-at)
			if err := c.backend.Upload(c.stream, c.backend.Slice(c.in[i], at, n), some[:n]); err != nil {
				return err
			}
		}
	}
	return c.stream.Wait()
}

// poison fills outputs and workspace with NaN.
func (c *check) poison() error {
	fill := func(m kernels.Mem, n int) error {
		if n == 0 {
			return nil
		}
		return c.backend.Upload(c.stream, m, bytes.Repeat([]byte{0xff}, n))
	}
	for i, d := range c.binding.Out {
		if err := fill(c.out[i], d.Span()); err != nil {
			return err
		}
	}
	return fill(c.scratch, c.room)
}

// compare reads outputs, compares them with the reference, and returns them as they are stored.
func (c *check) compare(out []kernels.Mem, r Reference) ([][]byte, error) {
	var all [][]byte
	for i, d := range c.binding.Out {
		stored := make([]byte, d.Span())
		if err := c.backend.Download(c.stream, stored, out[i]); err != nil {
			return nil, err
		}
		if err := c.stream.Wait(); err != nil {
			return nil, err
		}
		got := numeric.NewValue(d.Type, d.Dims...)
		d.ToLinear(got.Data, stored)
		e, err := distance(got, r.Out[i], c.binding.Layer.Outputs[i].Range, c.tolerance)
		c.result.MaxError = max(c.result.MaxError, e)
		if err != nil {
			return nil, fmt.Errorf("%s, output %d: %w", c.binding.Layer, i, err)
		}
		all = append(all, stored)
	}
	return all, nil
}

// untouched returns an error where what lies between the parts of a slice, which held NaN, was written.
func untouched(d kernels.Desc, stored []byte) error {
	if d.Dense() {
		return nil
	}
	before, after := bytes.Repeat([]byte{0xff}, len(stored)), bytes.Clone(stored)
	same := numeric.NewValue(d.Type, d.Dims...).Data
	d.FromLinear(before, same)
	d.FromLinear(after, same)
	if !bytes.Equal(before, after) {
		return fmt.Errorf("memory outside of the slice %v was written", d)
	}
	return nil
}

// Launches before and within a measurement.
const warmLaunches, timedLaunches = 3, 20

// time measures launches in a row; where times are estimates, which do not vary, one.
func (c *check) time() error {
	warm, n := warmLaunches, timedLaunches
	if c.backend.Info().Estimated {
		warm, n = 0, 1
	}
	var start kernels.Mark
	for i := range warm + n {
		if i == warm {
			start = c.stream.Record()
		}
		if err := c.kernel.Launch(c.stream, c.in, c.out, c.scratch); err != nil {
			return err
		}
	}
	end := c.stream.Record()
	if err := c.stream.Wait(); err != nil {
		return err
	}
	c.result.Time = c.stream.Elapsed(start, end) / time.Duration(n)
	return nil
}

// inPlace writes the output over each input of its form, which is lost with that.
func (c *check) inPlace(r Reference) error {
	for i, d := range c.binding.In {
		if !c.active(i) || !d.Equal(c.binding.Out[0]) {
			continue
		}
		if err := c.upload(r); err != nil {
			return err
		}
		over := []kernels.Mem{c.in[i]}
		if err := c.kernel.Launch(c.stream, c.in, over, c.scratch); err != nil {
			return err
		}
		if _, err := c.compare(over, r); err != nil {
			return fmt.Errorf("over input %d: %w", i, err)
		}
	}
	return nil
}

// poisoned lays elements out in the form d, with what is between those of f32 poisoned by large numbers, and the lanes of real
// numbers behind the last channel, which the contract has finite, by the largest.
func poisoned(d kernels.Desc, linear []byte) []byte {
	stored := make([]byte, d.Span())
	if d.Type == numeric.F32 {
		for i := range len(stored) / 4 {
			numeric.View[float32](stored)[i] = 1e6
		}
	}
	d.FromLinear(stored, linear)
	if d.Format == kernels.Linear || d.Type != numeric.F32 && d.Type != numeric.F16 {
		return stored
	}
	lanes := bytes.Repeat([]byte{0xff}, len(stored))
	d.FromLinear(lanes, bytes.Repeat([]byte{0xff}, len(linear)))
	largest := []byte{0xff, 0xff, 0x7f, 0x7f}
	if d.Type == numeric.F16 {
		largest = []byte{0xff, 0x7b}
	}
	for i, b := range lanes {
		if b == 0 {
			stored[i] = largest[i%len(largest)]
		}
	}
	return stored
}
