package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/host"
)

// Eval computes the network's outputs, by name, from its inputs, by name. Tap, if not nil, is given every layer's outputs as
// they are computed; its error ends the evaluation, as ctx does between layers. What takes more memory than the machine has
// free is refused with a [*NoMemory]. It is the reference for everything that runs networks faster.
func (n *Network) Eval(ctx context.Context, inputs map[string]numeric.Value, tap func(l *Layer, out []numeric.Value) error) (map[string]numeric.Value, error) {
	return n.EvalWithin(ctx, 0, inputs, tap)
}

// EvalWithin is [Network.Eval] that takes no more than a number of bytes for what layers give; 0 for what is free.
func (n *Network) EvalWithin(ctx context.Context, limit int64, inputs map[string]numeric.Value, tap func(l *Layer, out []numeric.Value) error) (map[string]numeric.Value, error) {
	env, err := n.Bind(inputs)
	if err != nil {
		return nil, err
	}
	if err := n.CheckShapes(env); err != nil {
		return nil, err
	}
	if err := n.checkMemory(env, limit); err != nil {
		return nil, err
	}
	e := &evaluation{network: n, until: ctx, env: env, values: map[*Tensor]numeric.Value{}, uses: map[*Tensor]int{}}
	for _, t := range n.Inputs {
		e.values[t] = inputs[t.Name]
	}
	for _, l := range n.Layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := e.layer(l)
		if err != nil {
			return nil, err
		}
		if tap != nil {
			if err := tap(l, out); err != nil {
				return nil, err
			}
		}
		for _, t := range e.spent(l) {
			delete(e.values, t)
		}
	}
	outputs := map[string]numeric.Value{}
	for _, t := range n.Outputs {
		outputs[t.Name] = e.value(t)
	}
	return outputs, nil
}

// evaluation is the values that are still needed while a network is evaluated.
type evaluation struct {
	network *Network
	until   context.Context // that ends it within layers that have bodies, too; nil for none
	env     map[string]int
	values  map[*Tensor]numeric.Value
	uses    map[*Tensor]int
	counts  bool // extents were counted: what follows may not fit
}

func (e *evaluation) value(t *Tensor) numeric.Value {
	if v, ok := t.Const(); ok {
		return v
	}
	return e.values[t]
}

// layer computes one layer's outputs.
func (e *evaluation) layer(l *Layer) ([]numeric.Value, error) {
	in, out := make([]numeric.Value, len(l.Inputs)), make([]numeric.Value, len(l.Outputs))
	for i, t := range l.Inputs {
		if t != nil {
			in[i] = e.value(t)
		}
	}
	if e.counts {
		if err := l.CheckShapes(e.env); err != nil {
			return nil, err
		}
	}
	for i, t := range l.Outputs {
		var err error
		if out[i], err = allocate(t, e.env); err != nil {
			return nil, fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, err)
		}
	}
	if e.until != nil && len(l.Bodies()) > 0 {
		until := *l
		until.until = e.until
		l = &until
	}
	if err := l.Eval(in, out); err != nil {
		return nil, err
	}
	if l.Counts() {
		if err := e.count(l, out); err != nil {
			return nil, err
		}
	}
	for i, t := range l.Outputs {
		e.values[t] = out[i]
	}
	return out, nil
}

// count sets extents to what was counted: of the outputs, and of all that follows.
func (e *evaluation) count(l *Layer, out []numeric.Value) (err error) {
	e.counts = true
	if e.env, err = e.network.Recounted(l, e.env, func(i int) (numeric.Value, error) { return out[i], nil }); err != nil {
		return err
	}
	for i, t := range l.Outputs {
		out[i] = out[i].First(symbolic.Eval(t.Dims, e.env))
	}
	return nil
}

