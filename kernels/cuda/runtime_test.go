package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// small is a fully connected layer, ReLU, softmax.
func small(t testing.TB) *graph.Network {
	t.Helper()
	d := graph.Define("small")
	x := d.Input("x", numeric.F32, symbolic.Const(2), symbolic.Const(16))
	w := make([]float32, 8*16)
	for i := range w {
		w[i] = float32(i*i%13)/8 - 0.75
	}
	y := d.Relu(d.FullyConnected(x, d.Weights("w", w, 8, 16), d.Weights("b", make([]float32, 8), 8)))
	d.Output("y", d.Softmax(y, 1))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func smallInput() numeric.Value {
	x := numeric.NewValue(numeric.F32, 2, 16)
	for i := range x.F32() {
		x.F32()[i] = float32(i*31%17)/4 - 2
	}
	return x
}

// planned returns the backend's plan of the small network.
func planned(t testing.TB, b *Backend) *run.Plan {
	t.Helper()
	p, err := run.NewPlan(t.Context(), small(t), nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ready loads a plan and makes a context, which are closed when the test ends.
func ready(t testing.TB, b run.Backend, p *run.Plan) *run.ExecutionContext {
	t.Helper()
	_, c := loaded(t, b, p)
	return c
}

// loaded is ready with the engine.
func loaded(t testing.TB, b run.Backend, p *run.Plan) (*run.Loaded, *run.ExecutionContext) {
	t.Helper()
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return l, c
}

// cycle is a plan's whole life on a backend: loaded, run, run with times, closed.
func cycle(b *Backend, p *run.Plan) error {
	l, err := run.Load(context.Background(), p, b)
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetInput("x", smallInput()); err != nil {
		return err
	}
	for range 2 {
		if err := c.Execute(); err != nil {
			return err
		}
	}
	if _, err := c.ExecuteTimed(make([]time.Duration, len(p.Steps))); err != nil {
		return err
	}
	_, err = c.Output("y")
	return err
}

// fake is a backend on a device that runs nothing, whose calls are recorded and can be made to fail.
type fake struct {
	*Backend
	calls  *drivertest.Recorder
	memory *drivertest.Memory
}

func newFake(d driver.Device) *fake {
	f := &fake{memory: drivertest.New(d)}
	f.calls = drivertest.Record(f.memory)
	f.Backend = New(f.calls, "fake")
	f.Backend.open = func() (driver.Context, error) {
		f.memory = drivertest.New(d)
		f.calls = drivertest.Record(f.memory)
		return f.calls, nil
	}
	return f
}

// clean says what an error must name: the layer and the tactic, or what was to be allocated or copied.
var clean = regexp.MustCompile(`layer .+: tactic |^arena of activations: |^memory of inputs and outputs: |^constants: |^free memory of |^stream on |` +
	`^input x: |^tensor \S+: |^graph of \d+ steps of network small: |^times of steps: `)

// backward are the methods that give something back: a failure there need not be anyone's error, and leaves one thing
// behind.
func backward(method string) bool {
	return strings.Contains(method, "Destroy") || strings.Contains(method, "Free") || method == "ModuleUnload"
}

// TestEveryFailure fails each call of a plan's life in turn, with results of three kinds, out of memory, refused, and lost,
// and with a few others that change from call to call; with all of them where TRTUI_SIM is "full". Whatever it is, the
// error says where, nothing is left behind, and the next life is as the first one; after a loss, once the device has
// started anew.
func TestEveryFailure(t *testing.T) {
	f := newFake(drivertest.Device())
	p := planned(t, f.Backend)
	f.calls.Reset() // of planning
	if err := cycle(f.Backend, p); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, c := range f.calls.Calls() {
		counts[c.Method]++
	}
	t.Logf("%d calls of %d methods", len(f.calls.Calls()), len(counts))
	var all []driver.Result
	turn := 0
	for r := driver.Result(1); r < 1000; r++ {
		if r.Name() != "" {
			all = append(all, r)
		}
	}
	for _, method := range slices.Sorted(maps.Keys(counts)) {
		for n := 1; n <= counts[method]; n++ {
			results := []driver.Result{driver.OutOfMemory, driver.InvalidValue, driver.IllegalAddress}
			for range 3 {
				results = append(results, all[turn%len(all)])
				turn++
			}
			if os.Getenv("TRTUI_SIM") == "full" {
				results = all
			}
			for _, r := range results {
				last := method == "StreamSynchronize" && n == counts[method] // of Close, when all is done
				if err := failure(p, method, n, r, last || backward(method)); err != nil {
					t.Errorf("%s, call %d: %v: %v", method, n, r, err)
				}
			}
		}
	}
}

// failure makes one call fail; quietly says that it may go unnoticed.
func failure(p *run.Plan, method string, n int, r driver.Result, quietly bool) error {
	f := newFake(drivertest.Device())
	f.calls.Fail(method, n, r)
	err := cycle(f.Backend, p)
	var e *driver.Error
	sticky := (&driver.Error{Result: r}).Sticky()
	switch {
	case err == nil && (quietly || method == "ModuleLoad" || method == "Link"): // there is another way to load code
	case err == nil && r == driver.NotReady && method == "EventElapsed": // that is asked again
	case err == nil:
		return errors.New("it went unnoticed")
	case !errors.As(err, &e) || e.Result != r:
		return fmt.Errorf("it became %w", err)
	case !clean.MatchString(err.Error()):
		return fmt.Errorf("the error does not say where: %w", err)
	case f.Lost(err) != sticky:
		return fmt.Errorf("lost: %v; %w", f.Lost(err), err)
	}
	if left := f.memory.Live(); !sticky && (len(left) > 1 || len(left) == 1 && !backward(method)) {
		return fmt.Errorf("left behind: %v", left)
	}
	if sticky {
		if err := f.Recover(); err != nil {
			return fmt.Errorf("the device does not start anew: %w", err)
		}
	}
	if err := cycle(f.Backend, p); err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	if left := f.memory.Live(); sticky && len(left) > 0 {
		return fmt.Errorf("the new context has left behind: %v", left)
	}
	if err := f.Backend.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// TestOutOfMemory asks for more than there is: the error tells what for, how much, and how much is free; smaller engines
// still load.
func TestOutOfMemory(t *testing.T) {
	f := newFake(drivertest.Device())
	p := planned(t, f.Backend)
	big := *p
	big.Memory.Peak = 2 << 30
	f.calls.Reset()
	_, err := run.Load(t.Context(), &big, f.Backend)
	want := regexp.MustCompile(`^the engine needs 2\.00 GiB \(weights [^;]*; arena 2\.00 GiB[^;]*; inputs and outputs [^;]*\), ` +
		`and fake \(.*\) has 1\.00 GiB of 1\.00 GiB free; layer \S+ takes most, [^;]*; choose fp16$`)
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("got %v, want %v", err, want)
	}
	if n := f.calls.Count("MemAlloc"); n > 0 || !errors.As(err, new(*run.NoRoom)) {
		t.Errorf("%d allocations, %T", n, err)
	}
	rest, err := f.Alloc(1<<30 - 512)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Load(t.Context(), p, f.Backend); err == nil || !strings.Contains(err.Error(), "end what else uses the device") {
		t.Errorf("on a device that is full: %v", err)
	}
	f.Free(rest)
	if err := cycle(f.Backend, p); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if left := f.memory.Live(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestRecoverRefuses keeps something of a lost device.
func TestRecoverRefuses(t *testing.T) {
	f := newFake(drivertest.Device())
	l, err := run.Load(t.Context(), planned(t, f.Backend), f.Backend)
	if err != nil {
		t.Fatal(err)
	}
	f.memory.Break(driver.LaunchFailed)
	if err := f.Recover(); err == nil || !strings.Contains(err.Error(), "still held") {
		t.Errorf("with an engine loaded: %v", err)
	}
	l.Close()
	if err := f.Recover(); err != nil {
		t.Error(err)
	}
}

// spoiled has a softmax that writes far past its tensors.
type spoiled struct{ *Backend }

func (s spoiled) Tactics(op *graph.Op) []kernels.Tactic {
	list := slices.Clone(s.Backend.Tactics(op))
	for i := range list {
		if op == graph.Softmax {
			list[i].Bind = func(kernels.Binding) (kernels.Kernel, error) {
				m, err := ptx.Parse(strings.Replace(drivertest.Text, "setp.ge.u32 %p1, %r6, %r2;", "setp.lt.u32 %p1, %r6, 0;", 1))
				if err != nil {
					return nil, err
				}
				return s.Bind(&emit.Work{Module: m, Launches: []emit.Launch{{
					Kernel: "add", Grid: [3]int{100, 1, 1}, Block: [3]int{128, 1, 1}, Args: []emit.Arg{emit.InArg(0), emit.UintArg(1), emit.UintArg(0)},
				}}})
			}
		}
	}
	return list
}

// TestFaultNamesTheLayer runs a graph with a kernel that does wrong: the error names the layer, and the line.
func TestFaultNamesTheLayer(t *testing.T) {
	b := spoiled{simulated(t)}
	p := planned(t, b.Backend)
	c := ready(t, b, p)
	for range 2 {
		if _, err := once(c); err == nil || !regexp.MustCompile(`^layer .*Softmax: tactic \S+: .*line \d+: .*out of bounds`).MatchString(err.Error()) {
			t.Errorf("got %v", err)
		}
	}
}
