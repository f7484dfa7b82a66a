// Package bringup finds out what a device is and what it reaches: the cost of launches, graphs and events, bandwidth, peak
// rates, and what its driver makes of the kernels. It measures through the backend of package cuda, on a GPU or simulated.
package bringup

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// Finding is something that Run saw or measured. What does not apply is zero.
type Finding struct {
	Check       string  `json:"check"` // the step that it belongs to
	Name        string  `json:"name,omitempty"`
	OK          bool    `json:"ok"`
	Estimated   bool    `json:"estimated,omitempty"` // times are a model's
	Value       string  `json:"value,omitempty"`
	Count       int     `json:"count,omitempty"`        // of the things that US is the time of all together, such as a graph's nodes
	US          float64 `json:"us,omitempty"`           // microseconds, the device's
	EachUS      float64 `json:"each_us,omitempty"`      // for one of Count
	HostUS      float64 `json:"host_us,omitempty"`      // microseconds that the host is busy with one
	Bytes       int     `json:"bytes,omitempty"`        // of a copy, or of compiled code
	GBs         float64 `json:"gb_s,omitempty"`         // 1e9 bytes a second, read and written both counted
	TFLOPs      float64 `json:"tflops,omitempty"`       // 1e12 operations a second, a multiply-add being two
	JITms       float64 `json:"jit_ms,omitempty"`       // milliseconds in the driver's compiler, or of the host in the simulator's reader of PTX
	LoadMS      float64 `json:"load_ms,omitempty"`      // milliseconds to load compiled code
	Registers   int     `json:"registers,omitempty"`    // a thread's; simulated, those live at a time
	LocalBytes  *int    `json:"local_bytes,omitempty"`  // a thread's: spills; nil: not known, or no code was looked at
	SharedBytes int     `json:"shared_bytes,omitempty"` // a block's, static and dynamic
	Log         string  `json:"log,omitempty"`          // the compiler's warnings
	Error       string  `json:"error,omitempty"`
}

// step is a part of Run.
type step struct {
	name string
	run  func(*probe) error
}

// steps are in the order of what one wants to know first.
var steps = []step{
	{"device", (*probe).describe},
	{"launch", (*probe).launches},
	{"graph", (*probe).graphs},
	{"event", (*probe).events},
	{"copy", (*probe).copies},
	{"peak", (*probe).peaks},
	{"cubin", (*probe).cubins},
	{"gemm", (*probe).products},
	{"read", (*probe).reads},
	{"chain", (*probe).chains},
	{"early", (*probe).earlyChains},
	{"bulk", (*probe).bulks},
	{"wgmma-f16", wgmmaStep(wgmmaTypes[0])},
	{"wgmma-e4m3", wgmmaStep(wgmmaTypes[1])},
	{"wgmma-s8", wgmmaStep(wgmmaTypes[2])},
	{"jit", (*probe).compileAll},
}

// Steps returns the names of the steps, in their order.
func Steps() []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

// probe is what a step works with.
type probe struct {
	ctx     context.Context
	backend *cuda.Backend
	stream  *cuda.Stream
	small   bool // sizes that a simulator takes a moment for
	report  func(Finding)
	bound   []kernels.Kernel // closed when the step ends
	modules []driver.Module  // of texts written by hand, unloaded then
	memory  []driver.Ptr     // freed then
}

// bind compiles a work for the step's time.
func (p *probe) bind(w *emit.Work) (kernels.Kernel, error) {
	k, err := p.backend.Bind(w)
	if err == nil {
		p.bound = append(p.bound, k)
	}
	return k, err
}

// Run finds out what a device is and what it reaches: the cost of launches, graphs and events, bandwidth, peak rates,
// and what its driver makes of the kernels. open opens the device, anew where a step has left its context beyond use. A
// step that fails is a finding, and the next one goes on; steps that want does not name are left out, none are where it
// is empty. Between steps, and within long ones, it ends with ctx, whose error it returns.
func Run(ctx context.Context, open func() (*cuda.Backend, error), want []string, report func(Finding)) error {
	var b *cuda.Backend
	defer func() {
		if b != nil {
			_ = b.Close() // everything was read before
		}
	}()
	for _, s := range steps {
		if len(want) > 0 && !slices.Contains(want, s.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if b == nil {
			var err error
			if b, err = open(); err != nil {
				return err
			}
		}
		err := s.on(ctx, b, report)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			continue
		}
		report(Finding{Check: s.name, Error: err.Error()})
		if lost(err) {
			_ = b.Close() // it has said why
			b = nil
		}
	}
	return nil
}

// lost reports whether an error leaves the device's context beyond use.
func lost(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Sticky()
}

