package sessions

import (
	"github.com/trtui/trtui/sessions/report"
)

// Head says which model a document without a configuration is about.
func (m *Model) Head() report.Head { return report.Head{Model: m.head()} }

func (m *Model) head() *report.ModelHead {
	return &report.ModelHead{Name: m.Name(), Graph: m.Network.Name, Path: m.Path, Kind: m.kind(), Bytes: m.Bytes, SHA256: m.SHA256}
}
