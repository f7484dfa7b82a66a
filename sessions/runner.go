package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Runner makes reports on demand, one call at a time: what a command needs, where a Session is what a screen needs.
// Calls share the stages' results, so that a second configuration repeats only what it changes.
type Runner struct{ stages *stages.Stages }

// NewRunner returns a runner; progress, if not nil, is told what is being done.
func NewRunner(m *model.Model, w stages.Workplace, progress func(report.Progress)) *Runner {
	s := stages.New(m, w, w.Told(forecasting(progress)))
	s.Told.Log.Opened(m)
	return &Runner{s}
}

// Report makes the wanted parts of a snapshot for a configuration. Timings are measured as p says. With an error the
// snapshot has what was made before it.
func (r *Runner) Report(ctx context.Context, cfg config.Config, parts report.Parts, p run.Profiling) (snap *report.Snapshot, err error) {
	err = r.surviving(ctx, cfg, func() error {
		snap, err = r.report(ctx, cfg, parts, p)
		return err
	})
	return snap, err
}

// Close gives up the engines that are loaded, which take memory of the device. Another call loads what it needs anew.
func (r *Runner) Close() { r.stages.Release() }

// Quantised returns the network of a configuration in INT8 as Quantize and Dequantize layers around real numbers say it: what any
// runtime computes that knows them. Zero points are those of unsigned bytes, which all compute alike (quant.Unsigned), and no
// concatenation is quantised twice in front of a clamp (quant.Unrepeated).
func (r *Runner) Quantised(ctx context.Context, cfg config.Config) (*graph.Network, error) {
	l, err := r.stages.Precisions.Lower(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if l.Quantised == nil {
		return nil, fmt.Errorf("%s is not quantised: its precision is %s", r.stages.NameOf(cfg), cfg.Precision)
	}
	if list := readRows(l.Quantised); len(list) > 0 {
		r.stages.Told.Warn(fmt.Sprintf("ONNX has no product of rows with ranges of their own: what is written rounds rows by nodes in front of products of real numbers, "+
			"which is as accurate and no faster; for products of bytes in other runtimes, choose activations by one range. That is so of %s: %s",
			config.CountOf(len(list), "layer", "layers"), firstNames(list)))
	}
	n := l.Quantised.Clone()
	quant.Unrepeated(n)
	return n, quant.Unsigned(n)
}

// mostNames is how many names a sentence has at most.
const mostNames = 8

func firstNames(list []string) string {
	if more := len(list) - mostNames; more > 0 {
		list = append(slices.Clone(list[:mostNames]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// readRows returns the names of layers that read rows of which each has a range of its own.
func readRows(n *graph.Network) (list []string) {
	for _, l := range n.Layers {
		if p := l.Input(0); p != nil && p.Producer != nil && p.Producer.Op == graph.RoundRows {
			list = append(list, l.Name)
		}
	}
	return list
}

// surviving does work again where the device was lost.
func (r *Runner) surviving(ctx context.Context, cfg config.Config, work func() error) error {
	warn := func(text string) {
		r.stages.Told.Progress(report.Progress{Phase: "device lost", Item: text})
		r.stages.Told.Warn(text)
	}
	return r.stages.Surviving(ctx, cfg, warn, work)
}

func (r *Runner) report(ctx context.Context, cfg config.Config, parts report.Parts, p run.Profiling) (*report.Snapshot, error) {
	s, begin := r.stages, time.Now()
	snap := &report.Snapshot{Schema: report.Schema, Config: cfg, Device: describe.Device(s.Device.Backend)}
	var err error
	snap.Model, err = s.LookAt(cfg)
	if parts == report.PartModel && errors.As(err, new(*model.UnboundShapes)) { // a look at the model needs no shapes
		snap.Model, err = s.Described(nil), nil
	}
	if err != nil {
		return snap, err
	}
	if parts.Has(report.PartCalibration) {
		if snap.Calibration, err = s.Survey.Of(ctx, cfg); err != nil {
			return snap, err
		}
	}
	if parts.Has(report.PartPasses) {
		o, err := s.Passes.Optimize(ctx, cfg)
		if err != nil {
			return snap, err
		}
		l := describe.UnloweredNetwork(o)
		if s.Model.Refused == nil {
			if l, err = s.Precisions.Lower(ctx, cfg); err != nil {
				return snap, err
			}
		}
		if snap.Passes, err = s.Rewritten(cfg, o, l); err != nil {
			return snap, err
		}
	}
	if parts&^(report.PartModel|report.PartPasses|report.PartCalibration) == 0 { // the others need a plan
		return snap, nil
	}
	plan, err := s.Tuning.Plan(ctx, cfg)
	if err != nil {
		return snap, err
	}
	snap.Tactics, snap.Memory = s.Tuning.Report(cfg, s.Place.CacheError, plan), describe.Memory(plan)
	if parts.Has(report.PartTimings) || parts.Has(report.PartOverview) || parts.Has(report.PartRuntime) {
		loaded, err := s.Engines.Load(ctx, cfg)
		if err != nil {
			return snap, err
		}
		s.Device.WarnOfSimulation(plan)
		built := time.Since(begin)
		if snap.Timings, err = s.Timing.Time(ctx, loaded, describe.NewTimes(plan, model.BatchOf(plan)), p); err != nil {
			return snap, err
		}
		snap.Overview = s.SumUp(cfg, plan, snap.Timings)
		snap.Overview.BuildTime = built
		if parts.Has(report.PartRuntime) {
			if snap.Runtime, err = s.Sweeps.Whole(ctx, cfg, loaded, snap.Timings.EndToEnd); err != nil {
				return snap, err
			}
		}
	}
	if m, ok := s.Device.Backend.(run.Monitor); ok && parts.Has(report.PartTimings|report.PartOverview) {
		snap.Telemetry, _ = telemetry(m) // what cannot be told is left out
	}
	if parts.Has(report.PartAccuracy | report.PartScore) {
		perLayer := parts.Has(report.PartAccuracy)
		if s.Model.Stripped && parts&^(report.PartAccuracy|report.PartScore) != 0 { // what can be had
			if perLayer = false; s.Accuracy.Possible(perLayer) != nil {
				return snap, nil
			}
		}
		snap.Accuracy, err = s.Accuracy.Of(ctx, cfg, perLayer)
	}
	return snap, err
}

// RandomCalibration says that ranges of a configuration come from random input, where they do; else "". Who writes them to a file
// warns of it.
func RandomCalibration(r *Runner, cfg config.Config) string {
	if !r.stages.Orders.Stored.RandomCalibration(cfg) {
		return ""
	}
	return report.RandomCalibration + ": no data was given, so ranges come from random input and say nothing about real inputs"
}

// Judgeable returns why the accuracy of the model cannot be had, of its layers too where that is asked for; nil where it can.
func Judgeable(r *Runner, perLayer bool) error { return r.stages.Accuracy.Possible(perLayer) }

// Sensitivity finds what each layer in 8 bits takes from the outputs of a configuration, and what raising it to a precision wins
// and costs. each is told of what is known so far, also where the work ends early.
func (r *Runner) Sensitivity(ctx context.Context, cfg config.Config, to config.Precision, each func(*report.Sensitivity)) (s *report.Sensitivity, err error) {
	err = r.surviving(ctx, cfg, func() error {
		s, err = r.stages.Sensitivity.Of(ctx, cfg, to, each)
		return err
	})
	return s, err
}

// Tune searches for the precision and range of each layer that meet a goal, from a configuration in INT8 on. The report has what is
// known, also where the work ends early with an error.
func (r *Runner) Tune(ctx context.Context, cfg config.Config, how stages.Tuning) (s *report.Search, err error) {
	err = r.surviving(ctx, cfg, func() error {
		s, err = r.stages.Search.Of(ctx, cfg, how)
		return err
	})
	return s, err
}

// Identity identifies the engine of a configuration before it is planned: two configurations that give the same network, to
// the bit, with the same tactics asked for have one engine. Why their precision changes nothing is said where that is so.
func (r *Runner) Identity(ctx context.Context, cfg config.Config) (id, unchanged string, err error) {
	id, err = r.stages.Tuning.Identity(ctx, cfg)
	if err != nil {
		return "", "", err
	}
	return id, r.stages.Precisions.UnchangedBy(cfg), nil
}

// Head returns the head of documents on a configuration, nil for several of them.
func (r *Runner) Head(cfg *config.Config) report.Head {
	s := r.stages
	device := describe.Device(s.Device.Backend)
	h := report.Head{Model: s.Model.Head().Model, Device: &device, Config: cfg}
	if data := s.Place.Data; data != nil {
		h.Data = &report.DataHead{Name: data.Name(), Random: data.Random(), Items: data.Len()}
		h.Data.Images = dataset.Brought(data)
		h.Data.Labelled = data.Labels(0) != nil
		h.Data.CalItems, h.Data.Shared = s.Calibration.Items(), s.Calibration.Shared()
	}
	return h
}
