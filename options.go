package trtui

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// Precision is the lowest precision that the layers of an engine may compute in.
type Precision uint8

// The precisions. The zero value is FP32.
const (
	FP32 Precision = iota
	FP16           // weights and activations are stored in 16 bits where the range allows
	INT8           // 8-bit integers where ranges are known, and FP32 elsewhere
)

func (p Precision) String() string {
	if int(p) < len(precisions) {
		return quant.PrecisionName(precisions[p])
	}
	return fmt.Sprintf("precision(%d)", uint8(p))
}

var precisions = [...]numeric.DataType{FP32: numeric.F32, FP16: numeric.F16, INT8: numeric.I8}

// The types of options that come from the packages below.
type (
	// Backend is a device: cpu.Open and cuda.Open return one.
	Backend = run.Backend
	// Calibrator chooses a tensor's range from the histogram of its values. Those of core/quant are MinMax, Entropy,
	// Percentile and MSE; any type with these two methods is one.
	Calibrator = quant.Calibrator
	// Range is what the integers of a quantised tensor stand for: real = (integer - zero) * scale.
	Range = numeric.Range
	// NoRoom is the error of an engine that needs more memory than there is, or than Options.Memory allows.
	NoRoom = run.NoRoom
	// Policy says which layers may compute in which precision.
	Policy = quant.Policy
	// TimingCache remembers how long tactics took, so that another build need not time them: build.OpenTimingCache.
	TimingCache = build.TimingCache
	// Tactic is one way to compute an op on a device.
	Tactic = kernels.Tactic
	// Kernel is a tactic bound to a layer and shape; Binding, Mem and Stream are what it is bound to, reads and writes, and
	// runs on. On the CPU, cpu.Loop gives it the session's threads.
	Kernel  = kernels.Kernel
	Binding = kernels.Binding
	Mem     = kernels.Mem
	Stream  = kernels.Stream
	// Pass rewrites a network, and Rewrite is what it works on; Step is the record of one. See [NewPass].
	Pass    = pass.Pass
	Rewrite = pass.Rewrite
	Step    = pass.Step
)

// NewPass returns a pass of a program's own. It runs before the standard pass, or pass of lowering, of the given name; "" is
// before all, on the network as it was imported. rules are what it calls its candidates: they stand in [Engine.Passes], and
// Options.Disable switches them off. A network that computes something else afterwards is the pass's fault; one that is
// inconsistent is found, and the build fails.
func NewPass(name, doc, before string, rules []string, run func(*Rewrite)) Pass {
	return pass.New(name, doc, before, rules, run)
}

// Options say what engine [Build] makes. The zero value is FP32 on all processors of this machine, with an extent of 1
// wherever the network leaves one open.
type Options struct {
	Precision Precision

	// Shapes are the shapes of inputs by name, where the network leaves extents open. An open first axis without one is a batch
	// of 1; any other without one is an error. The engine is for these shapes alone.
	Shapes map[string][]int
	// Profiles, in place of Shapes, have the engine take ranges of shapes: a plan is made for each, with memory for its largest
	// shapes and tactics that are timed at its best ones, of one network whose packed weights they share. A [Session] runs at the
	// shapes of its inputs, in the first profile that takes them. Passes and precisions are decided at the first one's best.
	Profiles []Profile

	// Calibration is what INT8 finds its ranges on: inputs like those that the engine will get, a hundred or more of them in
	// all. They may have another batch than Shapes, but all of them the same.
	Calibration BatchSeq
	// Calibrator makes ranges of what calibration finds; nil is quant.MSE, of asymmetric ranges unless Policy has another scheme.
	// The ranges of another one are as its own scheme has them, which is to be Policy's.
	Calibrator Calibrator
	// BiasCorrection says what biases take back of what 8 bits do to the means of activations; the zero value is
	// quant.CorrectExact. Without Calibration they stay as they are.
	BiasCorrection quant.BiasCorrection
	// Rounding says how weights become integers; the zero value is to the nearest, and so is a build without Calibration. By what
	// quant.ParseRounding makes of "auto" it is found by trial on some of the batches, which are held out, of four at least.
	Rounding quant.Rounding
	// Equalization scales channels so that one range suits all of a tensor's; the zero value leaves them, and so does a build
	// without Calibration. See quant.ParseEqualizer; "auto" of it is found by trial as well.
	Equalization quant.Equalizer
	// Ranges are the ranges of tensors by name, in place of Calibration, or for some tensors in place of what it finds.
	Ranges map[string]Range
	// ChooseRows has it found by trial whether products of rows quantise each by a range of its own, as Policy's scheme may say: they do
	// where batches that are held out gain a decibel, since it takes some time at each inference.
	ChooseRows bool
	// Policy says more on which layers may compute in 8 or 16 bits: rules by name, schemes, first and last layers kept.
	Policy Policy

	// Backend is the device. It must stay open for as long as the engine. nil is this machine's processors, which the engine
	// opens and closes itself.
	Backend Backend
	// Threads is how many workers tactics are chosen for where Backend is nil; 0 is one for each processor. An engine for
	// sessions of one thread is best built with 1.
	Threads int
	// Memory is how many bytes the engine may take, on the processors those of Go's heap included; 0 is all that are free. What
	// would take more is refused with a [NoRoom]. A Backend that is given keeps to it until it is told otherwise, if it can be
	// limited, and is as it was where Memory is 0.
	Memory int64

	// Cache has the times of tactics that were timed before, and gets the new ones; nil times all of them.
	Cache *TimingCache
	// Untimed chooses tactics by the device's guess: the build takes no time for measurements, inferences may take longer.
	Untimed bool
	// Tactics pins layers to tactics, or forbids tactics, by layer name.
	Tactics build.TacticChoices

	// Disable switches passes and rules off, by name, and single sites, as in "fuse-activation:Conv_0,Relu_1"; "side-by-side" has
	// layers that do not depend on each other run in turn.
	Disable []string
	// Passes are a program's own, beside the standard ones; each says which of those it runs before.
	Passes []Pass
	// Kernels are a program's own tactics, tried before the device's. A device must know how to take them: the CPU does.
	Kernels []Tactic

	// KeepSource has the engine's file hold the network, too, with which the commands of trtui compare it, calibrate and build
	// anew. Running needs none of it.
	KeepSource bool
	// Origin is what the engine's file tells of its making beside the model's name, the precision and the device: the program,
	// its version, the date.
	Origin run.Provenance

	// Progress, if not nil, is told what is being done and how much of it: batches collected, tactics timed, kernels bound.
	// total is 0 where it is not known.
	Progress func(stage string, done, total int)
}

