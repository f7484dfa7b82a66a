package stages

import (
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// ProgressInterval is how often progress and live timings are published at most: ten times a second.
const ProgressInterval = 100 * time.Millisecond

// Audience is who is told what is being done. All parts of a workplace tell the same.
type Audience struct {
	Progress func(report.Progress)
	Warned   func(text string) // nil: nobody is
	Log      *Journal
}

// Warn tells what a person should know of work that succeeds.
func (a *Audience) Warn(text string) {
	if a.Warned != nil {
		a.Warned(text)
	}
}
