package bringup

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// cubins finds out whether the driver gives its compiled code away, whether it takes that back, and whether it compiles
// for the device's own architecture ("sm_90a"), whose instructions others do not have.
func (p *probe) cubins() error {
	plain := emitCopy(4, smallDevice).Module.String()
	p.report(p.linked("device", plain, "copy"))
	if sm := p.backend.Context().Device().SM; ptx.SM90A.RunsOn(sm) {
		m := ptx.New(ptx.SM90A)
		m.Kernel("empty", 32).End()
		p.report(p.linked("sm_90a", m.String(), "empty"))
	} else {
		p.report(Finding{Name: "sm_90a", Value: fmt.Sprintf("not for this device, which is sm_%d", sm)})
	}
	broken := strings.Replace(plain, "ld.global", "ld.nowhere", 1)
	_, log, err := p.backend.Context().ModuleLoad([]byte(broken), driver.JITOptions{})
	var refused *driver.Error
	if !errors.As(err, &refused) || lost(err) {
		return fmt.Errorf("text that is not PTX: %v, want it refused", err)
	}
	p.report(Finding{Name: "what is not PTX", Value: refused.Result.Name(), Log: strings.TrimSpace(log.Error)})
	return nil
}

// linked compiles text, loads the result as an engine file's, and looks at what the compiler made of a kernel.
func (p *probe) linked(name, text, kernel string) Finding {
	ctx, f := p.backend.Context(), Finding{Name: name}
	cubin, log, err := ctx.Link([]byte(text), driver.JITOptions{})
	if err != nil {
		f.Error = "no cubin: " + err.Error()
		return f
	}
	f.Bytes, f.JITms, f.Log = len(cubin), milliseconds(log.Wall), driver.Warnings(log.Info)
	start := time.Now()
	m, _, err := ctx.ModuleLoad(cubin, driver.JITOptions{})
	if err != nil {
		f.Error = "the cubin does not load: " + err.Error()
		return f
	}
	f.LoadMS = milliseconds(time.Since(start))
	f.Value = "the cubin loads"
	if err := errors.Join(p.look(&f, m, kernel), ctx.ModuleUnload(m)); err != nil {
		f.Error = err.Error()
	}
	return f
}

// look adds what the compiler made of a kernel to a finding, the largest of several.
func (p *probe) look(f *Finding, m driver.Module, kernel string) error {
	fn, err := p.backend.Context().ModuleGetFunction(m, kernel)
	if err != nil {
		return err
	}
	a, err := p.backend.Context().FuncAttributes(fn)
	if err != nil {
		return err
	}
	f.Registers, f.SharedBytes = max(f.Registers, a.Registers), max(f.SharedBytes, a.SharedBytes)
	if !a.Declared && (f.LocalBytes == nil || *f.LocalBytes < a.LocalBytes) {
		f.LocalBytes = &a.LocalBytes
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// example is a tactic with a layer that it computes.
type example struct {
	emit.Tactic
	binding kernels.Binding
}

// examples returns every tactic that a device has, each with the first layer of the suite that it computes.
func examples(d emit.Device) []example {
	var list []example
	layers, seen := suite.Layers(), map[string]bool{}
	for _, e := range cuda.Tactics() {
		for _, c := range layers {
			if c.Layer.Op != e.Op || seen[e.Name] || e.Emit == nil {
				continue
			}
			b, ok := suite.Bind(c.Layer, kernels.Tactic{In: e.In, Out: e.Out}, 0)
			if ok && e.On(d, b) == nil {
				seen[e.Name] = true
				list = append(list, example{e, b})
			}
		}
	}
	return list
}

// device is what of the GPU decides which code it runs.
func (p *probe) device() emit.Device {
	d := p.backend.Context().Device()
	return emit.Device{SM: d.SM, Shared: d.SharedPerBlockMax}
}

// everyNth example is compiled where the device is simulated.
const everyNth = 40

// compileAll compiles every tactic's code on all processors, as a build does.
func (p *probe) compileAll() error {
	list := examples(p.device())
	if p.small {
		var few []example
		for i := 0; i < len(list); i += everyNth {
			few = append(few, list[i])
		}
		list = few
	}
	start, done, known, spilled, warned, bytes, compiling := time.Now(), 0, 0, 0, 0, 0, 0.0
	slowest := Finding{}
	inOrder(len(list), func(i int) Finding {
		if p.ctx.Err() != nil {
			return Finding{}
		}
		return p.compiled(list[i])
	}, func(_ int, f Finding) bool {
		if p.ctx.Err() != nil {
			return false
		}
		p.report(f)
		done++
		bytes += f.Bytes
		compiling += f.JITms
		if f.LocalBytes != nil {
			known++
			if *f.LocalBytes > 0 {
				spilled++
			}
		}
		if f.Log != "" {
			warned++
		}
		if f.JITms > slowest.JITms {
			slowest = f
		}
		return true
	})
	local := "spills not known"
	if known > 0 {
		local = fmt.Sprintf("%d use local memory", spilled)
	}
	value := fmt.Sprintf("%d of %d tactics; %s, %d with warnings", done, len(list), local, warned)
	if slowest.Name != "" { // a device that tells how long its compiler took
		value += fmt.Sprintf("; %.1f at a time; slowest %s", compiling/milliseconds(time.Since(start)), slowest.Name)
	}
	p.report(Finding{
		Name: "all", Count: done, Bytes: bytes, HostUS: microseconds(time.Since(start)), Value: value,
		JITms: slowest.JITms,
	})
	return p.ctx.Err()
}

// compiled compiles one tactic's code to a cubin and loads that, or the text where there is none.
func (p *probe) compiled(e example) Finding {
	f := Finding{Name: e.Name}
	w, err := e.Work(p.device(), e.binding)
	if err == nil {
		err = w.Module.Check()
	}
	if err != nil {
		f.Error = fmt.Sprintf("%v: %v", e.binding.Layer, err)
		return f
	}
	ctx, text := p.backend.Context(), []byte(w.Module.String())
	image, log, err := ctx.Link(text, driver.JITOptions{})
	if f.Bytes = len(image); err != nil {
		image = text
	}
	start := time.Now()
	m, own, err := ctx.ModuleLoad(image, driver.JITOptions{})
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.LoadMS, f.JITms = milliseconds(time.Since(start)), milliseconds(log.Wall+own.Wall)
	f.Log = driver.Warnings(log.Info + own.Info)
	shared := 0
	for _, l := range w.Launches {
		if err = errors.Join(err, p.look(&f, m, l.Kernel)); l.Shared > shared {
			shared = l.Shared
		}
	}
	f.SharedBytes += shared
	if err = errors.Join(err, ctx.ModuleUnload(m)); err != nil {
		f.Error = err.Error()
	}
	return f
}
