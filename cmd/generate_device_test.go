package cmd

import (
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/simulator"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
)

// A language model's engines are built without anything staying on the device, whatever data the session beside it has; where the
// device is lost meanwhile it starts anew.
func TestLanguageBuilderGivesBack(t *testing.T) {
	for _, lost := range []bool{false, true} {
		var now *simulator.Context
		b, err := cuda.OpenSimulatorOn(func() (driver.Context, error) {
			r := drivertest.Record(cuda.Simulate(simulator.Device()))
			if lost && now == nil {
				r.Fail("MemAlloc", 1, driver.IllegalAddress)
			}
			now = r.Context.(*simulator.Context)
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		o := &generateFlags{modelFlags: *onBackends(tables{backends: append(backends[:1:1], backend{name: "gpu", open: func(int, int) (run.Backend, error) { return b, nil }})})}
		o.device.backend = "gpu"
		m, err := o.openModel(filepath.Join("..", "sessions", "generate", "testdata", "llama.onnx"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.workshop(m)
		if err != nil {
			t.Fatal(err)
		}
		shapes := func(length, past int) map[string][]int {
			all := map[string][]int{}
			for _, in := range m.Network.Inputs {
				switch {
				case in.Name == "attention_mask":
					all[in.Name] = []int{1, past + length}
				case len(in.Dims) == 2:
					all[in.Name] = []int{1, length}
				default:
					all[in.Name] = []int{1, 2, past, 8}
				}
			}
			return all
		}
		env, err := m.Network.BindShapes(shapes(3, 2))
		if err != nil {
			t.Fatal(err)
		}
		set, err := dataset.Random(m.Network.Inputs, env, 1, 1)
		if err == nil {
			p.work.Data, err = set.Bind(m.Network.Inputs)
		}
		if err != nil {
			t.Fatal(err)
		}
		e, err := languageBuilder(p, config.Default(), learned{}, nil)(t.Context(), m.Network, shapes(1, 4))
		if err != nil || len(e.Any().Code) == 0 {
			t.Errorf("lost %v: %v", lost, err)
		}
		if left := now.Live(); len(left) > 0 {
			t.Errorf("lost %v: %d things are left: %v", lost, len(left), left)
		}
		p.close()
	}
}
