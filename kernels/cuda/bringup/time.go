package bringup

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// empty returns a kernel that does nothing with the address it gets.
func (p *probe) empty() (kernels.Kernel, error) {
	w := emit.NewWork()
	k := w.Module.Kernel("empty", 32)
	k.Pointer("x")
	k.End()
	w.Launches = []emit.Launch{{Kernel: "empty", Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Args: []emit.Arg{emit.ScratchArg(0)}}}
	return p.bind(w)
}

// launcher returns a function that enqueues k n times.
func (p *probe) launcher(k kernels.Kernel, n int) func() error {
	return func() error {
		for range n {
			if err := k.Launch(p.stream, nil, nil, kernels.Mem{}); err != nil {
				return err
			}
		}
		return nil
	}
}

// host returns how long the host takes to enqueue what f does, which fits into the device's queue: the fastest of a few
// times, since the others have something else in them.
func (p *probe) host(f func() error) (time.Duration, error) {
	var best time.Duration
	for i := range rounds {
		if err := p.stream.Wait(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if d := time.Since(start); i == 0 || d < best {
			best = d
		}
	}
	return best, p.stream.Wait()
}

// launches measures kernels that do nothing, launched one by one.
func (p *probe) launches() error {
	k, err := p.empty()
	if err != nil {
		return err
	}
	for _, n := range p.counts(1, 100, 500) {
		f := p.launcher(k, n)
		d, err := p.measure(f)
		if err != nil {
			return err
		}
		host, err := p.host(f)
		if err != nil {
			return err
		}
		p.report(Finding{Name: "empty kernels", Count: n, US: microseconds(d), EachUS: microseconds(d) / float64(n), HostUS: microseconds(host) / float64(n)})
	}
	return nil
}

// counts returns the numbers, or the small ones of them where the device is simulated.
func (p *probe) counts(list ...int) []int {
	if !p.small {
		return list
	}
	var few []int
	for _, n := range list {
		if n <= 10 {
			few = append(few, n)
		}
	}
	return few
}

// graphs measures graphs of dependent kernels that do nothing: what a layer costs however small it is.
func (p *probe) graphs() error {
	k, err := p.empty()
	if err != nil {
		return err
	}
	for _, n := range p.counts(1, 10, 100, 1000) {
		start := time.Now()
		g, err := p.stream.Capture(p.launcher(k, n))
		if err != nil {
			return err
		}
		made := time.Since(start)
		d, err := p.measure(g.Launch)
		var host time.Duration
		if err == nil {
			host, err = p.host(g.Launch)
		}
		if e := g.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		p.report(Finding{
			Name: "empty kernels", Count: n, US: microseconds(d), EachUS: microseconds(d) / float64(n), HostUS: microseconds(host),
			Value: fmt.Sprintf("captured and instantiated in %.3f ms", float64(made)/1e6),
		})
	}
	return nil
}

// events measures what marks cost: between kernels in a graph, as per-layer timing has them, and one after the other.
func (p *probe) events() error {
	const n = 10
	k, err := p.empty()
	if err != nil {
		return err
	}
	record := func() error {
		for range n {
			p.stream.Record()
		}
		return nil
	}
	d, err := p.measure(record)
	if err != nil {
		return err
	}
	host, err := p.host(record)
	if err != nil {
		return err
	}
	p.report(Finding{Name: "events in a row", Count: n, US: microseconds(d), EachUS: microseconds(d) / n, HostUS: microseconds(host) / n})
	var each []time.Duration
	for _, marks := range []bool{false, true} {
		g, err := p.stream.Capture(func() error {
			for range n {
				if marks {
					p.stream.Record()
				}
				if err := k.Launch(p.stream, nil, nil, kernels.Mem{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		d, err := p.measure(g.Launch)
		if e := g.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		each = append(each, d/n)
	}
	p.report(Finding{
		Name: "events between a graph's kernels", Count: n, US: microseconds(each[1] * n), EachUS: microseconds(each[1] - each[0]),
		Value: fmt.Sprintf("%.3f us a kernel with, %.3f us without", microseconds(each[1]), microseconds(each[0])),
	})
	return nil
}
