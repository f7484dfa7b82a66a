package networks

import (
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/kernels/cuda"
)

// Setup says what becomes of a model in one check.
type Setup struct {
	// Onnxruntime compares the layers' definition with onnxruntime's result; nothing is built, and the other fields are unused.
	Onnxruntime bool     `json:",omitempty"`
	Simulated   string   `json:",omitempty"` // the simulated GPU that it runs on; "" for the processor
	Features    string   `json:",omitempty"` // the processor's vector instructions; "" for all that it has
	Threads     int      `json:",omitempty"`
	Precision   string   `json:",omitempty"` // fp32, fp16, int8
	Calibrator  string   `json:",omitempty"`
	Tokens      string   `json:",omitempty"` // symmetric or asymmetric: ranges by token for products of rows; "" for none
	Disable     []string `json:",omitempty"` // rules and passes
	Tactics     uint64   `json:",omitempty"` // seed of the prices by which tactics are chosen; 0 is the best guess
	File        bool     `json:",omitempty"` // the engine is written and read between
	Extents     uint64   `json:",omitempty"` // seed of other values of the open axes, which may contradict each other; 0: the model's
}

// processor returns what the setup computes on.
func (s Setup) processor() processor {
	if s.Simulated != "" {
		return gpu
	}
	return cpuOrOracle
}

// RandomSetups returns what a model of that seed goes through.
func RandomSetups(seed uint64, features []string) []Setup {
	rnd := rand.New(rand.NewPCG(seed, 12))
	list := []Setup{{Onnxruntime: true}}
	for _, p := range []string{"fp32", "fp16", "int8"} {
		if p != "fp32" && rnd.IntN(2) == 0 {
			continue
		}
		s := Setup{Precision: p, Threads: 1 + rnd.IntN(3), Features: features[rnd.IntN(len(features))], File: rnd.IntN(4) == 0}
		if p == "int8" {
			kinds := quant.Calibrators()
			s.Calibrator = kinds[rnd.IntN(len(kinds))].Name
			s.Tokens = []string{"", "", "symmetric", "asymmetric"}[rand.New(rand.NewPCG(seed, 13)).IntN(4)]
		}
		if rnd.IntN(3) > 0 {
			s.Tactics = 1 + rnd.Uint64N(1<<30)
		}
		if rnd.IntN(3) == 0 {
			for _, rule := range rules() {
				if rnd.IntN(4) == 0 {
					s.Disable = append(s.Disable, rule)
				}
			}
		}
		list = append(list, s)
		if rnd.IntN(simulated) == 0 {
			s.Simulated, s.Features = gpus[rnd.IntN(len(gpus))], ""
			list = append(list, s)
			s.Simulated = ""
		}
		if p == "fp32" {
			s.Extents = 1 + rnd.Uint64N(1<<30)
			list = append(list, s)
		}
	}
	return list
}

// simulated says that one of so many engines is built for a simulated GPU, too, where a launch takes long.
const simulated = 12

// gpus are the devices that are simulated.
var gpus = cuda.SimulatedDevices()

// rules returns the names of all passes and rules that can be switched off.
func rules() []string {
	var names []string
	for _, p := range append(passes.Standard(), passes.Lowering()...) {
		names = append(append(names, p.Name), p.Rules...)
	}
	return names
}
