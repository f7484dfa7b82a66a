package networks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/reduce"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/kernels/cuda"
)

// Failure is what is wrong. Kind is the same for all models on which the same thing is wrong, as far as that can be told.
type Failure struct{ Kind, Text string }

func (f *Failure) Error() string { return f.Kind + ": " + f.Text }

// Bench is what checks are made with: opened backends, and onnxruntime where there is one.
type Bench struct {
	Oracle  *Oracle // nil: none
	Planted string  // a defect that is planted, see planted.go
	// Contexts is how many run at once.
	Contexts int

	open    map[string]run.Backend
	look    func(*run.Plan) // for a test: sees what is built
	Figures Figures
}

// Figures count what was checked.
type Figures struct {
	Builds, Compared, Refused int // Refused: by onnxruntime
	Elements, Undecided       int // of outputs; undecided are those that rounding decides
}

// NewBench returns a bench.
func NewBench(oracle *Oracle) *Bench {
	return &Bench{Oracle: oracle, Contexts: 2, open: map[string]run.Backend{}}
}

// open opens the device of a setup.
func open(s Setup) (run.Backend, error) {
	switch {
	case s.Simulated != "":
		return cuda.OpenSimulated(slices.Index(gpus, s.Simulated))
	case s.Features != "":
		return cpu.OpenLimited(s.Threads, s.Features)
	}
	return cpu.Open(s.Threads), nil
}

// FeatureSets returns the sets of vector instructions that this processor can be limited to, "" for all.
func FeatureSets() []string {
	list := []string{""}
	for _, f := range []string{"generic", "avx2", "avx512", "avx512+vnni"} {
		if _, err := cpu.OpenLimited(1, f); err == nil {
			list = append(list, f)
		}
	}
	return list
}

// Close closes the backends.
func (b *Bench) Close() {
	for _, o := range b.open {
		o.Close()
	}
	if b.Oracle != nil {
		b.Oracle.Close()
	}
}

func (b *Bench) backend(s Setup) (run.Backend, error) {
	key := fmt.Sprint(s.Simulated, s.Features, s.Threads)
	if o, ok := b.open[key]; ok {
		return o, nil
	}
	o, err := open(s)
	if err == nil {
		b.open[key] = o
	}
	return o, err
}

