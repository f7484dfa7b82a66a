package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// tick is an event of which only the last matters.
type tick struct{ n int }

func (tick) Supersedes() string { return "tick" }

// done is an event that must not get lost.
type done struct{ n int }

// TestEvents checks that progress is thinned out, that order is kept and that
// nothing else is lost.
func TestEvents(t *testing.T) {
	app, p := probes(t, nil)
	now := time.Unix(100, 0)
	app.now = func() time.Time { return now }
	send(app, received{events: []any{tick{1}, tick{2}, done{3}}})
	send(app, received{events: []any{tick{4}}}, received{events: []any{tick{5}}})
	if want := []any{tick{2}, done{3}}; !slices.Equal(p[2].seen, want) {
		t.Fatalf("seen %v, want %v", p[2].seen, want)
	}
	now = now.Add(refresh)
	send(app, deliverMsg{}, received{events: []any{tick{6}}}, received{events: []any{done{7}}})
	if want := []any{tick{2}, done{3}, tick{5}, tick{6}, done{7}}; !slices.Equal(p[2].seen, want) {
		t.Fatalf("seen %v, want %v", p[2].seen, want)
	}
}

// TestFreeze holds events back but not keys, and applies them afterwards.
func TestFreeze(t *testing.T) {
	app, p := probes(t, nil)
	app.onEvent = func(e any, h *Header) tea.Cmd {
		if e, ok := e.(tick); ok {
			h.Iterations = e.n
		}
		return nil
	}
	press(app, "space")
	for i := range 1000 {
		send(app, received{events: []any{tick{i}}})
	}
	send(app, received{events: []any{done{1}, tick{1000}}})
	press(app, "j")
	if len(p[0].seen) != 0 || !slices.Equal(p[0].got, []string{"j"}) {
		t.Errorf("frozen: seen %v, got %v", p[0].seen, p[0].got)
	}
	if !strings.Contains(app.Content(), "FROZEN") {
		t.Error("no banner")
	}
	if app.header.Iterations != 1000 || app.shownHeader().Iterations != 0 {
		t.Errorf("the header shows %d runs while frozen", app.shownHeader().Iterations)
	}
	send(app, Header{Iterations: 1000, Recording: true})
	if !strings.Contains(app.Content(), "REC") {
		t.Error("a recording goes on unseen while frozen")
	}
	if len(app.inbox.waiting) != 2 {
		t.Errorf("%d events wait, want 2", len(app.inbox.waiting))
	}
	press(app, "space")
	if want := []any{done{1}, tick{1000}}; !slices.Equal(p[0].seen, want) {
		t.Errorf("seen %v, want %v", p[0].seen, want)
	}
	if !strings.Contains(app.Content(), "1,000 runs") {
		t.Error("the header stands still after freezing")
	}
}

// TestListen takes what waits on a channel and arms itself again.
func TestListen(t *testing.T) {
	ch := make(chan int, 300)
	for i := range 300 {
		ch <- i
	}
	close(ch)
	n := 0
	for cmd := Listen(ch); cmd != nil; {
		r, ok := cmd().(received)
		if !ok {
			break
		}
		for _, e := range r.events {
			if e != n {
				t.Fatalf("event %v, want %d", e, n)
			}
			n++
		}
		cmd = r.next
	}
	if n != 300 {
		t.Errorf("%d events", n)
	}
}
