package panetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Timeline is a replay of four states, the last of which is shown at first.
type Timeline struct {
	At      int
	Cut     bool
	Follows bool // it is being written
}

func (l *Timeline) Steps() []report.Step {
	start := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	return []report.Step{
		{Time: start, Config: config.Config{Precision: config.FP32}},
		{Time: start.Add(time.Second), After: time.Second, Config: config.Config{Precision: config.FP32}, Settled: true},
		{Time: start.Add(2 * time.Second), After: 2 * time.Second, Config: config.Config{Precision: config.INT8, Calibrator: "mse"}},
		{Time: start.Add(4 * time.Second), After: 4 * time.Second, Config: config.Config{Precision: config.INT8, Calibrator: "mse"}, Settled: true},
	}
}

func (l *Timeline) Position() int { return l.At }

func (l *Timeline) Seek(i int) { l.At = i }

func (l *Timeline) CutShort() bool { return l.Cut }

func (l *Timeline) Writing() bool { return l.Follows }

func (l *Timeline) Tried() []report.RecordedConfig { return nil }

func (l *Timeline) Moment(i int) report.Moment {
	steps := l.Steps()
	return report.Moment{State: i + 1, States: len(steps), After: steps[i].Time.Sub(steps[0].Time), Time: steps[i].Time}
}

// Film is a replay of 24 states, one every half second: FP32 first, then INT8; every third has all reports.
type Film struct {
	Timeline
	Snap *report.Snapshot
}

func (l *Film) Steps() []report.Step {
	steps := make([]report.Step, 24)
	for i := range steps {
		cfg := config.Config{Precision: config.FP32}
		if i >= 12 {
			cfg = config.Config{Precision: config.INT8, Calibrator: "mse"}
		}
		steps[i] = report.Step{Time: l.Moment(i).Time, After: l.Moment(i).After, Config: cfg, Settled: i%3 == 2}
	}
	return steps
}

func (l *Film) Moment(i int) report.Moment {
	after := time.Duration(i) * 500 * time.Millisecond
	return report.Moment{State: i + 1, States: 24, After: after, Time: time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC).Add(after)}
}

// State returns the snapshot of the state that is shown.
func (l *Film) State() *report.Snapshot {
	c, step, at := *l.Snap, l.Steps()[l.At], l.Moment(l.At)
	c.Replay, c.At, c.Config = "session.trtui", &at, step.Config
	if !step.Settled {
		c.Stale, c.Busy = report.PartAccuracy, &report.Progress{Phase: "timing", Item: "conv1"}
	}
	return &c
}

// Repeated returns the fixture with a network of a stem, 5 blocks of 4 layers and a head, its engine and its times.
func Repeated(t *testing.T) *report.Snapshot {
	snap := *Fixture(t)
	passes, timings := *snap.Passes, *snap.Timings
	var layers []report.Layer
	add := func(name, op string) {
		layers = append(layers, report.Layer{Name: name, Op: op, Precision: "f32", From: []string{name}, Outputs: []report.Tensor{{Type: "f32", Dims: "[1,8]"}}})
	}
	add("stem", "Conv")
	for i := range 5 {
		for _, op := range []string{"MatMul", "Attention", "MatMul", "LayerNorm"} {
			add(fmt.Sprintf("block.%d/%s%d", i, op, len(layers)), op)
		}
	}
	add("head", "Gemm")
	passes.Source, passes.Engine, passes.Ledger, timings.Layers = layers, layers, nil, nil
	for _, l := range layers {
		passes.Ledger = append(passes.Ledger, report.LedgerEntry{Layer: l.Name, Op: l.Op, Fate: "kept", Into: l.Name})
		timings.Layers = append(timings.Layers, report.LayerTiming{Name: l.Name, Latency: report.Latency{Median: time.Millisecond}, Share: 1. / float64(len(layers))})
	}
	snap.Passes, snap.Timings = &passes, &timings
	return &snap
}

