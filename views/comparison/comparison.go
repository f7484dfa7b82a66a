package comparison

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// Pair is what is marked, and what came of comparing it. The panes of one workbench share it.
type Pair struct {
	// ReadFile reads what a person names; nil where no files are read.
	ReadFile func(name string) (*report.Snapshot, error)
	// CompleteFile returns what a name that is being typed may go on to; nil: it is not completed.
	CompleteFile func(text string) []string

	// InTurns has the configurations of two states of the open model measured in the same rounds; nil where nothing is measured.
	InTurns func(a, b *report.Snapshot) tea.Cmd

	look  *ui.Look
	count uint64        // of changes of it
	marks [2]*diff.Side // A and B; nil: not marked
	sides [2]diff.Side  // that were compared last
	diff  *report.Diff
	err   error

	begun   bool             // what the workbench was opened for was marked
	reading int              // marks that are still read
	turns   *turns           // that are measured; nil: none
	then    *report.Snapshot // what was shown when a comparison was asked for that waits for them; nil: none
}

// turns is what A and B are measured in, once more and in the same rounds.
type turns struct {
	sides [2]diff.Side
	old   *report.Columns // what was measured in turns before
}

// live reports whether a snapshot is of a session, and no file.
func live(snap *report.Snapshot) bool { return snap.Replay == "" && snap.Viewed() == "" }

// diffMsg brings what came of a comparison.
type diffMsg struct {
	sides [2]diff.Side
	diff  *report.Diff
	err   error
}

func compareSides(sides [2]diff.Side) tea.Cmd {
	return func() tea.Msg {
		d, err := diff.Of(sides[0], sides[1])
		return diffMsg{sides, d, err}
	}
}
