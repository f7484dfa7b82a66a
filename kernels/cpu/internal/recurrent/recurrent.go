package recurrent

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// together is the bytes of the weights that a state is multiplied by from which on workers go through the steps together: a
// step takes longer than they take to meet, and each of them reads only its part of what one cache may not hold.
const together = 512 << 10

// kernel is a recurrent layer bound to a shape.
type kernel struct {
	graph.RecurrentShape
	attrs   graph.RecurrentAttrs
	weights weights
	phases  int          // products of a step that follow each other
	gates   []activation // direction by direction
	vec     asm.VecKernel
	workers int
	program *programs.Program

	counted          bool   // there are lengths
	long             bool   // and they are of 64 bits
	lengths          []byte // where they are constant
	first, firstCell []float32
	given            [2]bool // there is a first state, a first cell

	pitch  int // floats between two rows of the state: not a multiple of the caches' ways
	items  int // of a unit
	units  int // columns of the state of a unit, a multiple of a panel's
	blocks int // of these columns
}

func newKernel(b kernels.Binding, isa asm.Features, workers int) *kernel {
	l := b.Layer
	k := &kernel{RecurrentShape: l.RecurrentShape(b.In[graph.RecurrentX].Dims), attrs: l.Attrs.(graph.RecurrentAttrs),
		vec: work.VecKernel(isa), workers: max(1, workers), phases: 1}
	if l.Op == graph.GRU && !k.attrs.ResetAfter {
		k.phases = 2
	}
	for _, f := range l.GateActivations() {
		k.gates = append(k.gates, newActivation(f))
	}
	if t := l.Input(graph.RecurrentLengths); t != nil {
		k.counted, k.long = true, t.Type == numeric.I64
	}
	k.given = [2]bool{l.Input(graph.RecurrentState) != nil, l.Op == graph.LSTM && l.Input(graph.RecurrentCell) != nil}
	k.pitch = (work.BlocksOf(k.Hidden) | 1) * work.Lanes
	k.cut(isa)
	return k
}

// cut chooses what a unit is.
func (k *kernel) cut(isa asm.Features) {
	panel := work.Lanes
	for _, p := range products.Kernels(isa) {
		if p != nil {
			panel = max(panel, p.Blocks*work.Lanes)
		}
	}
	panels := work.CeilDiv(k.Hidden, panel)
	k.items, k.units, k.blocks = k.Batch, k.Hidden, 1
	each := work.CeilDiv(k.workers, k.Directions)
	if k.workers > 1 && 4*k.Gates*k.Hidden*k.Hidden >= together && panels > 1 {
		k.units = work.CeilDiv(panels, min(panels, each)) * panel
		k.blocks = work.CeilDiv(k.Hidden, k.units)
		return
	}
	k.items = work.CeilDiv(k.Batch, min(k.Batch, each))
}

// room is how the workspace is divided, in floats.
type room struct {
	input, copy  int // the product with the input, and the copy of the input that this may make
	state, cell  int // of each direction: two states, which take turns, and a cell
	sums, parts  int // of each direction: the gates' sums of all items, and the states times the reset gate
	all          int
	states, item int // floats of the states of one direction, and of an item's sums
}

func (k *kernel) plan() room {
	var r room
	place := func(n int) int {
		at := r.all
		r.all += work.RoundUp64(n)
		return at
	}
	rows, columns := k.Steps*k.Batch, k.Directions*k.Gates*k.Hidden
	r.states, r.item = k.Batch*k.pitch, k.Gates*k.pitch
	r.input, r.copy = place(rows*columns), place(products.RoomF32(rows, columns, k.Input, k.Input))
	r.state, r.cell = place(2*k.Directions*r.states), place(k.Directions*r.states)
	r.sums, r.parts = place(k.Directions*k.Batch*r.item), place(k.Directions*r.states)
	return r
}

// run is the state of one launch.
type run struct {
	*kernel
	at               room
	ws               []float32
	first, firstCell []float32
	lengths          []byte
	y, last, lastOf  []float32 // the outputs; nil for one that there is not
	step, phase      int       // of those that go through steps together
}

var (
	wholeJob = work.NewJob((*run).whole)
	stepJob  = work.NewJob((*run).stepUnit)
)

// Launch computes the product with the input, then step after step.
func (k *kernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	r := run{kernel: k, at: k.plan(), ws: numeric.View[float32](ws.Host), first: k.first, firstCell: k.firstCell, lengths: k.lengths}
	if k.counted && r.lengths == nil {
		r.lengths = in[graph.RecurrentLengths].Host
	}
	if err := r.check(); err != nil {
		return err
	}
	if k.given[0] && r.first == nil {
		r.first = numeric.View[float32](in[graph.RecurrentState].Host)
	}
	if k.given[1] && r.firstCell == nil {
		r.firstCell = numeric.View[float32](in[graph.RecurrentCell].Host)
	}
	r.y = numeric.View[float32](out[0].Host)
	if len(out) > 1 {
		r.last = numeric.View[float32](out[1].Host)
	}
	if len(out) > 2 {
		r.lastOf = numeric.View[float32](out[2].Host)
	}
	columns := k.Directions * k.Gates * k.Hidden
	call := products.GemmF32Call{
		M: k.Steps * k.Batch, A: numeric.View[float32](in[graph.RecurrentX].Host), AStride: k.Input, B: k.weights.input, Bias: k.weights.bias,
		Out: r.ws[r.at.input:], OutStride: columns, Limits: programs.NoLimits(), Workers: k.workers,
		Room: r.ws[r.at.copy:][:products.RoomF32(k.Steps*k.Batch, columns, k.Input, k.Input)],
	}
	products.Gemm(work.Loop(st), &call)
	r.begin()
	loop, ways := work.Loop(st), k.Directions
	if k.blocks == 1 {
		wholeJob.Run(loop, k.workers, ways*work.CeilDiv(k.Batch, k.items), r)
	} else {
		for r.step = range k.Steps {
			for r.phase = range k.phases {
				stepJob.Run(loop, k.workers, ways*k.blocks, r)
			}
		}
	}
	if k.program != nil {
		k.program.Launch(loop, out[0], in, out[0])
	}
	return nil
}

