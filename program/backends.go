package program

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/kernels/cuda"
)

// backend is a kind of device that --backend and --backends can name.
type backend struct {
	name string
	doc  string
	many bool // there may be several: NAME:1 is the second one
	open func(device, threads int) (run.Backend, error)

	devices []string // that --device names, the usual one first; nil where they have numbers

	native bool // real hardware beside the processor, which may hang, or take the process with it
}

// backends are the devices of this program; the first one runs what does not depend on the device, too: the FP32
// reference and the collection of activations.
var backends = []backend{
	{name: "cpu", doc: "this machine's processors", open: openCPU},
	{name: "cuda", doc: "an NVIDIA GPU", many: true, native: true, open: func(device, _ int) (run.Backend, error) { return cuda.Open(device) }},
	{name: "cudasim", doc: "a simulated NVIDIA GPU", devices: cuda.SimulatedDevices(), open: func(device, _ int) (run.Backend, error) {
		return cuda.OpenSimulated(device)
	}},
}

// cpuFeatures is the environment variable that limits the processor to fewer vector instructions than it has: with those
// of another machine its plans and timing cache can be reproduced.
const cpuFeatures = "TRTUI_CPU_FEATURES"

func openCPU(_, threads int) (run.Backend, error) {
	features := os.Getenv(cpuFeatures)
	if features == "" {
		return cpu.Open(threads), nil
	}
	b, err := cpu.OpenLimited(threads, features)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", cpuFeatures, features, err)
	}
	return b, nil
}

// Where a device is simulated an inference takes a moment: so many items are compared, and on so many every layer.
const (
	fewItems = 8
	fewTaps  = 2
)

// backendNames lists the names that a command line may use.
func backendNames(table []backend) string {
	var names []string
	for _, b := range table {
		names = append(names, b.name)
		if b.many {
			names = append(names, b.name+":N")
		}
	}
	return strings.Join(names, ", ")
}

// backendUsage is the description of --backend.
func backendUsage(table []backend) string {
	var lines []string
	for _, b := range table {
		name := b.name
		if b.many {
			name += "[:N]"
		}
		lines = append(lines, name+" ("+b.doc+")")
	}
	return strings.Join(lines, ", ")
}

// findBackend returns the table's row for a name, and which of its devices is meant. flag is where the name was given, and
// others are names that it takes beside the table's, which no row opens.
func findBackend(table []backend, flag, name string, others ...string) (backend, int, error) {
	if slices.Contains(others, name) {
		return backend{name: name}, 0, nil
	}
	kind, ordinal, numbered := strings.Cut(name, ":")
	for _, b := range table {
		if b.name != kind {
			continue
		}
		if !numbered {
			return b, 0, nil
		}
		device, err := strconv.Atoi(ordinal)
		if !b.many || err != nil || device < 0 {
			break
		}
		return b, device, nil
	}
	return backend{}, 0, usageError{fmt.Errorf("--%s %q: this program has %s", flag, name, strings.Join(append([]string{backendNames(table)}, others...), ", "))}
}
