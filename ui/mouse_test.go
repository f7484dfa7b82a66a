package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// findText returns the cell of the screen at which text begins, from line y on.
func findText(t *testing.T, a *App, text string, y int) (int, int) {
	t.Helper()
	for i, line := range strings.Split(ansi.Strip(a.Content()), "\n")[y:] {
		if x := strings.Index(line, text); x >= 0 {
			return Width(line[:x]), y + i
		}
	}
	t.Fatalf("no %q on the screen\n%s", text, ansi.Strip(a.Content()))
	return 0, 0
}

func clickOn(t *testing.T, a *App, text string, y int) {
	t.Helper()
	x, y := findText(t, a, text, y)
	send(a, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// TestMouse clicks on tabs, rows, titles, keys and dialogs, and turns the wheel.
func TestMouse(t *testing.T) {
	app := demoApp(t, Options{Theme: "dark"})
	now := time.Unix(1e9, 0)
	app.now = func() time.Time { return now }
	later := func() { now = now.Add(time.Second) }
	send(app, tea.WindowSizeMsg{Width: 120, Height: 30})
	clickOn(t, app, "3 Timings", 1)
	table := app.screen().Views[0].(*demoTable)
	if app.screen().Name != "Timings" {
		t.Fatalf("a tab shows %s", app.screen().Name)
	}
	clickOn(t, app, "conv_4", 2)
	if got := table.table.Row(); got != 4 {
		t.Errorf("the cursor is on row %d", got)
	}
	later()
	clickOn(t, app, "layer ", 2)
	column, reverse := table.table.Sorted()
	later()
	clickOn(t, app, "layer", 2)
	if again, turned := table.table.Sorted(); column < 0 || table.table.Columns[column].Title != "layer" || again != column || turned == reverse {
		t.Errorf("sorted by column %d (%v), then %d (%v)", column, reverse, again, turned)
	}
	table.table.Top()
	at := table.table.position.at
	x, y := findText(t, app, "conv_", 3)
	send(app, tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
	if got := table.table.position.at; got != at+wheelLines {
		t.Errorf("the wheel moves from %d to %d", at, got)
	}
	later()
	clickOn(t, app, "? help", 29)
	if app.dialog() == nil {
		t.Error("the footer's key opens nothing")
	}
	clickOn(t, app, "1 Overview", 1)
	send(app, tea.MouseClickMsg{X: 50, Y: 10, Button: tea.MouseRight}, tea.MouseClickMsg{X: 500, Y: 10, Button: tea.MouseLeft}, tea.MouseReleaseMsg{})
	if app.dialog() == nil || app.screen().Name != "Timings" {
		t.Errorf("under a dialog %s is shown", app.screen().Name)
	}
	press(app, "esc")
	picked := -1
	send(app, openMsg{&Choice{Name: "Which", Items: []string{"first item", "second item"}, Pick: func(i int) tea.Cmd { picked = i; return nil }}})
	clickOn(t, app, "second item", 2)
	clickOn(t, app, "second item", 2)
	if picked != 1 || app.dialog() != nil {
		t.Errorf("a double click picks %d", picked)
	}
	later()
	press(app, "4")
	x, y = findText(t, app, "Arena", 2)
	send(app, tea.MouseClickMsg{X: x + 60, Y: y + 3, Button: tea.MouseLeft})
	if step, ok := app.screen().Views[0].(*demoMap); !ok || step.clicked == 0 {
		t.Error("the map is told no step")
	}
	if app.View().MouseMode != tea.MouseModeCellMotion || demoApp(t, Options{NoMouse: true}).View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is not asked for, or where it is unwanted")
	}
}