// on runs the step on a device.
func (s step) on(ctx context.Context, b *cuda.Backend, report func(Finding)) (err error) {
	queue, err := b.NewStream()
	if err != nil {
		return err
	}
	simulated := b.Info().Estimated
	p := &probe{ctx: ctx, backend: b, stream: queue.(*cuda.Stream), small: simulated, report: func(f Finding) {
		f.Check, f.OK, f.Estimated = s.name, f.Error == "", simulated
		report(f)
	}}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		err = errors.Join(err, p.stream.Close())
		for _, k := range p.bound {
			err = errors.Join(err, kernels.Close(k))
		}
		err = errors.Join(err, p.release())
	}()
	return s.run(p)
}

// describe tells the device's own facts.
func (p *probe) describe() error {
	d := p.backend.Context().Device()
	free, total, err := p.backend.Context().MemGetInfo()
	if err != nil {
		return err
	}
	facts := [][2]string{
		{"name", d.Name}, {"pci", d.PCI}, {"architecture", fmt.Sprintf("sm_%d", d.SM)}, {"driver", "CUDA " + d.Compiler()},
		{"multiprocessors", fmt.Sprint(d.Multiprocessors)}, {"clock", fmt.Sprintf("%d MHz", d.ClockKHz/1000)},
		{"memory", fmt.Sprintf("%d bytes, %d free", total, free)},
		{"memory clock", fmt.Sprintf("%d MHz, %d bits", d.MemoryClockKHz/1000, d.MemoryBusBits)},
		{"L2", fmt.Sprintf("%d bytes", d.L2Bytes)},
		{"multiprocessor", fmt.Sprintf("%d threads, %d blocks, %d registers, %d bytes shared", d.ThreadsPerSM, d.BlocksPerSM, d.RegistersPerSM, d.SharedPerSM)},
		{"block", fmt.Sprintf("%d bytes shared, %d if asked for", d.SharedPerBlock, d.SharedPerBlockMax)},
		{"abilities", fmt.Sprintf("ecc %v, copy engines %d, memory pools %v, cooperative launch %v", d.ECC, d.CopyEngines, d.MemoryPools, d.CooperativeLaunch)},
	}
	if t, err := p.backend.Telemetry(); err != nil {
		facts = append(facts, [2]string{"state", err.Error()})
	} else {
		facts = append(facts, [2]string{"state", fmt.Sprintf("%+v", t)})
	}
	for _, f := range facts {
		p.report(Finding{Name: f[0], Value: f[1]})
	}
	return nil
}

// A measurement warms up first, since an idle device is slow to raise its clocks. Then it takes so many rounds, of as many
// calls as last this long; the median round counts.
const (
	warmUp        = 100 * time.Millisecond
	rounds        = 5
	roundTime     = 5 * time.Millisecond
	maxRoundCalls = 2000
)

// measure returns the device's time for what f enqueues.
func (p *probe) measure(f func() error) (time.Duration, error) {
	if p.small {
		return p.round(1, f)
	}
	if _, err := p.round(1, f); err != nil { // the first is slower
		return 0, err
	}
	one, err := p.round(2, f)
	if err != nil {
		return 0, err
	}
	n := max(1, min(maxRoundCalls, int(roundTime/max(one, 1))))
	for begin := time.Now(); time.Since(begin) < warmUp; {
		if _, err := p.round(n, f); err != nil {
			return 0, err
		}
	}
	var rounds []time.Duration
	for range rounds {
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		d, err := p.round(n, f)
		if err != nil {
			return 0, err
		}
		rounds = append(rounds, d)
	}
	slices.Sort(rounds)
	return rounds[len(rounds)/2], nil
}

// round returns the time of one of n calls in a row.
func (p *probe) round(n int, f func() error) (time.Duration, error) {
	start := p.stream.Record()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	end := p.stream.Record()
	if err := p.stream.Wait(); err != nil {
		return 0, err
	}
	return p.stream.Elapsed(start, end) / time.Duration(n), nil
}

// microseconds converts a time.
func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// perSecond is so many of something in a time, in billions a second; 0 where the time is.
func perSecond(n float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return n / float64(d)
}

// inOrder calls f for 0 to n-1 on all processors and use with the results in their order, from this goroutine, until
// use returns false. When it returns no f is running.
func inOrder[T any](n int, f func(i int) T, use func(i int, result T) bool) {
	results := make([]chan T, n)
	for i := range results {
		results[i] = make(chan T, 1)
	}
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				results[i] <- f(i)
			}
		})
	}
	for i := range n {
		if !use(i, <-results[i]) {
			next.Store(int64(n))
			break
		}
	}
	running.Wait()
}
