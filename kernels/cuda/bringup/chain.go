package bringup

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// A chain is a graph of kernels of which each one waits for the one before: empty ones, and tiny ones, whose threads add
// one to a number each. Programmatic ones may begin while the one before still runs, and wait in the kernel for its end
// (PTX ISA, "griddepcontrol").

const chainThreads = 128

// chainText is the kernel probe(x).
func chainText(tiny, programmatic bool) string {
	t := &rawText{}
	target := ".version 7.0\n.target sm_80"
	if programmatic {
		target = ".version 7.8\n.target sm_90"
	}
	t.line("%s\n.address_size 64\n.visible .entry probe(.param .u64 x)\n.maxntid %d, 1, 1\n{", target, chainThreads)
	if programmatic {
		t.line("\tgriddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;")
	}
	if tiny {
		t.line(`	.reg .b32 %%r<4>;
	.reg .f32 %%f<2>;
	.reg .b64 %%w<4>;
	ld.param.u64 %%w0, [x];
	cvta.to.global.u64 %%w0, %%w0;
	mov.u32 %%r0, %%tid.x;
	mul.wide.u32 %%w1, %%r0, 4;
	add.s64 %%w0, %%w0, %%w1;
	ld.global.f32 %%f0, [%%w0];
	add.f32 %%f0, %%f0, 0f3f800000;
	st.global.f32 [%%w0], %%f0;`)
	}
	t.line("\tret;\n}")
	return t.String()
}

// chains measures what a kernel of a chain costs.
func (p *probe) chains() error {
	n := 1000
	if p.small {
		n = 10
	}
	return p.chain(n, "one after the other", false, (*rawKernel).launch)
}

// earlyChains measures what one costs that begins before the one before it has ended, and waits itself.
func (p *probe) earlyChains() error {
	if p.lacks("kernels that begin early", false) {
		return nil
	}
	return p.chain(1000, "that begin early", true, (*rawKernel).launchEarly)
}

// chain measures empty and tiny kernels, which launch enqueues.
func (p *probe) chain(n int, how string, programmatic bool, launch func(k *rawKernel, blocks int, params []byte) error) error {
	for _, c := range []struct {
		name string
		tiny bool
	}{{"empty kernels", false}, {"tiny kernels", true}} {
		k, err := p.raw(chainText(c.tiny, programmatic), chainThreads, 0)
		if err != nil {
			return err
		}
		x, err := p.allocate(4 * chainThreads)
		if err != nil {
			return err
		}
		if err := p.backend.Context().MemsetD8Async(x, 0, 4*chainThreads, p.stream.Handle()); err != nil {
			return err
		}
		params, runs := rawParams([]driver.Ptr{x}), 0
		g, err := p.stream.Capture(func() error {
			for range n {
				if err := launch(k, 1, params); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		d, err := p.measure(func() error { runs++; return g.Launch() })
		if err == nil && c.tiny {
			err = p.counted(x, runs*n)
		}
		if e := g.Close(); err == nil {
			err = e
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.name, how, err)
		}
		f := k.finding(c.name + " " + how)
		f.Count, f.US, f.EachUS = n, microseconds(d), microseconds(d)/float64(n)
		p.report(f)
	}
	return nil
}

// counted checks that ones were added to the numbers of a chain, as often as that. A float counts to 2^24 and stays there.
func (p *probe) counted(x driver.Ptr, runs int) error {
	data := make([]byte, 4*chainThreads)
	if err := p.backend.Context().MemcpyDtoH(data, x); err != nil {
		return err
	}
	for i := range chainThreads {
		if got, want := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])), float32(min(runs, 1<<24)); got != want {
			return fmt.Errorf("thread %d counted %v kernels, want %v", i, got, want)
		}
	}
	return nil
}