// Split is what was measured of the lengths of Served, with two profiles that serve them better.
func Split(of config.Config) *report.Split {
	s := &report.Split{Base: of, Axis: "length", Min: 1, Opt: 128, Max: 512, Elsewhere: []report.TunedAt{{At: 1, Differ: 3}, {At: 512}}}
	f := &report.FoundSplit{Profiles: [2]report.SplitProfile{{Min: 33, Opt: 128, Max: 512}, {Min: 1, Opt: 1, Max: 32}}, OtherTactics: 3, RepackedBytes: 1 << 20, MemoryBytes: 3 << 20, Config: of.Clone()}
	for n := 1; n <= 512; n *= 2 {
		median := time.Duration(2*n) * 10 * time.Microsecond
		speed := report.NewSpeed(0.9, 0.88, 0.92, true)
		if n <= 32 {
			speed = report.NewSpeed(1.25, 1.22, 1.28, true)
			f.Values, f.Speeds, f.Medians = append(f.Values, n), append(f.Speeds, speed), append(f.Medians, median*4/5)
		}
		s.Values, s.Medians = append(s.Values, n), append(s.Medians, median)
		s.Elsewhere[0].Speeds = append(s.Elsewhere[0].Speeds, speed)
	}
	at := func(length int) map[string][]int { return map[string][]int{"ids": {2, length}, "mask": {2, length}} }
	f.Config.Shapes, f.Config.MinShapes, f.Config.MaxShapes = at(128), at(33), at(512)
	f.Config.Profiles = []config.Profile{{Shapes: at(1), MinShapes: at(1), MaxShapes: at(32)}}
	s.Found = f
	return s
}

// Served is what an engine does that serves batches and lengths of text.
func Served() *report.Runtime {
	shape := func(batch, length int) map[string][]int {
		return map[string][]int{"ids": {batch, length}, "mask": {batch, length}}
	}
	point := func(batch, length int) report.SweepPoint {
		l := report.Latency{Count: 40, Median: time.Duration(batch*length) * 10 * time.Microsecond}
		l.Mean, l.P99 = l.Median*21/20, l.Median*5/4
		return report.SweepPoint{Values: []int{length}, Shapes: shape(batch, length), Batch: batch, Latency: l,
			Throughput: l.Rate(batch), MemoryBytes: batch * length << 10, HeldBytes: 8 * 512 << 10}
	}
	both := func(axis int) []report.RuntimePlace {
		return []report.RuntimePlace{{Input: "ids", Axis: axis}, {Input: "mask", Axis: axis}}
	}
	r := &report.Runtime{ArenaBytes: 8 * 511 << 10, IOBytes: 8 << 10, Axes: []report.RuntimeAxis{
		{Symbol: "batch", Places: both(0), Min: 1, Opt: 2, Max: 8, Batch: true}, {Symbol: "length", Places: both(1), Min: 1, Opt: 128, Max: 512},
	}, Points: []report.SweepPoint{point(1, 1), point(2, 128), point(8, 512)}}
	for n := 1; n <= 512; n *= 2 {
		r.Axes[1].Curve = append(r.Axes[1].Curve, point(2, n))
	}
	for n := 1; n <= 8; n++ {
		p := point(n, 128)
		p.Values, p.Latency.Median = []int{n}, time.Duration(128*(n+2)*5)*time.Microsecond
		p.Throughput = p.Latency.Rate(n)
		r.Axes[0].Curve = append(r.Axes[0].Curve, p)
	}
	r.Grids = []report.Sweep{{Axes: []report.SweepAxis{{Name: "batch", Values: []int{1, 2, 4, 8}, Items: true}, {Name: "length", Values: []int{1, 4, 16, 64, 256, 512}}}}}
	for _, n := range r.Grids[0].Axes[0].Values {
		for _, length := range r.Grids[0].Axes[1].Values {
			p := point(n, length)
			p.Values, p.Latency.Median = []int{n, length}, time.Duration(length*(n+2)*5)*time.Microsecond
			p.Throughput = p.Latency.Rate(n)
			r.Grids[0].Points = append(r.Grids[0].Points, p)
		}
	}
	for i, rate := range []float64{400, 760, 790, 770} {
		p := point(2, 128)
		p.Contexts, p.Threads, p.Throughput = i+1, 1, rate
		p.Latency.Median = time.Duration(float64(p.Latency.Median) * []float64{1, 1.05, 1.6, 2.1}[i])
		r.Contexts = append(r.Contexts, p)
	}
	return r
}
