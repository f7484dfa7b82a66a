package panetest

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/views/pane"
)

// Desk is a desk in front of no workbench: everything works, and it keeps what it is asked for.
type Desk struct{ Asked config.Config }

func (d *Desk) Want() config.Config { return d.Asked }

func (d *Desk) Change(edit func(*config.Config)) tea.Cmd { edit(&d.Asked); return nil }

func (d *Desk) Lacks(pane.Need) string { return "" }