func (o *Options) progress(stage string, done, total int) {
	if o.Progress != nil {
		o.Progress(stage, done, total)
	}
}

// device returns the backend with the program's kernels, and whether the engine is to close it.
func (o *Options) device() (b Backend, owned bool, err error) {
	b = o.Backend
	if b == nil {
		if o.Threads < 0 {
			return nil, false, fmt.Errorf("%d threads; give a number from 1 on, or 0 for one for each processor", o.Threads)
		}
		b, owned = cpu.Open(o.Threads), true
	}
	if err := o.limit(b); err != nil {
		if owned {
			b.Close()
		}
		return nil, false, err
	}
	with, err := withKernels(b, o.Kernels)
	if err != nil && owned {
		b.Close()
	}
	return with, owned, err
}

// limit keeps the device to Memory.
func (o *Options) limit(b Backend) error {
	if o.Memory < 0 {
		return fmt.Errorf("a limit of %d bytes of memory; give a number from 1 on, or 0 for all that are free", o.Memory)
	}
	if o.Memory == 0 {
		return nil
	}
	l, ok := b.(run.Limited)
	if !ok {
		return fmt.Errorf("the memory of backend %s cannot be limited; leave Memory out", b.Info().Name)
	}
	l.LimitMemory(o.Memory)
	return nil
}

// withKernels returns the backend with further tactics.
func withKernels(b Backend, tactics []Tactic) (Backend, error) {
	if len(tactics) == 0 {
		return b, nil
	}
	taker, ok := b.(interface {
		With(...Tactic) (Backend, error)
	})
	if !ok {
		return nil, fmt.Errorf("backend %s takes no kernels beside its own; leave Options.Kernels out", b.Info().Name)
	}
	return taker.With(tactics...)
}

// passes translates the rules and sites that are switched off.
func (o *Options) passes(env map[string]int) pass.Config {
	pc := pass.Config{Shapes: env, Quantises: o.Precision == INT8, Extra: o.Passes}
	pc.Disable(o.Disable)
	return pc
}

// symbols returns the values of the network's open extents at the given shapes of some inputs.
func symbols(n *Network, given map[string][]int) (map[string]int, error) {
	shapes := map[string][]int{}
	known := map[string]int{}
	for name, dims := range given {
		i := slices.IndexFunc(n.Inputs, func(t *graph.Tensor) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("shapes: the network has no input %s", name)
		}
		for axis, d := range n.Inputs[i].Extents() {
			if s, open := d.SymbolName(); open && axis < len(dims) {
				known[s] = dims[axis]
			}
		}
		if slices.ContainsFunc(dims, func(n int) bool { return n < 0 }) {
			return nil, fmt.Errorf("shapes: input %s: %v has a negative extent", name, dims)
		}
	}
	for _, t := range n.Inputs {
		if dims, ok := given[t.Name]; ok {
			shapes[t.Name] = dims
			continue
		}
		for axis, d := range t.Extents() {
			s, open := d.SymbolName()
			if _, ok := known[s]; !open || ok {
				continue
			}
			if t.IsShape {
				return nil, fmt.Errorf("input %s is %s, on whose elements shapes depend; give their values in Options.Shapes", t.Name, t.TypeString())
			}
			if axis > 0 {
				return nil, fmt.Errorf("input %s is %s, where %s is open; give the input's shape in Options.Shapes", t.Name, t.TypeString(), s)
			}
			known[s] = 1
		}
	}
	for _, t := range n.Inputs {
		if shapes[t.Name] == nil {
			shapes[t.Name] = symbolic.Eval(t.Extents(), known)
		}
	}
	env, err := n.BindShapes(shapes)
	if err != nil {
		return nil, err
	}
	return env, n.CheckShapes(env)
}

// errNoRanges is the error of INT8 without anything to find ranges on.
var errNoRanges = errors.New("INT8 needs ranges: give Options.Calibration, inputs to find them on, or Options.Ranges")
