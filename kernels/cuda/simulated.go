package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// OpenSimulator returns the backend "cudasim" as the usual device: the kernels that a GPU gets, run by the simulator of PTX.
// Its times are estimates, and it does wrong what FaultVariable says.
func OpenSimulator() (*Backend, error) { return OpenSimulated(0) }

// OpenSimulated is OpenSimulator for one of SimulatedDevices.
func OpenSimulated(device int) (*Backend, error) {
	faults, err := readFaults()
	if err != nil {
		return nil, err
	}
	d := simulator.Devices[device].Device
	b, err := OpenSimulatorOn(func() (driver.Context, error) { return Simulate(d), nil })
	if err == nil {
		b.ail(faults)
	}
	return b, err
}

// SimulatedDevices names the devices that can be simulated, the usual one first.
func SimulatedDevices() []string {
	var names []string
	for _, d := range simulator.Devices {
		names = append(names, d.Name)
	}
	return names
}

// OpenSimulatorOn returns the backend "cudasim" over what open returns, now and whenever the device is to start anew: a
// context of Simulate, or something around one that records its calls or lets them fail.
func OpenSimulatorOn(open func() (driver.Context, error)) (*Backend, error) {
	ctx, err := open()
	if err != nil {
		return nil, err
	}
	b := New(ctx, "cudasim")
	b.info.Estimated, b.open = true, open
	return b, nil
}

// Simulate returns the context of a simulated device with such figures, whose launches take what the cost model makes of
// what they did.
func Simulate(d driver.Device) *simulator.Context {
	return simulator.New(d, simulator.Options{Time: newMachine(d).estimate})
}

// estimate is the time of a launch by what it did: instructions, 32-bit arithmetic, products of tensor cores, and bytes of
// either memory. The busiest of them counts.
func (m machine) estimate(s *ptxsim.Stats) time.Duration {
	if s.Blocks == 0 {
		return launchOverhead
	}
	cycles := max(
		float64(s.Instructions)*32/emit.ThreadsPerCycle,
		float64(s.Floats)/m.rates.of[emit.SimtF32],
		float64(s.MACs)/m.rates.of[emit.TensorF16]+float64(s.ByteMACs)/m.rates.of[emit.TensorI8],
		float64(s.SharedRead+s.SharedWrite)/emit.SharedBytesPerCycle,
	) / float64(s.Blocks)
	return m.time(emit.Job{
		Blocks: s.Blocks, Resident: min(max(1, s.Occupancy), 8), Cycles: cycles, Latency: 1000 + 2*cycles,
		Bytes: float64(s.GlobalRead + s.GlobalWrite),
	})
}

// assembled puts what NVIDIA's assembler says for a simulated device in the place of what the simulator knows: registers and
// spills, and the blocks of an SM that come of them. Where there is no assembler the explanation stays as it is.
func assembled(e *kernels.Explanation, d driver.Device) error {
	tool, err := ptxas.Find()
	if errors.Is(err, ptxas.ErrNotInstalled) {
		return nil
	}
	if err != nil {
		return err
	}
	target := fmt.Sprintf("sm_%d", d.SM)
	if d.SM == 90 {
		target += "a" // of all devices that there are
	}
	a, err := tool.Assemble(context.Background(), target, e.Text)
	if err != nil {
		return err
	}
	sm := ptxsim.SMOf(ptx.Target{SM: d.SM})
	for i := range e.Launches {
		l := &e.Launches[i]
		for _, k := range a.Kernels {
			if k.Name != l.Function {
				continue
			}
			l.Registers, l.SpillBytes = k.Registers, &k.Stack
			l.Resident = sm.Occupancy(l.Block[0]*l.Block[1]*l.Block[2], k.Registers, l.SharedBytes)
		}
	}
	e.Compiler = fmt.Sprintf("ptxas %s for %s", tool.Release, target)
	return nil
}
