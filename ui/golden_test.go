package ui

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	tea "charm.land/bubbletea/v2"
)

// looks are the ways in which goldens are made.
var looks = []struct {
	name    string
	options Options
}{
	{"dark", Options{Theme: "dark"}},
	{"light", Options{Theme: "light"}},
	{"mono", Options{NoColor: true}},
	{"ascii", Options{NoColor: true, ASCII: true}},
}

// TestGolden keeps the picture of every screen of the demonstration.
func TestGolden(t *testing.T) {
	for _, look := range looks {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
			app := demoApp(t, look.options)
			send(app, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, s := range app.screens {
				if look.name != "dark" && (s.Key == "1" || s.Key == "2") && size[0] != 80 {
					continue // the same as in dark but for the colours
				}
				t.Run(fmt.Sprintf("%s_%dx%d_%s", look.name, size[0], size[1], s.Name), func(t *testing.T) {
					press(app, s.Key)
					golden.RequireEqual(t, app.Content())
				})
			}
		}
	}
}

// TestGoldenStates keeps the picture of what covers a screen.
func TestGoldenStates(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"help", []string{"3", "?"}},
		{"palette", []string{"3", ":", "s", "o", "r", "t"}},
		{"quit", []string{"q"}},
		{"filter", []string{"3", "/", "b", "l", "o", "c", "k", "3", "enter", "tab", "tab", "/"}},
		{"frozen", []string{"3", "space", "j", "j"}},
		{"zoom", []string{"4", "tab", "z", "/", "%", "1", "2", "enter"}},
		{"status", []string{"f"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			app := demoApp(t, Options{Theme: "dark"})
			send(app, tea.WindowSizeMsg{Width: 100, Height: 30})
			press(app, c.keys...)
			golden.RequireEqual(t, app.Content())
		})
	}
}

// send gives messages to the app, and what their commands return at once.
func send(a *App, msgs ...tea.Msg) {
	for _, m := range msgs {
		_, cmd := a.Update(m)
		run(a, cmd)
	}
}

// run runs a command if it is one of ours: those that answer at once.
func run(a *App, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case StatusMsg, GotoMsg, openMsg, completedMsg, Header, runMsg:
		send(a, m)
	}
}

// press presses keys, named as Bubble Tea names them.
func press(a *App, names ...string) {
	for _, n := range names {
		send(a, Press(n))
	}
}
