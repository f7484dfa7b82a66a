package accuracy

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestErrorBarsCompare draws the bars of both columns to one scale.
func TestErrorBarsCompare(t *testing.T) {
	v := newErrorsView(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{})
	v.Update(&report.Snapshot{Seq: 1, Accuracy: &report.Accuracy{Layers: []report.LayerError{
		{Name: "a", Local: report.Errors{MaxAbs: 1, SQNR: 40}, Accumulated: report.Errors{MaxAbs: 2, SQNR: 35}},
		{Name: "b", Local: report.Errors{MaxAbs: 2, SQNR: 38}, Accumulated: report.Errors{MaxAbs: 8, SQNR: 20}},
	}}})
	for range metrics {
		local, accumulated := v.table.Columns[2].Cell(1).Bar, v.table.Columns[5].Cell(0).Bar
		if local.Max != accumulated.Max {
			t.Errorf("%s: the bars end at %g and %g", v.by().name, local.Max, accumulated.Max)
		}
		if v.by().name == "max abs" && (local.Max != 8 || local.Value != accumulated.Value) {
			t.Errorf("equal errors are drawn as %+v and %+v", local, accumulated)
		}
		v.Update(ui.Press("s"))
	}
}

// TestAlone: of an engine without its model all panes say whole, at 80 cells, what is known and why the rest is not.
func TestAlone(t *testing.T) {
	look := ui.NewLook(ui.Options{NoColor: true})
	a := &report.Accuracy{Precision: "int8", Items: 200, Labels: report.LabelAccuracy{Top1: 0.91, Top5: 0.99}}
	a.Forget()
	labels := &labelsView{in: pane.NewInput(look, report.PartAccuracy)}
	for _, v := range []ui.View{newErrorsView(look, &panetest.Desk{}), newOutputsView(look), labels} {
		v.Update(&report.Snapshot{Seq: 1, Accuracy: a})
		text := ansi.Strip(v.Render(78, 4))
		if !strings.Contains(text, report.WhyAlone) {
			t.Errorf("%s:\n%s", v.Title(), text)
		}
		if v == ui.View(labels) && (!strings.Contains(text, "91.00%") || strings.Contains(text, "top-1 FP32")) {
			t.Errorf("labels:\n%s", text)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		m    report.ErrorMap
		want string
	}{
		{report.ErrorMap{Channels: 1, Positions: 1, Rows: 1, Columns: 1, RMS: []float32{0}}, "identical everywhere"},
		{report.ErrorMap{Channels: 10, Positions: 1, Rows: 10, Columns: 1, Group: 1, RMS: []float32{0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, SQNR: []float64{200, 50, 30, 200, 200, 200, 200, 200, 200, 200}},
			"largest: channel 2, rms 2; lowest SQNR: channel 2, 30.0 dB"},
		{report.ErrorMap{Channels: 5, Positions: 100, Rows: 2, Columns: 2, Group: 3, RMS: []float32{0, 1, 3, 2}, SQNR: []float64{9, 4}},
			"largest: channels 3-4, positions 0-49, rms 3; lowest SQNR: channels 3-4, 4.0 dB"},
	} {
		if got := errorText(&c.m, slices.Max(c.m.RMS)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestEqualize equalises by a way, and the same key takes that back.
func TestEqualize(t *testing.T) {
	d := &panetest.Desk{}
	equalize(ui.NewLook(ui.Options{}), d, "activations")
	if now := d.Asked.Quantization.Full().Equalization; now != "activations" {
		t.Errorf("equalization is %s", now)
	}
	equalize(ui.NewLook(ui.Options{}), d, "activations")
	if now := d.Asked.Quantization; now.Equalization != (config.Quantization{}).Equalization {
		t.Errorf("equalization is %+v", now)
	}
}

// TestBelowKeys: the keys of what is shown below the layers are there whatever is shown of these.
func TestBelowKeys(t *testing.T) {
	d := &panetest.Desk{}
	look := ui.NewLook(ui.Options{})
	v := newLayersView(look, newErrorsView(look, d), d, nil)
	for v.shown = range v.views {
		d.Asked = config.Config{}
		keys := 0
		for _, k := range v.Keys() {
			if slices.Contains(k.Keys, "E") {
				keys++
			}
		}
		if v.Update(tea.KeyPressMsg{Code: 'E', Text: "E"}); keys != 1 || v.shown != shownErrors && d.Asked.Quantization.Full().Equalization != "weights" { // which without errors has no layer
			t.Errorf("%s: %d keys, and E asks for %s", v.Title(), keys, d.Asked.Quantization.Full().Equalization)
		}
	}
}

// TestSearchBegins says what a search does before it has built an engine.
func TestSearchBegins(t *testing.T) {
	v := newSearchView(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{})
	goal := 30.0
	snap := &report.Snapshot{Seq: 1, Search: &report.Search{Goal: report.Goal{MinSQNR: &goal}, Live: true}, Busy: &report.Progress{Phase: "raising layers", Item: "conv1", Done: 2, Total: 9}}
	v.Update(snap)
	if text := ansi.Strip(v.Render(60, 10)); !strings.Contains(text, "raising layers") || !strings.Contains(text, "2/9") {
		t.Errorf("it begins with\n%s", text)
	}
	ended := *snap
	ended.Busy, ended.Search = nil, &report.Search{Goal: snap.Search.Goal}
	v.Update(&ended)
	if text := ansi.Strip(v.Render(60, 10)); !strings.Contains(text, "no engine has been built yet") {
		t.Errorf("it ends with\n%s", text)
	}
}
