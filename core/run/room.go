package run

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// Sized is implemented by backends that know how much memory there is.
type Sized interface {
	// MemoryInfo returns how many bytes of the device's memory are free, and how many there are; 0 and 0 where that is not known.
	// Where a limit was set it counts as what there is.
	MemoryInfo() (free, total int64, err error)
}

// Limited is implemented by backends that can be kept to less memory than there is.
type Limited interface {
	// LimitMemory sets how many bytes may be taken; 0 for all that are free.
	LimitMemory(bytes int64)
	MemoryLimit() int64
}

// MemoryLimit returns how many bytes may be taken of a backend's memory; 0 for all that are free.
func MemoryLimit(b Backend) int64 {
	if l, ok := b.(Limited); ok {
		return l.MemoryLimit()
	}
	return 0
}

// NoRoom is the error of an engine that needs more memory than its device has free, or than it may take. Nothing was
// allocated.
type NoRoom struct {
	Backend, Device string
	Free, Total     int64  // bytes of the device
	Limit           int64  // bytes that may be taken of them; 0 for all
	Weights         int64  // bytes that the engine would take: constants,
	Arena           int64  // activations and workspace,
	Workspace       int64  // of that the workspace of the step that has most,
	IO              int64  // and inputs and outputs
	Layer           string // whose tensors, workspace and constants take most
	LayerBytes      int64
	Batch           bool // the batch can be smaller
	F32             bool // tensors or weights are in F32, which F16 halves
}

// Need returns how many bytes the engine takes.
func (e *NoRoom) Need() int64 { return e.Weights + e.Arena + e.IO }

// Error tells what is needed for what, what there is, and what to do.
func (e *NoRoom) Error() string {
	var parts []string
	part := func(what string, n int64) {
		if n > 0 {
			parts = append(parts, what+" "+Bytes(n))
		}
	}
	part("weights", e.Weights)
	part("arena", e.Arena)
	if e.Workspace > 0 && e.Arena > 0 {
		parts[len(parts)-1] += ", of that workspace " + Bytes(e.Workspace)
	}
	part("inputs and outputs", e.IO)
	who := "the engine"
	if e.Weights == 0 {
		who = "a context of the engine"
	}
	have := fmt.Sprintf("%s (%s) has %s of %s free", e.Backend, e.Device, Bytes(e.Free), Bytes(e.Total))
	if e.Limit > 0 {
		have = fmt.Sprintf("of the limit of %s on %s %s are left", Bytes(e.Limit), e.Backend, Bytes(e.Free))
	}
	s := fmt.Sprintf("%s needs %s (%s), and %s; layer %s takes most, %s", who, Bytes(e.Need()), strings.Join(parts, "; "), have, e.Layer, Bytes(e.LayerBytes))
	var advice []string
	if e.Batch {
		advice = append(advice, "choose a smaller batch")
	}
	if e.F32 {
		advice = append(advice, "choose fp16")
	}
	switch {
	case e.Limit > 0:
		advice = append(advice, "raise the limit")
	case e.Need() <= e.Total:
		advice = append(advice, "end what else uses the device")
	}
	if len(advice) == 0 {
		advice = []string{"choose smaller inputs, or a device with more memory"}
	}
	return s + "; " + strings.Join(advice, ", or ")
}

// Bytes writes a size as one reads it at a glance: "512 B", "1.5 MiB".
func Bytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	switch {
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
}

// noRoom returns the error of a backend that has not got enough; the caller says for what.
func noRoom(b Backend, free, total int64) *NoRoom {
	return &NoRoom{Backend: b.Info().Name, Device: b.Info().Device, Free: free, Total: total, Limit: MemoryLimit(b)}
}

// unpacked stands for constants whose size is not known before their kernels are bound.
const unpacked = -1

// hasRoom returns a *NoRoom where the device has less memory free than one context of the plan and constants of so many
// bytes take.
func (p *Plan) hasRoom(b Backend, constants int64) error {
	free, total, err := memoryOf(b)
	if total == 0 || err != nil {
		return err
	}
	e := noRoom(b, free, total)
	e.Weights, e.Arena, e.Workspace, e.IO = max(constants, 0), int64(p.Memory.Peak), int64(p.Memory.Workspace), int64(p.Memory.IO)
	if constants == unpacked && b.Info().Host {
		e.Weights = int64(p.Memory.Weights) // packed, they take at least as much
	}
	if e.Need() <= free {
		return nil
	}
	if constants == unpacked {
		e.Weights = int64(p.Memory.Weights)
	}
	e.describe(p)
	return e
}

// packingRoom tells while kernels are bound whether there is room for those that are not yet: packed, weights may take more than
// they did in the network.
type packingRoom struct {
	plan    *Plan
	backend Backend
	left    atomic.Int64 // bytes of the weights that are not packed
}

