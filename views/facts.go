package views

// Fact is what a pane states and a flag or a command helps with. Which one it is, views do not know: [Options.Hint] says it.
type Fact interface{ fact() }

type (
	// LabelsOff is that labels seem to be off by one: so much would have to be added to each.
	LabelsOff struct{ By int }
	// ConfigSaved is that a configuration is in a file.
	ConfigSaved struct{ Path string }
)

func (LabelsOff) fact() {}

func (ConfigSaved) fact() {}