// Check takes a model through a setup; nil where all is well.
func (b *Bench) Check(ctx context.Context, m *Model, s Setup) (f *Failure) {
	stage := "import"
	defer func() {
		if p := recover(); p != nil {
			f = &Failure{"panic in " + stage, fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	n, err := onnx.Parse(graph.Ops(), "model.onnx", m.Encode())
	if err != nil {
		return &Failure{"import", err.Error()}
	}
	if s.Extents != 0 {
		m = closed(m, s.Extents)
	}
	stage = "eval"
	c := &check{bench: b, ctx: ctx, model: m, setup: s, network: n, stage: &stage}
	if c.env, err = n.Bind(m.Feeds()); err != nil {
		return &Failure{"bind", err.Error()}
	}
	if c.meaning, err = meaningOf(n, m.Feeds(), s.processor()); err != nil && s.Extents != 0 {
		return c.senseless(err)
	} else if err != nil {
		return &Failure{"eval", err.Error()}
	}
	if s.Onnxruntime {
		return c.oracle()
	}
	return c.engine()
}

// senseless checks that what has no meaning at these extents gives no result, but an error.
func (c *check) senseless(why error) *Failure {
	c.meaning = &meaning{runs: moreRuns} // with which all agrees
	f := c.engine()
	if f == nil && c.network.CheckShapes(c.env) == nil && c.dropped(why) {
		return nil // a layer whose elements nothing reads, which finds them wrong
	}
	if f == nil {
		return &Failure{"an engine computes what has no meaning", why.Error()}
	}
	if strings.HasPrefix(f.Kind, "panic") || strings.Contains(f.Text, "panic") {
		return f
	}
	return nil
}

// dropped reports whether the layer that an error names is in nothing that an engine runs: no layer of the optimised network is made of
// it, or one whose elements nobody reads, since what follows from extents is known without them.
func (c *check) dropped(why error) bool {
	b, err := c.bench.backend(c.setup)
	if err != nil {
		return false
	}
	o, err := build.Optimize(c.ctx, c.network, pass.Config{Shapes: c.env, DisableRules: c.setup.Disable, Target: build.Target(b, c.env)})
	if err != nil {
		return false
	}
	unread := map[*graph.Layer]bool{}
	for _, l := range slices.Backward(o.Network.Layers) {
		unread[l] = len(l.Bodies()) == 0 && !slices.ContainsFunc(l.Outputs, func(t *graph.Tensor) bool {
			reads := func(u *graph.Layer) bool { return !unread[u] && (t.Value == nil || len(u.Bodies()) > 0) }
			return o.Network.IsOutput(t) || slices.ContainsFunc(t.Users, reads)
		})
	}
	return !slices.ContainsFunc(o.Network.Layers, func(l *graph.Layer) bool {
		return !unread[l] && slices.ContainsFunc(append(slices.Clone(l.From), l.Name), func(name string) bool { return strings.HasPrefix(why.Error(), "layer "+name+" (") })
	})
}

// check is one Check.
type check struct {
	bench   *Bench
	ctx     context.Context
	model   *Model
	setup   Setup
	network *graph.Network
	env     map[string]int
	meaning *meaning
	stage   *string
}

// compare counts, and returns a failure where got is not what is meant.
func (c *check) compare(kind string, m *meaning, got map[string]numeric.Value) *Failure {
	undecided, err := m.agree(got)
	if err != nil && m.runs < moreRuns {
		m.disturb(moreRuns)
		undecided, err = m.agree(got)
	}
	if err != nil {
		return &Failure{kind, err.Error()}
	}
	for _, v := range m.want {
		c.bench.Figures.Elements += v.Len()
	}
	c.bench.Figures.Undecided += undecided
	c.bench.Figures.Compared++
	return nil
}

// oracle compares the definition with onnxruntime.
func (c *check) oracle() *Failure {
	if c.bench.Oracle == nil || quiet(c.model, c.network) != "" {
		return nil
	}
	got, err := c.bench.Oracle.Run(c.ctx, c.model)
	if err != nil {
		c.bench.Figures.Refused++
		return nil
	}
	c.meaning.factor = 64 // its sums are of F32
	return c.compare("onnxruntime differs", c.meaning, got)
}

// engine builds an engine and compares it with what its network means.
func (c *check) engine() *Failure {
	b, err := c.bench.backend(c.setup)
	if err != nil {
		return &Failure{"backend", err.Error()}
	}
	cfg := pass.Config{Shapes: c.env, Quantises: c.setup.Precision == "int8", DisableRules: c.setup.Disable, Target: build.Target(b, c.env)}
	*c.stage = "optimising"
	o, err := build.Optimize(c.ctx, c.network, cfg)
	if err != nil {
		return &Failure{"optimise", err.Error()}
	}
	if f := c.evaluated("optimised", o.Network); f != nil {
		return f
	}
	*c.stage = "lowering " + c.setup.Precision
	l, err := c.lower(b, o, cfg)
	if err != nil {
		return &Failure{"lower " + c.setup.Precision, err.Error()}
	}
	m := c.meaning
	if c.setup.Precision == "fp32" {
		if f := c.evaluated("lowered", l.Network); f != nil {
			return f
		}
	}
	if c.setup.Precision != "fp32" || slices.ContainsFunc(l.Network.Layers, attendsBytes) {
		if m, err = meaningOf(l.Network, c.model.Feeds(), c.setup.processor()); err != nil {
			return &Failure{"lowered eval", err.Error()}
		}
	}
	*c.stage = "planning " + c.setup.Precision
	p, err := run.NewPlan(c.ctx, l.Network, c.env, b, c.cost())
	if errors.As(err, new(*run.Unsupported)) && c.setup.Simulated != "" {
		return nil // not all layers have kernels for GPUs
	}
	if err != nil {
		return &Failure{"plan " + c.setup.Precision, err.Error()}
	}
	c.bench.Figures.Builds++
	if c.bench.look != nil {
		c.bench.look(p)
	}
	if c.setup.File {
		*c.stage = "engine file"
		if p, err = c.reread(p); err != nil {
			return &Failure{"engine file", err.Error()}
		}
	}
	*c.stage = "running " + c.setup.Precision
	return c.execute(p, b, m)
}

// evaluated compares what a network made of the model's means.
func (c *check) evaluated(what string, n *graph.Network) *Failure {
	if c.meaning.want == nil {
		return nil
	}
	got, err := n.Eval(c.ctx, c.model.Feeds(), nil)
	if err != nil {
		return &Failure{what + " eval", err.Error()}
	}
	return c.compare(what+" network differs", c.meaning, got)
}

func (c *check) lower(b run.Backend, o *build.Optimized, cfg pass.Config) (*build.Lowered, error) {
	lc := build.LowerConfig{Precision: numeric.F32, Pass: cfg}
	switch c.setup.Precision {
	case "fp16":
		lc.Precision = numeric.F16
	case "int8":
		lc.Precision = numeric.I8
		feeds := func(yield func(map[string]numeric.Value, error) bool) { yield(c.model.Feeds(), nil) }
		host, err := c.bench.backend(Setup{Threads: c.setup.Threads}) // which collects for every device
		if err != nil {
			return nil, err
		}
		hist, err := build.Collect(c.ctx, c.network, host, feeds, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("collect: %w", err)
		}
		lc.Policy.Scheme = quant.Scheme{ByToken: c.setup.Tokens != "", Asymmetric: c.setup.Tokens == "asymmetric"}
		kind, err := quant.ParseCalibrator(c.setup.Calibrator, lc.Policy.Scheme)
		if err != nil {
			return nil, err
		}
		lc.Ranges = build.Ranges(hist.Histograms, kind)
	}
	return build.Lower(c.ctx, o, lc, run.Supports(b, c.env))
}

// cost returns prices: the backend's guess, or any, so that any tactic may be chosen.
func (c *check) cost() run.Cost {
	if c.setup.Tactics == 0 {
		return run.BestGuess
	}
	rnd := rand.New(rand.NewPCG(c.setup.Tactics, 14))
	prices := map[string]time.Duration{}
	return func(b kernels.Binding, t kernels.Tactic, rank int) (run.Price, error) {
		key := b.Layer.Name + "\x00" + t.Name
		if prices[key] == 0 {
			prices[key] = time.Duration(1 + rnd.IntN(100000))
		}
		return run.Price{Time: prices[key]}, nil
	}
}

// reread writes an engine and returns its plan as it is read back.
func (c *check) reread(p *run.Plan) (*run.Plan, error) {
	var file bytes.Buffer
	e := &run.Engine{Source: c.network, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}
	if _, err := e.WriteTo(&file); err != nil {
		return nil, err
	}
	e, err := run.ReadEngine(graph.Ops(), file.Bytes())
	if err != nil {
		return nil, err
	}
	return e.Plans[0], nil
}

// execute runs the plan in two contexts at once, each several times, and compares: the results with what is meant, and
// those of one context with each other, bit by bit.
func (c *check) execute(p *run.Plan, b run.Backend, m *meaning) *Failure {
	loaded, err := run.Load(c.ctx, p, b)
	if err != nil {
		return &Failure{"load " + c.setup.Precision, err.Error()}
	}
	if c.bench.Planted != Leak {
		defer loaded.Close()
	}
	const rounds = 3
	contexts := c.bench.Contexts
	first, errs := make([]map[string]numeric.Value, contexts), make([]error, contexts)
	var wait sync.WaitGroup
	for i := range contexts {
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			first[i], errs[i] = c.repeat(loaded, rounds)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return &Failure{"run " + c.setup.Precision, err.Error()}
	}
	for i := range contexts {
		if f := c.compare(c.setup.Precision+" engine differs", m, first[i]); f != nil {
			return f
		}
	}
	for _, other := range first[1:] {
		for name, v := range first[0] {
			if !reduce.Equal(v, other[name]) {
				return &Failure{"contexts differ", fmt.Sprintf("output %s of two contexts on the same inputs has other bits", name)}
			}
		}
	}
	return nil
}

// repeat runs a context some times.
func (c *check) repeat(loaded *run.Loaded, rounds int) (first map[string]numeric.Value, err error) {
	x, err := loaded.NewContext()
	if err != nil {
		return nil, err
	}
	if c.bench.Planted != Leak {
		defer x.Close()
	}
	for round := range rounds {
		if err := x.SetInputs(c.model.Feeds()); err != nil {
			return nil, err
		}
		if err := x.Execute(); err != nil {
			return nil, err
		}
		out, err := x.Outputs()
		if err != nil {
			return nil, err
		}
		c.plant(out)
		if round == 0 {
			first = map[string]numeric.Value{}
			for name, v := range out {
				v.Data = bytes.Clone(v.Data)
				first[name] = v
			}
			continue
		}
		for name, v := range out {
			if !reduce.Equal(v, first[name]) {
				return nil, fmt.Errorf("output %s of run %d has other bits than of the first", name, round+1)
			}
		}
	}
	return first, nil
}
