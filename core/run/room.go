package run

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Sized is implemented by backends whose device has memory of its own.
type Sized interface {
	// MemoryInfo returns how many bytes of the device's memory are free, and how many there are.
	MemoryInfo() (free, total int64, err error)
}

// NoRoom is the error of an engine that needs more memory than its device has free. Nothing was allocated.
type NoRoom struct {
	Backend, Device string
	Free, Total     int64  // bytes of the device
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
	s := fmt.Sprintf("%s needs %s (%s), and %s (%s) has %s of %s free; layer %s takes most, %s",
		who, Bytes(e.Need()), strings.Join(parts, "; "), e.Backend, e.Device, Bytes(e.Free), Bytes(e.Total), e.Layer, Bytes(e.LayerBytes))
	var advice []string
	if e.Batch {
		advice = append(advice, "choose a smaller batch")
	}
	if e.F32 {
		advice = append(advice, "choose fp16")
	}
	if e.Need() <= e.Total {
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

// unpacked stands for constants whose size is not known before their kernels are bound.
const unpacked = -1

// hasRoom returns a *NoRoom where the device has less memory free than one context of the plan and constants of so many
// bytes take.
func (p *Plan) hasRoom(b Backend, constants int64) error {
	free, total, err := memoryOf(b)
	if total == 0 || err != nil {
		return err
	}
	e := &NoRoom{
		Backend: b.Info().Name, Device: b.Info().Device, Free: free, Total: total,
		Weights: max(constants, 0), Arena: int64(p.Memory.Peak), Workspace: int64(p.Memory.Workspace), IO: int64(p.Memory.IO),
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

// memoryOf returns what memory a backend's device has free, and in all; 0 and 0 where it uses the host's.
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

// describe finds the layer that takes most, and what would take less.
func (e *NoRoom) describe(p *Plan) {
	for _, s := range p.Steps {
		if n := stepBytes(p, s, e.Weights > 0); n > e.LayerBytes {
			e.Layer, e.LayerBytes = s.Name, n
		}
	}
	env := p.Env()
	for _, t := range p.Network.Inputs {
		if len(t.Dims) > 1 {
			_, fixed := t.Dims[0].IsConst()
			e.Batch = e.Batch || !fixed && t.Dims[0].Eval(env) > 1
		}
	}
	for _, s := range p.Slots {
		e.F32 = e.F32 || s.Tensor != nil && s.Desc.Type == graph.F32 && s.Region == Arena
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

// workspaceRoom returns how many bytes a workspace may have at most: what is free on the device, less the network's
// constants; 0 for any number.
func (c *chooser) workspaceRoom() (int64, error) {
	free, total, err := memoryOf(c.backend)
	if total == 0 || err != nil {
		return 0, err
	}
	for _, t := range c.network.Consts() {
		free -= int64(len(t.Weights))
	}
	return max(free, 1), nil
}
