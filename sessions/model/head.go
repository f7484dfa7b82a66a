package model

import (
	"github.com/trtui/trtui/sessions/report"
)

// Head says which model a document without a configuration is about.
func (m *Model) Head() report.Head {
	return report.Head{Model: &report.ModelHead{Name: m.Name(), Graph: m.Network.Name, Path: m.Path, Kind: m.Kind(), Bytes: m.Bytes, SHA256: m.SHA256}}
}
