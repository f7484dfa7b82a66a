package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// pacer has pictures drawn no faster than a terminal shows them, so that what a person typed ahead, be it to quit, does not wait for
// pictures that nobody sees. The first message after a while has its picture at once.
type pacer struct {
	pace  time.Duration
	last  string    // picture
	due   time.Time // the next may be drawn
	held  bool      // it is not time yet for that of the last message
	armed bool      // a paintMsg is on its way
}

// paintMsg says that it is time for a picture.
type paintMsg struct{}

// next decides whether a message has a picture at once; it returns after how long a paintMsg must be given, 0: none need be.
func (p *pacer) next(msg tea.Msg, now time.Time) time.Duration {
	if _, ok := msg.(paintMsg); ok {
		p.armed = false
	}
	_, resized := msg.(tea.WindowSizeMsg)
	wait := p.due.Sub(now)
	if p.held = wait > 0 && wait <= p.longest() && !resized; !p.held || p.armed {
		return 0
	}
	p.armed = true
	return wait
}

// longest bounds what is waited for, whatever the clock does.
func (p *pacer) longest() time.Duration { return 10 * p.pace }

// picture returns the picture that is drawn by draw, or the one before it.
func (p *pacer) picture(draw func() string, now func() time.Time) string {
	if p.held {
		return p.last
	}
	begin := now()
	p.last = draw()
	end := now() // a picture that takes long leaves as much time for messages
	p.due = end.Add(min(max(p.pace, end.Sub(begin)), p.longest()))
	return p.last
}
