package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// keymapped makes the app of [probes] with a file of keys.
func keymapped(t *testing.T, file string) (*App, []*probe, *[]Intent, error) {
	t.Helper()
	p := []*probe{
		{name: "left", keys: append(FilterKeys(), K("x", "toggle", "toggle"), Key{Keys: []string{"[", "]"}, Short: "pass", Long: "previous / next pass"})},
		{name: "right", keys: []Key{K("s", "swap", "swap")}},
	}
	m, err := ReadKeymap("keys.yaml", []byte(file))
	if err != nil {
		return nil, nil, nil, err
	}
	var intents []Intent
	app, err := New(Config{Look: NewLook(Options{NoColor: true}), Intents: Intents(), Keys: m,
		Others:   []IntentKey{{Intent: "reload", Key: K("ctrl+o", "", "open anew")}},
		OnIntent: func(i Intent) tea.Cmd { intents = append(intents, i); return nil },
		Screens:  []*Screen{{Key: "1", Name: "One", Views: []View{p[0], p[1]}}}})
	return app, p, &intents, err
}

// TestKeymap gives actions other keys, which panes, frame, footer, help and palette have from then on.
func TestKeymap(t *testing.T) {
	app, p, intents, err := keymapped(t, `
Everywhere:
  freeze: "!"            # a comment
  next precision: c
  next calibrator: f
  line: [up, down, e, "."]
one:
  toggle: f5
  pass: ["(", ")"]
`)
	if err != nil {
		t.Fatal(err)
	}
	send(app, tea.WindowSizeMsg{Width: 120, Height: 40})
	press(app, "f5", "x", "(", ")", "]", "e", ".", "k", "c", "f", "space")
	if want := []string{"x", "[", "]", "k", "j"}; !slices.Equal(p[0].got, want) {
		t.Errorf("the pane got %q, want %q", p[0].got, want)
	}
	if want := []Intent{NextPrecision, NextCalibrator}; !slices.Equal(*intents, want) || app.inbox.frozen {
		t.Errorf("intents %q, want %q; frozen: %v", *intents, want, app.inbox.frozen)
	}
	press(app, "x")
	if got := app.status.Text; !strings.Contains(got, "x does nothing here") {
		t.Errorf("a key that was taken away says %q", got)
	}
	press(app, "!")
	if !app.inbox.frozen {
		t.Error("! does not freeze")
	}
	shows := func(what string, texts ...string) {
		t.Helper()
		screen := ansi.Strip(app.Content())
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				t.Errorf("%s does not show %q:\n%s", what, text, screen)
			}
		}
	}
	shows("the footer", "f5 toggle", "( ) pass", "c precision", "f calibrator", "! freeze")
	press(app, "?")
	shows("the help", "pass: previous / next pass", "f5", "next precision: FP32", "↑ ↓ e .")
	press(app, "esc", ":", "t", "o", "g", "g")
	shows("the palette", "f5  toggle")
	press(app, "enter")
	if last := p[0].got[len(p[0].got)-1]; last != "x" {
		t.Errorf("the palette gives the pane %q", last)
	}
	contexts := app.KeyContexts()
	if len(contexts) != 2 || contexts[1].Name != "One" || !slices.Equal(contexts[1].Keys[2].Keys, []string{"f5"}) || !slices.Equal(contexts[1].Keys[2].Default, []string{"x"}) {
		t.Errorf("%+v", contexts)
	}
}

// TestKeymapErrors says of each thing that cannot be where it is in the file, and what is meant.
func TestKeymapErrors(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"One: 3", "keys.yaml:1: want actions with their keys"},
		{"- a", "keys.yaml:1: want contexts"},
		{"One:\n  toggle: x\n  toggle: z", "keys.yaml:3: toggle is there already, on line 2"},
		{"One:\n  toggle: [x, [y]]", "keys.yaml:2: toggle: want a key"},
		{"One:\n  toggle: foo", `keys.yaml:2: toggle: there is no key "foo"`},
		{"One:\n  toggle: shift+a", `there is no key "shift+a"`},
		{"One:\n  toggle: []", "want a key"},
		{"One: &a\n  toggle: b\nTwo: *a", "keys.yaml:3: want actions"},
		{"a: b: c", "keys.yaml: yaml: "},
		{"One:\n---\nOne:", "more than one document"},
		{"Won:\n  toggle: b", `keys.yaml:2: there is no context "Won": it is one of everywhere, One; did you mean One?`},
		{"One:\n  togle: b", `keys.yaml:2: One has no action "togle"; did you mean toggle?`},
		{"One:\n  pass: b", "pass has 2 keys ([ ]: previous / next pass): want as many"},
		{"One:\n  toggle: q", `keys.yaml:2: the key q is both "quit" (everywhere) and "toggle" (One)`},
		{"everywhere:\n  freeze: s", `keys.yaml:2: the key s is both "freeze" (everywhere) and "swap" (One)`},
		{"everywhere:\n  freeze: z\n  zoom: z", `the key z is both "freeze" (everywhere) and "zoom" (everywhere)`},
		{"One:\n  toggle: j", `the key j is both "line" (everywhere) and "toggle" (One)`},
		{"One:\n  toggle: enter", "toggle: the key enter cannot be changed: text entry and dialogs need it"},
		{"One:\n  toggle: left", "toggle: the key left cannot be had: text entry needs it"},
		{"everywhere:\n  back: b", "back: the key esc cannot be changed"},
		{"everywhere:\n  interrupt: b", "the key ctrl+c cannot be changed: it ends the program"},
		{"everywhere:\n  quit: \"1\"", "the key 1 cannot be changed: it chooses a screen"},
		{"# nothing\n", ""},
		{"One:\neverywhere:\n", ""},
		{"everywhere:\n  reload: f9\n  return: backspace", ""},
	} {
		_, _, _, err := keymapped(t, c.file)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
	if _, err := ReadKeymap("k", make([]byte, maxKeymapBytes+1)); err == nil {
		t.Error("a file that is too large is read")
	}
}

// FuzzKeymap: no file makes a program that does not start without an error, or that keys end.
func FuzzKeymap(f *testing.F) {
	for _, file := range []string{"", "everywhere:\n  freeze: p\n  quit: Q\nOne:\n  toggle: [a]\n  pass: [\"(\", \")\"]\n", "a: &a [*a]", "? [a]\n: b", "One: !!binary aGk=", "everywhere:\n  line: [a, b, c, d]"} {
		f.Add(file, "q")
	}
	f.Fuzz(func(t *testing.T, file, keys string) {
		app, _, _, err := keymapped(t, file)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "keys.yaml") {
				t.Errorf("no place: %v", err)
			}
			return
		}
		send(app, tea.WindowSizeMsg{Width: 80, Height: 24})
		for _, r := range keys[:min(len(keys), 20)] {
			press(app, string(r))
		}
		app.Content()
		app.KeyContexts()
	})
}
