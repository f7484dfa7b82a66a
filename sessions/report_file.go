package sessions

import (
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// NewFileReport tells what an engine file holds; nil where there is none yet.
func NewFileReport(c run.Contents) *report.File {
	if c.Bytes() == 0 {
		return nil
	}
	return &report.File{Bytes: c.Bytes(), Source: c.Source, Plans: c.Plans, Code: c.Code, Description: c.Description}
}
