package faults

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// The calls of a driver that may fail, and any of them.
var driverCalls = []string{
	"MemAlloc", "MemHostAlloc", "MemFree", "MemFreeHost", "MemGetInfo", "MemcpyHtoDAsync", "MemcpyDtoHAsync", "MemsetD8Async",
	"ModuleLoad", "Link", "ModuleUnload", "ModuleGetFunction", "FuncAttributes", "FuncSetMaxDynamicShared", "LaunchKernel",
	"StreamCreate", "StreamDestroy", "StreamSynchronize", "EventCreate", "EventDestroy", "EventRecord", "EventRecordExternal",
	"EventSynchronize", "EventElapsed", "Capture", "EndCapture", "GraphInstantiate", "GraphUpload", "GraphLaunch", "GraphDestroy",
	"GraphExecDestroy", anyCall,
}

const anyCall = "*"

// results are what calls that fail end with: refusals, and losses of the device.
var results = []driver.Result{
	driver.OutOfMemory, driver.OutOfMemory, driver.InvalidValue, driver.LaunchOutOfResource, driver.NotSupported, driver.InvalidHandle,
	driver.IllegalAddress, driver.LaunchFailed, driver.ECCUncorrectable,
}

// drawDriver returns a random schedule of a driver's calls: early calls fail as often as late ones.
func drawDriver(rnd *rand.Rand) schedule {
	s := schedule{Call: driverCalls[rnd.IntN(len(driverCalls))], First: rnd.IntN(1 << rnd.IntN(10)), Result: results[rnd.IntN(len(results))]}
	if rnd.IntN(3) == 0 {
		s.Often, s.Chance = true, []float64{1, 0.5, 0.1, 0.01}[rnd.IntN(4)]
	}
	return s
}

// gpu is the simulated GPU over a driver that fails as its schedule says.
type gpu struct {
	*cuda.Backend
	schedule schedule

	mu       sync.Mutex
	rnd      *rand.Rand
	calls    int // of the schedule's kind
	failed   int
	stranded int // calls that were to give something back and failed
	broken   bool
	sound    bool
	now      *simulator.Context
}

func newGPU(s schedule, seed uint64) (*gpu, error) {
	g := &gpu{schedule: s, rnd: rand.New(rand.NewPCG(seed, 43))}
	b, err := cuda.OpenSimulatorOn(func() (driver.Context, error) {
		c := cuda.Simulate(simulator.Device())
		g.now, g.stranded, g.broken = c, 0, false
		r := drivertest.Record(c)
		r.Judge = g.judge
		return r, nil
	})
	g.Backend = b
	return g, err
}

// gives reports whether a call gives something back.
func gives(method string) bool {
	return strings.Contains(method, "Destroy") || strings.Contains(method, "Free") || method == "ModuleUnload"
}

// judge says how a call ends.
func (g *gpu) judge(method string) driver.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.schedule
	if g.sound || method == "Close" || s.Call != anyCall && s.Call != method {
		return driver.Success
	}
	n := g.calls
	g.calls++
	if n < s.First || n > s.First && !(s.Often && g.rnd.Float64() < s.Chance) {
		return driver.Success
	}
	g.failed++
	if gives(method) {
		g.stranded++
	}
	g.broken = g.broken || (&driver.Error{Result: s.Result}).Sticky()
	return s.Result
}

func (g *gpu) failures() int { return g.failed }

// mend lets nothing fail any more; a device that is lost stays so until it is opened anew.
func (g *gpu) mend() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sound = true
}

// left says what was not given back of what could be.
func (g *gpu) left() string {
	list := g.now.Live()
	if g.broken || len(list) <= g.stranded {
		return ""
	}
	slices.Sort(list)
	return fmt.Sprintf(" %d things, %d of which could not be given back: %s", len(list), g.stranded, strings.Join(slices.Compact(list), ", "))
}

func (g *gpu) says(text string) bool { return strings.Contains(text, g.schedule.Result.Name()) }

// ofKernels are the calls whose errors are to say whose kernel it is about.
var ofKernels = regexp.MustCompile("^(ModuleLoad|Link|ModuleGetFunction|FuncAttributes|FuncSetMaxDynamicShared|LaunchKernel)$")

func (g *gpu) ofKernel(string) bool { return ofKernels.MatchString(g.schedule.Call) }
func (g *gpu) loses() bool          { return (&driver.Error{Result: g.schedule.Result}).Sticky() }
func (g *gpu) panics() bool         { return false }
