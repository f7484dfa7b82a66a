package comparison

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Several are more than two things that the workbench was opened for. The panes that set them side by side share them.
type Several struct {
	marks  []pane.Mark
	matrix *report.Matrix // nil: they are still read
	err    error
	begun  bool
}

// NewSeveral returns them.
func NewSeveral(marks []pane.Mark) *Several { return &Several{marks: marks} }

// matrixMsg brings what came of setting them side by side.
type matrixMsg struct {
	matrix *report.Matrix
	err    error
}

// Begin shows them, once.
func (s *Several) Begin() tea.Cmd {
	if s.begun {
		return nil
	}
	s.begun = true
	read := func() tea.Msg {
		sides := make([]diff.Side, len(s.marks))
		for i, m := range s.marks {
			snap, err := m.Read()
			if err != nil {
				return matrixMsg{err: err}
			}
			sides[i] = diff.Side{Name: m.Name, Snapshot: snap, Rival: m.Rival}
		}
		m, err := diff.Matrix(sides)
		return matrixMsg{m, err}
	}
	return tea.Batch(ui.GotoPage(pane.CompareKey, pane.MatrixPage), read)
}

// take keeps what a message brings; it reports whether there was something.
func (s *Several) take(msg tea.Msg) bool {
	m, ok := msg.(matrixMsg)
	if ok {
		s.matrix, s.err = m.matrix, m.err
	}
	return ok
}

// waiting says why nothing is shown yet; "" where something is.
func (s *Several) waiting() string {
	switch {
	case s.err != nil:
		return s.err.Error()
	case s.matrix == nil:
		return "reading them"
	}
	return ""
}

// letter is what the i-th is called.
func letter(i int) string { return string(rune('A' + i)) }
