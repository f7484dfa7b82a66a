package ui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// tally is a view that counts its pictures and its keys.
type tally struct{ keys, pictures int }

func (v *tally) Title() string { return "tally" }
func (v *tally) Keys() []Key   { return nil }
func (v *tally) Update(msg tea.Msg) tea.Cmd {
	if _, ok := msg.(tea.KeyPressMsg); ok {
		v.keys++
	}
	return nil
}

func (v *tally) Render(w, h int) string {
	v.pictures++
	return fmt.Sprint(v.keys, " keys")
}

// TestPace: a key after a pause has its picture at once, thousands that come together have few, and the last of them is seen.
func TestPace(t *testing.T) {
	v, now := &tally{}, time.Unix(1000, 0)
	var due []tea.Msg
	a, err := New(Config{Screens: []*Screen{{Key: "1", Name: "one", Views: []View{v}}}, Pace: 16 * time.Millisecond,
		Now: func() time.Time { return now }, After: func(d time.Duration, msg tea.Msg) tea.Cmd { due = append(due, msg); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	step := func(msg tea.Msg) string {
		a.Update(msg)
		return a.View().Content
	}
	step(tea.WindowSizeMsg{Width: 80, Height: 24})
	now = now.Add(time.Second)
	step(Press("down"))
	if v.pictures != 2 {
		t.Errorf("%d pictures of a size and a key", v.pictures)
	}
	for range 2000 {
		now = now.Add(100 * time.Microsecond)
		step(Press("down"))
	}
	if v.pictures > 20 {
		t.Errorf("%d pictures of 2,000 keys in 200 ms", v.pictures)
	}
	if len(due) == 0 {
		t.Fatal("nothing draws the last key")
	}
	now = now.Add(16 * time.Millisecond)
	before := v.pictures
	if step(due[len(due)-1]); v.pictures != before+1 || v.keys != 2001 {
		t.Errorf("%d keys, %d pictures after %d", v.keys, v.pictures, before)
	}
	now = now.Add(time.Millisecond)
	if step(tea.WindowSizeMsg{Width: 100, Height: 30}); v.pictures != before+2 {
		t.Error("a new size waits for its picture")
	}
}
