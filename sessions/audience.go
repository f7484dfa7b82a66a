package sessions

import (
	"github.com/trtui/trtui/sessions/report"
)

// audience is who is told what is being done. All parts of a workplace tell the same.
type audience struct {
	progress func(report.Progress)
	warned   func(text string) // nil: nobody is
	log      *journal
}

// warn tells what a person should know of work that succeeds.
func (a *audience) warn(text string) {
	if a.warned != nil {
		a.warned(text)
	}
}
