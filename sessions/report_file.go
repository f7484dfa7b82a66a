package sessions

import "github.com/trtui/trtui/core/run"

// FileReport tells of what an engine file consists, in bytes.
type FileReport struct {
	Bytes       int `unit:"bytes" output:"file"`
	Source      int `unit:"bytes" output:"source_weights"` // of the source network, which the engine can be compared with and built anew from
	Plans       int `unit:"bytes" output:"plan_weights"`   // of the plan, that the source does not have so
	Code        int `unit:"bytes" output:"kernels"`        // compiled for the target
	Description int `unit:"bytes"`                         // networks, plan with every tactic that was considered, report
}

// NewFileReport tells what an engine file holds; nil where there is none yet.
func NewFileReport(c run.Contents) *FileReport {
	if c.Bytes() == 0 {
		return nil
	}
	return &FileReport{Bytes: c.Bytes(), Source: c.Source, Plans: c.Plans, Code: c.Code, Description: c.Description}
}
