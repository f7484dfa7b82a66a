package sessions

import (
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Head returns the head of documents on a configuration, nil for several of them.
func (r *Runner) Head(cfg *config.Config) report.Head {
	s := r.stages
	device := deviceReport(s.Backend)
	h := report.Head{Model: s.model.head(), Device: &device, Config: cfg}
	if s.Data != nil {
		h.Data = &report.DataHead{Name: s.Data.Name(), Random: s.Data.Random(), Items: s.Data.Len()}
		_, h.Data.Labelled = s.Data.Label(0)
		if s.CalData != nil {
			h.Data.CalItems = s.calibrationItems()
		}
	}
	return h
}

// Head says which model a document without a configuration is about.
func (m *Model) Head() report.Head { return report.Head{Model: m.head()} }

func (m *Model) head() *report.ModelHead {
	return &report.ModelHead{Name: m.Name(), Graph: m.Network.Name, Path: m.Path, Kind: m.kind(), Bytes: m.Bytes, SHA256: m.SHA256}
}

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
	return report.Device{Backend: info.Name, Device: info.Device, Threads: info.Threads, Fingerprint: info.Fingerprint, Estimated: info.Estimated}
}
