package describe

import (
	"runtime"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Backend returns the head of documents that are about no model: on a backend, or on the layers' own definition, which
// nil stands for.
func Backend(name string, b run.Backend) report.Head {
	d := Definition(name)
	if b != nil {
		d = Device(b)
	}
	return report.Head{Device: &d}
}

// Definition describes the reference evaluation.
func Definition(name string) report.Device {
	return report.Device{Backend: name, Device: "the layers' own definition"}
}

// Device describes a backend.
func Device(b run.Backend) report.Device {
	info := b.Info()
	d := report.Device{Backend: info.Name, Device: info.Device, Threads: info.Threads, Fingerprint: info.Fingerprint, Estimated: info.Estimated}
	if info.Threads > 0 {
		d.Processors = runtime.NumCPU()
	}
	return d
}
