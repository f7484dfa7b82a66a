package cuda

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
)

// elf is how a cubin begins.
const elf = "\x7fELF"

// compiler is a device of drivertest with a compiler: cubins are the text behind elf.
type compiler struct {
	*drivertest.Memory
	damaged bool // cubins are refused

	links, texts, cubins atomic.Int32  // calls
	busy, most           atomic.Int32  // compilations that run, and the most that ran at a time
	pause                time.Duration // of a compilation
	info                 string        // what it says
	spills               int
}

func newCompiler(sm int, version driver.Version) *compiler {
	d := drivertest.Device()
	d.SM, d.Driver = sm, version
	return &compiler{Memory: drivertest.New(d)}
}

func (c *compiler) Link(text []byte, o driver.JITOptions) ([]byte, driver.JITLog, error) {
	c.links.Add(1)
	now := c.busy.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	time.Sleep(c.pause)
	c.busy.Add(-1)
	out, _, err := c.Memory.Link(text, o)
	return append([]byte(elf), out...), driver.JITLog{Info: c.info}, err
}

func (c *compiler) ModuleLoad(image []byte, o driver.JITOptions) (driver.Module, driver.JITLog, error) {
	if !bytes.HasPrefix(image, []byte(elf)) {
		c.texts.Add(1)
	} else if c.cubins.Add(1); c.damaged {
		return 0, driver.JITLog{}, &driver.Error{Call: "cuModuleLoadDataEx", Result: driver.InvalidImage}
	}
	return c.Memory.ModuleLoad(image, o)
}

func (c *compiler) FuncAttributes(f driver.Function) (driver.FuncAttributes, error) {
	a, err := c.Memory.FuncAttributes(f)
	a.LocalBytes = c.spills
	return a, err
}

// TestCubinsLiveInTheEngine builds an engine on one device, writes and reads its file, and loads it on others.
func TestCubinsLiveInTheEngine(t *testing.T) {
	first := newCompiler(90, 12040)
	b := New(first, "first")
	p := planned(t, b)
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	p.Code = l.Code()
	l.Close()
	distinct := first.links.Load()
	if distinct == 0 || int(distinct) != len(p.Code) || first.texts.Load() > 0 {
		t.Fatalf("%d compilations, %d binaries in the plan, %d texts loaded", distinct, len(p.Code), first.texts.Load())
	}
	e := &run.Engine{Source: p.Network, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		device *compiler
		links  int32 // wanted
		texts  int32
	}{
		{"the same device", newCompiler(90, 12040), 0, 0},
		{"another driver", newCompiler(90, 13000), distinct, 0},
		{"another GPU", newCompiler(80, 12040), distinct, 0},
		{"damaged cubins", &compiler{Memory: drivertest.New(drivertest.Device()), damaged: true}, distinct, distinct},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, err := run.ReadEngine(graph.Ops(), file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			b := New(c.device, "second")
			if err := cycle(b, read.Plans[0]); err != nil {
				t.Fatal(err)
			}
			if got := c.device.links.Load(); got != c.links {
				t.Errorf("%d compilations, want %d", got, c.links)
			}
			if got := c.device.texts.Load(); got != c.texts {
				t.Errorf("%d texts were loaded, want %d", got, c.texts)
			}
			if left := c.device.Live(); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestCompilesInParallel counts compilations that run at the same time, and ends them early.
func TestCompilesInParallel(t *testing.T) {
	c := newCompiler(90, 12040)
	c.pause = 30 * time.Millisecond
	b := New(c, "fake")
	p := planned(t, b)
	if err := cycle(b, p); err != nil {
		t.Fatal(err)
	}
	if c.most.Load() < 2 {
		t.Logf("%d at a time: this machine has one processor", c.most.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := c.links.Load()
	if _, err := run.Load(ctx, p, New(c, "again")); !errors.Is(err, context.Canceled) || c.links.Load() > before {
		t.Errorf("a cancelled load: %v, %d compilations", err, c.links.Load()-before)
	}
}

// TestTuning tunes a network on a device that spills: everything is compiled once, before it is timed; the notes reach the
// candidates; and no module stays loaded.
func TestTuning(t *testing.T) {
	c := newCompiler(90, 12040)
	c.spills, c.info = 44, "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\nptxas info : Used 32 registers"
	b := New(c, "fake")
	var mu sync.Mutex
	ahead := map[int]int{} // by what is to be compiled for a round
	p, err := build.Plan(t.Context(), small(t), nil, b, build.PlanConfig{Compiling: func(done, of int) {
		mu.Lock()
		defer mu.Unlock()
		ahead[of] = max(ahead[of], done)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for total, done := range ahead {
		if done != total {
			t.Errorf("%d of %d were compiled ahead", done, total)
		}
	}
	if len(ahead) == 0 {
		t.Error("nothing was compiled ahead")
	}
	noted := 0
	for _, s := range p.Steps {
		for _, cand := range s.Candidates {
			if cand.Timed && strings.Contains(cand.Note, "spills 44 bytes; ptxas info : (C7508)") {
				noted++
			}
		}
	}
	if noted == 0 {
		t.Error("no candidate has the compiler's notes")
	}
	if n := b.codes.modules(); n > 0 {
		t.Errorf("%d modules stay loaded", n)
	}
	if left := c.Live(); left != nil {
		t.Errorf("left behind: %v", left)
	}
	links := c.links.Load()
	if err := cycle(b, p); err != nil {
		t.Fatal(err)
	}
	if c.links.Load() > links {
		t.Errorf("loading what was tuned compiled again: %d and %d times", links, c.links.Load())
	}
}

// TestSharedCode binds one layer twice: the module is loaded once, and unloaded with the second kernel.
func TestSharedCode(t *testing.T) {
	c := newCompiler(90, 12040)
	b := New(c, "fake")
	p := planned(t, b)
	first, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	loads := c.cubins.Load()
	second, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	if c.cubins.Load() > loads {
		t.Error("the modules were loaded twice")
	}
	first.Close()
	first.Close() // once more does nothing
	if b.codes.modules() == 0 {
		t.Error("modules in use were unloaded")
	}
	second.Close()
	if n := b.codes.modules(); n > 0 {
		t.Errorf("%d modules stay loaded", n)
	}
	if left := c.Live(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestBinariesAreBounded keeps more than there is room for.
func TestBinariesAreBounded(t *testing.T) {
	c := newCodeCache()
	big := make([]byte, maxBinaryBytes/4)
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		c.keep(key, compiled{cubin: big})
	}
	if len(c.binaries) != 4 || c.binaries["a"].cubin != nil || c.binaries["f"].cubin == nil || c.bytes > maxBinaryBytes {
		t.Errorf("%d binaries of %d bytes", len(c.binaries), c.bytes)
	}
	c.forget("d")
	if len(c.order) != 3 || c.bytes != 3*len(big) {
		t.Errorf("%d in order, %d bytes", len(c.order), c.bytes)
	}
}

// TestAdoptIgnoresOthers offers binaries of other devices.
func TestAdoptIgnoresOthers(t *testing.T) {
	b := New(newCompiler(90, 12040), "fake")
	other := newCompiler(80, 12040).Device()
	b.Adopt([]kernels.Code{{Key: codeKey(other, "x"), Data: []byte("y")}, {Key: "", Data: []byte("z")}})
	if len(b.codes.binaries) > 0 {
		t.Error("foreign binaries were taken")
	}
}
