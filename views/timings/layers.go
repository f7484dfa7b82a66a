package timings

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// layersPane shows the layers' times, and on its other side the same layers in every precision.
type layersPane struct {
	times   *timingsView
	columns *columnsView
	measure func() tea.Cmd // has them measured in every precision
	read    func() tea.Cmd // has them read of a replay's states, for a [ColumnsMsg]; nil in a session
	other   bool
}

// side returns what is shown.
func (v *layersPane) side() interface {
	ui.View
	ui.Noter
	pane.Following
	Layer() (pane.LayerRef, bool)
} {
	if v.other {
		return v.columns
	}
	return v.times
}

func (v *layersPane) Title() string { return v.side().Title() }

// Named implements ui.Named.
func (v *layersPane) Named() string { return ui.NameOf(v.side()) }

func (v *layersPane) Note() (string, ui.Style) { return v.side().Note() }

func (v *layersPane) Keys() []ui.Key {
	keys := v.times.Keys()
	if v.other {
		keys = append(v.columns.Keys(), plotKey, pane.PrecisionKey(v.times.desk))
	}
	return append(keys, v.own()...)
}

// AllKeys returns the keys of both sides: those of the columns are among those of the times.
func (v *layersPane) AllKeys() []ui.Key { return append(v.times.Keys(), v.own()...) }

func (v *layersPane) own() []ui.Key {
	return []ui.Key{
		ui.K("b", "beside", "layers / precisions side by side"),
		pane.When(v.times.desk, pane.NeedsRun, ui.K("A", "precisions", "measure FP32, FP16 and INT8 layer by layer, in the same rounds")),
	}
}

func (v *layersPane) Update(msg tea.Msg) tea.Cmd {
	switch {
	case pane.IsKey(msg, "b"):
		v.turn()
		if v.other && v.read != nil && v.columns.lacking() {
			return v.read()
		}
		return nil
	case pane.IsKey(msg, "A"):
		if !v.other {
			v.turn()
		}
		return v.measure()
	case v.other && pane.IsKey(msg, "v"):
		return v.times.Update(msg)
	case v.other && pane.IsKey(msg, "P"):
		if l, ok := v.columns.Layer(); ok {
			return pane.ChoosePrecision(v.times.desk, v.times.in.Snap, l.Name, l.From)
		}
		return nil
	}
	if read, ok := msg.(ColumnsMsg); ok {
		return v.columns.Update(read)
	}
	if _, ok := msg.(*report.Snapshot); ok {
		v.columns.Update(msg)
		return v.times.Update(msg)
	}
	cmd := v.side().Update(msg)
	if l, ok := v.columns.Layer(); ok && v.other { // the samples below are those of the layer
		v.times.ToLayer(l)
	}
	return cmd
}

// turn shows the other side, with the cursor on the same layer.
func (v *layersPane) turn() {
	l, ok := v.side().Layer()
	if v.other = !v.other; ok {
		v.ToLayer(l)
	}
}

// Layer implements pointing.
func (v *layersPane) Layer() (pane.LayerRef, bool) { return v.side().Layer() }

// ToLayer implements following: both sides follow, so that the samples beside are the layer's.
func (v *layersPane) ToLayer(l pane.LayerRef) bool {
	times, columns := v.times.ToLayer(l), v.columns.ToLayer(l)
	return v.other && columns || !v.other && times
}

func (v *layersPane) Render(w, h int) string { return v.side().Render(w, h) }
