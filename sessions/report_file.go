package sessions

import (
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// originOf tells what an engine file says of its making.
func originOf(m *Model) *report.Origin {
	o := m.Engine.Origin
	return &report.Origin{Program: o.Program, Commit: o.Commit, Built: o.Built, Model: o.Model, ModelHash: o.ModelHash, Config: o.Config, Data: o.Data,
		Backend: o.Backend, Device: o.Device, Source: !m.Stripped}
}

// NewFileReport tells what an engine file holds; nil where there is none yet.
func NewFileReport(c run.Contents) *report.File {
	if c.Bytes() == 0 {
		return nil
	}
	return &report.File{Bytes: c.Bytes(), Source: c.Source, Plans: c.Plans, Code: c.Code, Description: c.Description}
}
