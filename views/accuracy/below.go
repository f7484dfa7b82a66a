package accuracy

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
)

// errorView is the place below the layers: why the layer under the cursor errs, or where in its output.
type errorView struct {
	of    *errorsView
	cause *causeView
	heat  *heatView
}

func newErrorView(v *errorsView) *errorView { return &errorView{v, &causeView{v}, &heatView{of: v}} }

func (v *errorView) shown() noted {
	if l := v.cause.layer(); v.of.mapped || l != nil && l.Cause == nil { // as of older recordings
		return v.heat
	}
	return v.cause
}

func (v *errorView) Title() string { return v.shown().Title() }

// Named implements ui.Named.
func (v *errorView) Named() string { return ui.NameOf(v.shown()) }

func (v *errorView) Note() (string, ui.Style) { return v.shown().Note() }

func (v *errorView) Keys() []ui.Key { return v.of.below() }

func (v *errorView) Update(msg tea.Msg) tea.Cmd { return v.of.press(msg) }

func (v *errorView) Render(w, h int) string { return v.shown().Render(w, h) }
