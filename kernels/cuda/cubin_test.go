package cuda

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// recorded is a simulated device of some figures whose calls are recorded.
func recorded(t *testing.T, d driver.Device) (*Backend, *drivertest.Recorder) {
	t.Helper()
	s := Simulate(d)
	calls := drivertest.Record(s)
	b, err := OpenSimulatorOn(func() (driver.Context, error) { return calls, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := s.Live(); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		b.Close()
	})
	return b, calls
}

// TestSimulatedCubins builds an engine, writes and reads its file, and runs it on the same device, on others, and with its
// compiled code damaged: what is stale is compiled again, what is not is loaded, and the outputs are the same.
func TestSimulatedCubins(t *testing.T) {
	usual := simulator.Device()
	b, calls := recorded(t, usual)
	p := planned(t, b)
	want, code := outputOf(t, b, p)
	p.Code = code
	distinct := calls.Count("Link")
	if distinct == 0 || len(code) != distinct {
		t.Fatalf("%d compilations, %d binaries in the plan", distinct, len(code))
	}
	file := engineFile(t, p)
	newer, older, other := usual, usual, usual
	newer.Driver, older.Driver, other.SM = 13000, 11040, 90
	for _, c := range []struct {
		name   string
		device driver.Device
		change func(code []kernels.Code)
		links  int // wanted
		loads  int
	}{
		{"the same device", usual, nil, 0, distinct},
		{"a newer driver", newer, nil, distinct, distinct},
		{"an older driver", older, nil, distinct, distinct},
		{"another GPU", other, nil, distinct, distinct},
		{"a damaged cubin", usual, func(code []kernels.Code) { code[0].Data[len(code[0].Data)-3] ^= 1 }, 1, distinct + 1},
		{"a cubin cut off", usual, func(code []kernels.Code) { code[0].Data = code[0].Data[:9] }, 1, distinct + 1},
		{"a cubin of another GPU under this one's key", usual, func(code []kernels.Code) {
			code[0].Data = bytes.Replace(code[0].Data, []byte("sm_80"), []byte("sm_90"), 1)
		}, 1, distinct + 1},
		{"a cubin of a newer compiler under this one's key", usual, func(code []kernels.Code) {
			code[0].Data = bytes.Replace(code[0].Data, []byte("compiler 12000"), []byte("compiler 13000"), 1)
		}, 1, distinct + 1},
		{"no cubins", usual, func(code []kernels.Code) { clear(code) }, distinct, distinct},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, err := run.ReadEngine(graph.Ops(), bytes.Clone(file))
			if err != nil {
				t.Fatal(err)
			}
			p := read.Plans[0]
			for i := range p.Code {
				p.Code[i].Data = bytes.Clone(p.Code[i].Data)
			}
			if c.change != nil {
				c.change(p.Code)
			}
			b, calls := recorded(t, c.device)
			got, again := outputOf(t, b, p)
			if !bytes.Equal(got, want) {
				t.Error("the outputs differ")
			}
			if links, loads := calls.Count("Link"), calls.Count("ModuleLoad"); links != c.links || loads != c.loads {
				t.Errorf("%d compilations and %d modules, want %d and %d", links, loads, c.links, c.loads)
			}
			if len(again) != distinct || !strings.HasSuffix(again[0].Key, "driver "+c.device.Driver.String()) {
				t.Errorf("%d binaries, the first is %s", len(again), again[0].Key)
			}
		})
	}
}

// engineFile returns the file of an engine of one plan.
func engineFile(t *testing.T, p *run.Plan) []byte {
	t.Helper()
	e := &run.Engine{Source: p.Network, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// outputOf runs a plan once and returns its output and its compiled code.
func outputOf(t *testing.T, b *Backend, p *run.Plan) ([]byte, []kernels.Code) {
	t.Helper()
	l, c := loaded(t, b, p)
	y, err := once(c)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(y.Data), l.Code()
}

// invalid has a softmax whose code reads a parameter as if it were in global memory.
type invalid struct{ *Backend }

func (v invalid) Tactics(op *graph.Op) []kernels.Tactic {
	list := slices.Clone(v.Backend.Tactics(op))
	for i := range list {
		if op == graph.Softmax {
			list[i].Bind = func(kernels.Binding) (kernels.Kernel, error) {
				m, err := ptx.Parse(strings.Replace(drivertest.Text, "ld.global.u32 %r7, [%rd4]", "ld.global.u32 %r7, [add_p]", 1))
				if err != nil {
					return nil, err
				}
				return v.Bind(&emit.Work{Module: m})
			}
		}
	}
	return list
}

// TestCheckedBeforeCompiling: code that the validator refuses never reaches the driver; the error names layer and tactic.
func TestCheckedBeforeCompiling(t *testing.T) {
	b, _ := recorded(t, simulator.Device())
	p := planned(t, b)
	_, err := run.Load(t.Context(), p, invalid{b})
	if err == nil || !regexp.MustCompile(`^layer .*Softmax: tactic \S+: ptx: kernel `).MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
	if errors.As(err, new(*driver.Error)) {
		t.Errorf("it is the driver's error: %v", err)
	}
}
