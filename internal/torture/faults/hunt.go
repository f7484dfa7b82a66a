//go:build linux

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/networks"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/kernels/cuda"
)

// Hunt is the hunt with a device that fails.
var Hunt = torture.Hunt{
	Name: "faults", Doc: "networks calibrated, built, run and profiled, and texts written, on a device or by a driver of which calls fail",
	Share: 2, Sample: 150, Limit: time.Minute, Memory: 3 << 30, Start: start,
}

type hunter struct {
	host  run.Backend
	sim   run.Backend // a simulated GPU
	count map[string]int
}

func start(torture.Place) (*torture.Worker, error) {
	sim, err := cuda.OpenSimulator()
	if err != nil {
		return nil, err
	}
	h := &hunter{cpu.Open(2), sim, map[string]int{}}
	return &torture.Worker{Try: h.try, Count: func() map[string]int { return h.count }, Close: func() {
		h.host.Close()
		h.sim.Close()
	}}, nil
}

// try takes one network through one schedule of faults: from a model to results, as a screen does it, or as a command; on the CPU
// in the role of a device, or on a simulated GPU whose driver fails.
func (h *hunter) try(ctx context.Context, seed uint64) (found []torture.Finding) {
	rnd := rand.New(rand.NewPCG(seed, 42))
	if rnd.IntN(2) == 0 {
		s := draw(rnd)
		return h.on(ctx, newDevice(h.host, s, seed), h.host, s, "", seed, rnd)
	}
	s := drawDriver(rnd)
	g, err := newGPU(s, seed)
	if err != nil {
		return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
	}
	defer g.Close()
	return h.on(ctx, g, h.sim, s, " on a GPU", seed, rnd)
}

// on tries a device that fails; sound is one of its kind that does not.
func (h *hunter) on(ctx context.Context, d faulty, sound run.Backend, s schedule, where string, seed uint64, rnd *rand.Rand) []torture.Finding {
	var m *networks.Model
	var what, text, stage string
	if rnd.IntN(2) == 0 {
		t := &trip{ctx: ctx, host: sound, device: d, model: networks.Generate(seed), precision: []numeric.DataType{numeric.F32, numeric.F16, numeric.I8}[rnd.IntN(3)]}
		if rnd.IntN(2) == 0 {
			t.model = networks.Convolutions(seed) // whose layers have several tactics and arrangements
		}
		m = t.model
		what, text = guarded(t.all, t.wrong)
		stage = t.precision.String() + ", " + t.stage
	} else {
		v := &visit{ctx: ctx, host: h.host, device: d, model: networks.Convolutions(seed), rnd: rnd}
		switch rnd.IntN(3) {
		case 0:
			what, text = guarded(v.screen, func(err error) string { return v.wrong(err, true) })
		case 1:
			what, text = guarded(v.text, func(err error) string { return v.wrong(err, true) })
		default:
			what, text = guarded(v.command, func(err error) string { return v.wrong(err, false) })
		}
		m, stage = v.model, v.stage
	}
	stage += where
	if ctx.Err() != nil {
		return nil
	}
	h.count["calls that failed"+where] += d.failures()
	if d.failures() > 0 {
		h.count["ended in "+stage]++
	}
	if what == "" {
		return nil
	}
	files := map[string][]byte{"model.onnx": m.Encode()}
	files["schedule.json"], _ = json.MarshalIndent(s, "", "\t")
	return []torture.Finding{{Kind: what + " in " + stage, Text: fmt.Sprintf("%s: %s%s", s, text, d.left()), Files: files, Command: "the command below"}}
}

// guarded does something and judges how it ended; a panic is wrong.
func guarded(do func() error, wrong func(error) string) (what, text string) {
	defer func() {
		if p := recover(); p != nil {
			what, text = fmt.Sprintf("a panic: %v", p), string(debug.Stack())
		}
	}()
	err := do()
	return wrong(err), fmt.Sprint(err)
}
