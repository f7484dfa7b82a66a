package pane

import "github.com/trtui/trtui/sessions/report"

// Fact is what a pane states and a flag or a command helps with. Which one it is, panes do not know: the hint of the workbench says it.
type Fact interface{ fact() }

type (
	// LabelsOff is that labels seem to be off by one: so much would have to be added to each.
	LabelsOff struct{ By int }
	// ConfigSaved is that a configuration is in a file.
	ConfigSaved struct{ Path string }
	// Advised is that something would help which no key does.
	Advised struct{ Remedy report.Remedy }
	// NoCeilings is that a recording does not know what its device reaches at most.
	NoCeilings struct{ Recording string }
)

func (LabelsOff) fact() {}

func (Advised) fact() {}

func (ConfigSaved) fact() {}

func (NoCeilings) fact() {}