// spent counts a layer's uses of its inputs, and returns those that no other layer needs.
func (e *evaluation) spent(l *Layer) []*Tensor {
	var list []*Tensor
	for _, t := range l.Inputs {
		if t == nil || e.network.IsOutput(t) {
			continue
		}
		if e.uses[t]++; e.uses[t] == len(t.Users) {
			list = append(list, t)
		}
	}
	return list
}

// NoMemory is the error of a network whose evaluation needs more memory than there is, or than may be taken. Nothing was
// computed.
type NoMemory struct {
	Layer, Op string // at which it needs most
	Need      int64  // bytes, of what is alive then and what the layer itself takes
	Own       int64  // of these the layer's own: its inputs and outputs as numbers of 64 bits
	Limit     int64  // bytes that may be taken yet
	Given     bool   // a limit leaves them; otherwise they are what is free
}

func (e *NoMemory) Error() string {
	const mib = 1 << 20
	limit, advice := "are free", "choose a smaller batch or smaller shapes"
	if e.Given {
		limit, advice = "are what the limit leaves", advice+", or raise the limit"
	}
	return fmt.Sprintf("layer %s (%s): evaluating the network takes %d MiB there, %d MiB of them for this layer, and %d MiB %s; %s",
		e.Layer, e.Op, e.Need/mib, e.Own/mib, e.Limit/mib, limit, advice)
}

// evalWorkBytes is what an op's Eval takes for an element that it reads or writes: many compute in float64 or int64.
const evalWorkBytes = 8

// checkMemory returns a [*NoMemory] where evaluating the network takes more than a number of bytes; 0 for what is free.
func (n *Network) checkMemory(env map[string]int, limit int64) error {
	most := n.evalMemory(env)
	if most.Need < 1<<20 {
		return nil
	}
	free, _, known := host.Memory()
	switch {
	case known && (limit <= 0 || free < limit):
		most.Limit, most.Given = free, host.MemoryLimit() > 0
	case limit > 0:
		most.Limit, most.Given = limit, true
	default:
		return nil
	}
	if most.Need <= most.Limit {
		return nil
	}
	return &most
}

// evalMemory finds the layer at which an evaluation takes most memory. The inputs and constants are the caller's.
func (n *Network) evalMemory(env map[string]int) NoMemory {
	elements := func(t *Tensor) int64 {
		if t == nil || t.IsConst() {
			return 0
		}
		return int64(numeric.Count(symbolic.Eval(t.Dims, env)))
	}
	e := &evaluation{network: n, uses: map[*Tensor]int{}}
	alive, most := int64(0), NoMemory{}
	for _, l := range n.Layers {
		own := int64(0)
		for _, t := range slices.Concat(l.Inputs, l.Outputs) {
			own += evalWorkBytes * elements(t)
		}
		own += l.bodyMemory(env)
		for _, t := range l.Outputs {
			alive += elements(t) * int64(t.Type.Size())
		}
		if alive+own > most.Need {
			most = NoMemory{Layer: l.Name, Op: l.Op.Name, Need: alive + own, Own: own}
		}
		for _, t := range e.spent(l) {
			if t.Producer != nil {
				alive -= elements(t) * int64(t.Type.Size())
			}
		}
	}
	return most
}

// maxEvalBytes bounds one tensor of a network that is evaluated.
const maxEvalBytes = 2 << 30

// allocate returns a zero value for t with the dims that it has for the symbols in env.
func allocate(t *Tensor, env map[string]int) (numeric.Value, error) {
	dims := symbolic.Eval(t.Dims, env)
	size := t.Type.Size()
	for i, d := range dims {
		if d < 0 {
			return numeric.Value{}, fmt.Errorf("output %s has extent %d on axis %d for these inputs", t, d, i)
		}
		if d > 0 && size > maxEvalBytes/d {
			return numeric.Value{}, fmt.Errorf("output %s with shape %v needs more than %d bytes", t, dims, maxEvalBytes)
		}
		size *= max(1, d)
	}
	return numeric.NewValue(t.Type, dims...), nil
}
