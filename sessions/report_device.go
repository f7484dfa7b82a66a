package sessions

import (
	"runtime"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// BackendHead returns the head of documents that are about no model: on a backend, or on the layers' own definition, which
// nil stands for.
func BackendHead(name string, b run.Backend) report.Head {
	d := definition(name)
	if b != nil {
		d = deviceReport(b)
	}
	return report.Head{Device: &d}
}

// definition describes the reference evaluation.
func definition(name string) report.Device {
	return report.Device{Backend: name, Device: "the layers' own definition"}
}

// deviceReport describes a backend.
func deviceReport(b run.Backend) report.Device {
	info := b.Info()
	d := report.Device{Backend: info.Name, Device: info.Device, Threads: info.Threads, Fingerprint: info.Fingerprint, Estimated: info.Estimated}
	if info.Threads > 0 {
		d.Processors = runtime.NumCPU()
	}
	return d
}
