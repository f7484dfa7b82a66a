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
)

// Hunt is the hunt with a device that fails.
var Hunt = torture.Hunt{
	Name: "faults", Doc: "networks calibrated, built, run and profiled on a device of which calls fail",
	Share: 2, Sample: 150, Limit: time.Minute, Memory: 3 << 30, Start: start,
}

type hunter struct {
	host  run.Backend
	count map[string]int
}

func start(torture.Place) (*torture.Worker, error) {
	host := cpu.Open(2)
	h := &hunter{host, map[string]int{}}
	return &torture.Worker{Try: h.try, Count: func() map[string]int { return h.count }, Close: func() { host.Close() }}, nil
}

// try takes one network through one schedule of faults: from a model to results, as a screen does it, or as a command.
func (h *hunter) try(ctx context.Context, seed uint64) (found []torture.Finding) {
	rnd := rand.New(rand.NewPCG(seed, 42))
	s := draw(rnd)
	d := newDevice(h.host, s, seed)
	var m *networks.Model
	var what, text, stage string
	if rnd.IntN(2) == 0 {
		t := &trip{ctx: ctx, host: h.host, device: d, model: networks.Generate(seed), precision: []numeric.DataType{numeric.F32, numeric.F16, numeric.I8}[rnd.IntN(3)]}
		if rnd.IntN(2) == 0 {
			t.model = networks.Convolutions(seed) // whose layers have several tactics and arrangements
		}
		m = t.model
		what, text = guarded(t.all, t.wrong)
		stage = t.precision.String() + ", " + t.stage
	} else {
		v := &visit{ctx: ctx, host: h.host, device: d, model: networks.Convolutions(seed), rnd: rnd}
		m = v.model
		if rnd.IntN(2) == 0 {
			what, text = guarded(v.screen, func(err error) string { return v.wrong(err, true) })
		} else {
			what, text = guarded(v.command, func(err error) string { return v.wrong(err, false) })
		}
		stage = v.stage
	}
	if ctx.Err() != nil {
		return nil
	}
	h.count["calls that failed"] += d.failed
	if d.failed > 0 {
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