// length returns the places of a sequence.
func (r *run) length(item int) int {
	switch {
	case !r.counted:
		return r.Steps
	case r.long:
		return int(numeric.View[int64](r.lengths)[item])
	}
	return int(numeric.View[int32](r.lengths)[item])
}

func (r *run) check() error {
	for b := range r.Batch {
		if n := r.length(b); n < 0 || n > r.Steps {
			return fmt.Errorf("sequence %d has %d places, and there are 0 to %d", b, n, r.Steps)
		}
	}
	return nil
}

// begin sets states and cells to the first ones, and what lies behind the ends of sequences to 0.
func (r *run) begin() {
	h := r.Hidden
	for d := range r.Directions {
		for b := range r.Batch {
			row := r.State(d, b) * h
			begin(r.stateOf(d, 0, b), r.first, row)
			begin(r.cellOf(d, b), r.firstCell, row)
			n := r.length(b)
			for t := n; t < r.Steps; t++ {
				clear(r.y[r.Y(t, d, b)*h:][:h])
			}
			if n > 0 {
				continue
			}
			for _, last := range [][]float32{r.last, r.lastOf} {
				if last != nil {
					clear(last[row:][:h])
				}
			}
		}
	}
}

func begin(dst, src []float32, at int) {
	if src == nil {
		clear(dst)
		return
	}
	copy(dst, src[at:])
}

// stateOf returns the state of an item that steps of one parity read, cellOf its cell, sumOf a gate's sums.
func (r *run) stateOf(direction, parity, item int) []float32 {
	return r.ws[r.at.state+(2*direction+parity)*r.at.states+item*r.pitch:][:r.Hidden]
}

func (r *run) cellOf(direction, item int) []float32 {
	return r.ws[r.at.cell+direction*r.at.states+item*r.pitch:][:r.Hidden]
}

func (r *run) sumOf(direction, item, gate int) []float32 {
	return r.ws[r.at.sums+(direction*r.Batch+item)*r.at.item+gate*r.pitch:][:r.Hidden]
}

// unit is a part of a step: columns of the state of some items, in one direction.
type unit struct {
	direction, step, phase int
	item, items            int
	column, columns        int
}

// whole goes through the sequences of some items in one direction.
func (r *run) whole(n, _ int) {
	u := unit{direction: n % r.Directions, item: n / r.Directions * r.items, columns: r.Hidden}
	u.items = min(r.items, r.Batch-u.item)
	for u.step = range r.Steps {
		for u.phase = range r.phases {
			r.do(&u)
		}
	}
}

// stepUnit makes a part of a step.
func (r *run) stepUnit(n, _ int) {
	u := unit{direction: n % r.Directions, step: r.step, phase: r.phase, items: r.Batch, column: n / r.Directions * r.units}
	u.columns = min(r.units, r.Hidden-u.column)
	r.do(&u)
}

// do makes a part of a step: products, then the gates of each item.
func (r *run) do(u *unit) {
	switch {
	case r.phases == 1:
		r.multiply(u, r.ws[r.at.state+(2*u.direction+u.step%2)*r.at.states:], 0, r.Gates)
	case u.phase == 0:
		r.multiply(u, r.ws[r.at.state+(2*u.direction+u.step%2)*r.at.states:], 0, r.Gates-1)
	default:
		r.multiply(u, r.ws[r.at.parts+u.direction*r.at.states:], r.Gates-1, r.Gates)
	}
	for b := u.item; b < u.item+u.items; b++ {
		if u.step >= r.length(b) {
			continue
		}
		switch r.Gates {
		case 4:
			r.lstm(u, b)
		case 3:
			r.gru(u, b)
		default:
			r.rnn(u, b)
		}
	}
}

// joined reports whether the product with the state begins with what the input has for a gate: where all items are at one place,
// and the reset gate does not come between.
func (r *run) joined(gate int) bool { return !r.counted && !(r.attrs.ResetAfter && gate == 2) }

// inputOf returns what the input has for a gate of an item at a unit's step.
func (r *run) inputOf(u *unit, item, gate int) []float32 {
	row := r.X(r.Place(u.direction, u.step, r.length(item)), item) * r.Directions * r.Gates * r.Hidden
	return r.ws[r.at.input+row+(u.direction*r.Gates+gate)*r.Hidden:]
}

// multiply multiplies the states of a unit's items, or what was made of them, by the weights of some gates.
func (r *run) multiply(u *unit, states []float32, from, to int) {
	for g := from; g < to; g++ {
		call := products.GemmF32Call{
			M: u.items, A: states[u.item*r.pitch:], AStride: r.pitch, B: r.weights.state[u.direction][g],
			Out: r.ws[r.at.sums+(u.direction*r.Batch+u.item)*r.at.item+g*r.pitch:], OutStride: r.at.item, Limits: programs.NoLimits(),
		}
		if r.joined(g) {
			call.Residual, call.ResidualStride = r.inputOf(u, u.item, g), r.X(0, 1)*r.Directions*r.Gates*r.Hidden
		}
		call.Columns(u.column, u.columns)
	}
}