// newPackingRoom returns nil for devices whose constants are placed when all kernels are bound.
func newPackingRoom(p *Plan, b Backend) *packingRoom {
	if !b.Info().Host {
		return nil
	}
	r := &packingRoom{plan: p, backend: b}
	r.left.Store(int64(p.Memory.Weights))
	return r
}

// next returns a *NoRoom where there is no room for step i and those behind it.
func (r *packingRoom) next(i int) error {
	if r == nil {
		return nil
	}
	own, s := int64(0), r.plan.Steps[i]
	for j, slot := range s.In {
		if t := s.Layer.Inputs[j]; slot < 0 && t != nil {
			own += int64(len(t.Weights))
		}
	}
	if own < checkedPack {
		return nil
	}
	err := r.plan.hasRoom(r.backend, max(own, r.left.Load()))
	r.left.Add(-own)
	return err
}

// checkedPack is the size of weights from which on there is to be room for them, which takes about 50 microseconds to ask.
const checkedPack = 1 << 20

// memoryOf returns what memory a backend's device has free, and in all; 0 and 0 where that is not known.
func memoryOf(b Backend) (free, total int64, err error) {
	s, ok := b.(Sized)
	if !ok {
		return 0, 0, nil
	}
	if free, total, err = s.MemoryInfo(); err != nil {
		err = fmt.Errorf("free memory of %s: %w", b.Info().Name, err)
	}
	return free, total, err
}

// describe finds the layer of a plan that takes most, and what would take less.
func (e *NoRoom) describe(p *Plan) {
	for _, s := range p.Steps {
		if n := stepBytes(p, s, e.Weights > 0); n > e.LayerBytes {
			e.Layer, e.LayerBytes = s.Name, n
		}
	}
	e.advise(p.Network, p.Env())
}

// advise finds what would take less.
func (e *NoRoom) advise(n *graph.Network, env map[string]int) {
	for _, t := range n.Inputs {
		if len(t.Dims) > 1 {
			_, fixed := t.Dims[0].IsConst()
			e.Batch = e.Batch || !fixed && t.Dims[0].Eval(env) > 1
		}
	}
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			e.F32 = e.F32 || t.Type == numeric.F32 && !n.IsOutput(t)
		}
	}
}

// stepBytes returns the bytes of the tensors, the workspace, and with weights the constants of a step.
func stepBytes(p *Plan, s Step, weights bool) int64 {
	var n int64
	for j, slot := range s.In {
		t := s.Layer.Inputs[j]
		switch {
		case slot >= 0:
			n += int64(p.Slots[slot].Desc.Bytes())
		case t != nil && weights:
			n += int64(len(t.Weights))
		}
	}
	for _, slot := range s.Out {
		n += int64(p.Slots[slot].Desc.Bytes())
	}
	if s.Scratch >= 0 {
		n += int64(p.Slots[s.Scratch].Size)
	}
	return n
}

// constantBytes returns the bytes that the constants of bound kernels take on their device.
func constantBytes(bound []kernels.Kernel) int64 {
	n := 0
	for _, k := range bound {
		if r, ok := k.(kernels.Resident); ok {
			n += roundUp(len(r.Constants()))
		}
	}
	return int64(n)
}

// findRoom sets how many bytes the tensors and the workspace of a layer may have at most: what is free on the device, less
// the network's constants. On the host the error is a *NoRoom for a layer whose tensors alone take more.
func (c *Candidates) findRoom() error {
	free, total, err := memoryOf(c.backend)
	if total == 0 || err != nil {
		return err
	}
	constants := int64(0)
	for _, t := range c.network.Consts() {
		constants += int64(len(t.Weights))
	}
	if c.room = max(free-constants, 1); !c.backend.Info().Host {
		return nil // an engine may be built where it does not run
	}
	for _, l := range c.network.Layers {
		e := noRoom(c.backend, free, total)
		e.Layer, e.LayerBytes = l.Name, c.tensorBytes(l)
		if e.LayerBytes > c.room && l.Op.Memory != graph.Viewed {
			e.Weights, e.Arena = constants, e.LayerBytes
			e.advise(c.network, c.env)
			return e
		}
	}
	return nil
}

// tensorBytes returns the bytes of a layer's inputs and outputs, constants aside.
func (c *Candidates) tensorBytes(l *graph.Layer) int64 {
	n := int64(0)
	var seen []*graph.Tensor
	for _, t := range slices.Concat(l.Inputs, l.Outputs) {
		if t != nil && !t.IsConst() && !slices.Contains(seen, t) {
			seen = append(seen, t)
			n += int64(numeric.Count(symbolic.Eval(t.Dims, c.env)) * t.Type.Size())
		}
	}
	return n
}
