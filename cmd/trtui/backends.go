package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

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

// deviceFlag adds --device to a command.
func (o *options) deviceFlag(c *cobra.Command) {
	var of []string
	for _, b := range o.table {
		if b.devices != nil {
			of = append(of, "of "+b.name+": "+strings.Join(b.devices, ", "))
		}
	}
	c.Flags().StringVar(&o.device, "device", "", "which device is simulated, "+strings.Join(of, "; "))
}

// checkDevice refuses a --device that none of the backends has which are asked for.
func (o *options) checkDevice(backends ...string) error {
	if o.device == "" {
		return nil
	}
	var has, lists []string
	for _, b := range o.table {
		if b.devices == nil {
			continue
		}
		has = append(has, b.name)
		if !slices.Contains(backends, b.name) {
			continue
		}
		if slices.Contains(b.devices, o.device) {
			return nil
		}
		lists = append(lists, b.name+" has "+strings.Join(b.devices, ", "))
	}
	if lists == nil {
		return usageError{fmt.Errorf("--device %s: it chooses a device of --backend %s, which was not given", o.device, strings.Join(has, " or "))}
	}
	return usageError{fmt.Errorf("--device %q: %s", o.device, strings.Join(lists, "; "))}
}

// openBackend opens a backend by name.
func (o *options) openBackend(name string) (run.Backend, error) {
	row, device, err := findBackend(o.table, "backend", name)
	if err != nil {
		return nil, err
	}
	if o.device != "" && row.devices != nil {
		if err := o.checkDevice(name); err != nil {
			return nil, err
		}
		device = slices.Index(row.devices, o.device)
	}
	b, err := row.open(device, o.threads)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", name, err)
	}
	if err := o.limitMemory(b); err != nil {
		b.Close()
		return nil, err
	}
	// What a simulated device compiles is the text again: it is kept where that is asked for.
	if gpu, ok := b.(*cuda.Backend); ok && o.codes != "" && o.codes != "none" && (row.native || o.changed("code-cache")) {
		gpu.KeepCode(o.codes)
	}
	return b, nil
}

// registerCodes adds the flag that says where compiled code is kept, and that the other flags were registered with.
func (o *options) registerCodes(c *cobra.Command) {
	f := c.Flags()
	o.changed = func(flags ...string) bool { return slices.ContainsFunc(flags, f.Changed) }
	f.StringVar(&o.codes, "code-cache", ownCache("code"), "folder of code compiled for GPUs, which other runs need not compile; \"none\" for none; a simulated GPU has none by default")
}

// openDevices opens the backend that was asked for and, if that is another one, the host, which is the table's first.
func (o *options) openDevices(name string) (device, host run.Backend, closeAll func(), err error) {
	if device, err = o.openBackend(name); err != nil {
		return nil, nil, nil, err
	}
	if name == o.table[0].name {
		return device, nil, func() { device.Close() }, nil
	}
	if host, err = o.openBackend(o.table[0].name); err != nil {
		device.Close()
		return nil, nil, nil, err
	}
	return device, host, func() { device.Close(); host.Close() }, nil
}
