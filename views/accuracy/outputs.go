package accuracy

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// outputsView compares the network's outputs.
type outputsView struct {
	in    pane.Input
	table ui.Table
}

func newOutputsView(look *ui.Look) *outputsView {
	v := &outputsView{in: pane.NewInput(look, report.PartAccuracy)}
	v.table.Columns = []ui.Column{{Title: "output", Name: true, Width: 10, Flex: 1, Cell: func(r int) ui.Cell { return ui.Cell{Text: v.in.Snap.Accuracy.Outputs[r].Name} }}}
	for i := range metrics {
		m := &metrics[i]
		v.table.Columns = append(v.table.Columns, ui.Column{Title: m.name, Width: max(8, len(m.name)), Align: ui.AlignRight, Priority: []int{0, 1, 2, 5, 3, 6, 7, 4, 8}[i],
			Cell: func(r int) ui.Cell { return ui.Cell{Text: m.write(m.value(&v.in.Snap.Accuracy.Outputs[r].Errors))} }})
	}
	return v
}

func (v *outputsView) Title() string { return "Outputs against " + v.in.Snap.Accuracy.OutputsAgainst() }

func (v *outputsView) Note() (string, ui.Style) {
	switch a := v.in.Snap.Accuracy; {
	case a == nil:
	case a.Reference:
		return v.in.Note("which this is")
	case len(a.Unlike) > 0:
		return v.in.Note(a.Unlike[0].Name + " " + a.Unlike[0].Why())
	case a.Shared > 0:
		return v.in.Note(words.Plural(a.Shared, "item") + " calibrated on, too")
	}
	return v.in.Note("")
}

func (v *outputsView) Keys() []ui.Key { return ui.FilterKeys() }

func (v *outputsView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.Take(msg) {
		v.table.Update(msg)
		return nil
	}
	v.table.Rows = 0
	if a := v.in.Snap.Accuracy; a != nil {
		v.table.Rows = len(a.Outputs)
	}
	v.table.Refresh()
	return nil
}

func (v *outputsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Accuracy == nil {
			v.in.Wait(c, "outputs")
			return
		}
		if a := v.in.Snap.Accuracy; a.Alone {
			drawAlone(c)
			return
		}
		v.table.Draw(c)
	})
}
