package views

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/recordings"
)

// Shot is what of the workbench is drawn, and on how large a terminal.
type Shot struct {
	Screen       string   // its digit or name
	Keys         []string // that are pressed on it, one after the other
	Cells, Lines int
}

// Picture draws a screen of the newest snapshot of a controller. With two to compare they are compared first.
func Picture(ctl Controller, o Options, s Shot) (ui.Picture, error) {
	o.After = func(time.Duration, tea.Msg) tea.Cmd { return nil } // nothing is waited for that only looks live
	w, err := newWorkbench(ctl, o)
	if err != nil {
		return ui.Picture{}, err
	}
	to, ok := w.app.Find(s.Screen)
	if !ok {
		return ui.Picture{}, fmt.Errorf("%q: want %s", s.Screen, strings.Join(screenNames(w.app), ", "))
	}
	w.app.Update(tea.WindowSizeMsg{Width: s.Cells, Height: s.Lines})
	newest := make(chan *report.Snapshot, 1)
	newest <- ctl.Snapshot()
	close(newest)
	settle(w.app, tea.Batch(ui.Listen(newest), recordings.List(o.Recordings)))
	settle(w.app, beginComparing(w))
	settle(w.app, func() tea.Msg { return to })
	for _, key := range s.Keys {
		if !ui.IsKeyName(key) {
			return ui.Picture{}, fmt.Errorf("no key is called %q", key)
		}
		settle(w.app, func() tea.Msg { return ui.Press(key) })
	}
	return w.app.Picture(), nil
}

// ScreenNames are the screens by their names, in lower case, in the order of their tabs.
func ScreenNames(ctl Controller) []string {
	w, err := newWorkbench(ctl, Options{})
	if err != nil {
		return nil
	}
	return screenNames(w.app)
}

func screenNames(app *ui.App) (list []string) {
	for _, s := range app.Screens() {
		list = append(list, strings.ToLower(s.Name))
	}
	return list
}

// patience is how long a command may take whose result is to be on a picture.
const patience = 20 * time.Second

// settle runs a command and what follows from it, until nothing does; what never comes is not waited for.
func settle(app *ui.App, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	var msg tea.Msg
	select {
	case msg = <-done:
	case <-time.After(patience):
	}
	if msg == nil {
		return
	}
	if list := reflect.ValueOf(msg); list.Type().ConvertibleTo(reflect.TypeFor[[]tea.Cmd]()) { // a batch, or a sequence
		for _, c := range list.Convert(reflect.TypeFor[[]tea.Cmd]()).Interface().([]tea.Cmd) {
			settle(app, c)
		}
		return
	}
	_, next := app.Update(msg)
	settle(app, next)
}
