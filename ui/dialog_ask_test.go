package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestAskCompletes goes on as far as all names do that begin with what is typed, lists them, and takes what was chosen.
func TestAskCompletes(t *testing.T) {
	app, _ := probes(t, nil)
	names := []string{"runs/monday.trtui", "runs/montage/", "sunday.trtui"}
	took := ""
	send(app, Open(&Ask{Name: "Open", Hint: "a file", Take: func(text string) tea.Cmd { took = text; return nil },
		Complete: func(text string) []string {
			return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, text) })
		}})())
	line := func() string { return app.dialog().(*Ask).line.String() }
	press(app, "r", "tab")
	if picture := app.Content(); line() != "runs/mon" || !strings.Contains(picture, "monday.trtui") || !strings.Contains(picture, "montage/") {
		t.Errorf("%q:\n%s", line(), picture)
	}
	press(app, "d")
	if strings.Contains(app.Content(), "montage/") {
		t.Error("what was found before is still listed")
	}
	press(app, "tab")
	if line() != "runs/monday.trtui" {
		t.Errorf("one is left, and the line is %q", line())
	}
	press(app, "x", "tab")
	if !strings.Contains(app.Content(), "nothing here begins so") {
		t.Errorf("nothing is found, and that is not said:\n%s", app.Content())
	}
	press(app, "backspace", "enter")
	if took != "runs/monday.trtui" || app.dialog() != nil {
		t.Errorf("%q was taken", took)
	}
}

// TestAskChecks: the line begins with a text, and the dialog stays while something is wrong with it, which is gone as one types on.
func TestAskChecks(t *testing.T) {
	app, _ := probes(t, nil)
	took := ""
	send(app, Open(&Ask{Name: "Edit", Hint: "a word", Text: "wor", Take: func(text string) tea.Cmd { took = text; return nil },
		Check: func(text string) error {
			if text != "word" {
				return errors.New("no word is " + text)
			}
			return nil
		}})())
	press(app, "enter")
	if !strings.Contains(app.Content(), "no word is wor") || took != "" {
		t.Errorf("%q was taken:\n%s", took, app.Content())
	}
	press(app, "d")
	if strings.Contains(app.Content(), "no word is") {
		t.Error("what was wrong before is still shown")
	}
	press(app, "enter")
	if took != "word" || app.dialog() != nil {
		t.Errorf("%q was taken", took)
	}
}
