package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestKeyText names keys in texts as they are now, and leaves other texts alone.
func TestKeyText(t *testing.T) {
	app, _, _, err := keymapped(t, "everywhere:\n  next precision: F\n  line: [up, down, e, \".\"]\nOne:\n  toggle: f5\n  pass: [\"(\", \")\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	usual := NewLook(Options{})
	for _, c := range []struct{ text, usual, now string }{
		{"press {f} for another", "press f for another", "press F for another"},
		{"{One x} and {One ]}; {u} undoes", "x and ]; u undoes", "f5 and ); u undoes"},
		{"{down} goes down", "↓ goes down", "↓ goes down"},
		{"{Nowhere y}, {One x", "y, ", "y, "},
		{"no key", "no key", "no key"},
	} {
		if got := usual.Keys(c.text); got != c.usual {
			t.Errorf("%q reads %q, want %q", c.text, got, c.usual)
		}
		if got := app.look.Keys(c.text); got != c.now {
			t.Errorf("%q reads %q with other keys, want %q", c.text, got, c.now)
		}
	}
}

// TestFooterKeeps: help and the way out are in the footer however many keys a pane has.
func TestFooterKeeps(t *testing.T) {
	var keys []Key
	for _, name := range []string{"a", "b", "e", "i", "p", "s", "v", "x"} {
		keys = append(keys, K(name, "a long text", "something"))
	}
	app, err := New(Config{Look: NewLook(Options{}), Screens: []*Screen{{Key: "1", Name: "One", Views: []View{&probe{name: "left", keys: keys}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []int{MinWidth, 80, 120, 200} {
		send(app, tea.WindowSizeMsg{Width: w, Height: 24})
		for _, text := range []string{"a a long text", "q quit", "? help"} {
			findText(t, app, text, 23)
		}
	}
	clickOn(t, app, "? help", 23)
	if app.dialog() == nil {
		t.Error("the footer's help is no help")
	}
}
