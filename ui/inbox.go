package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// refresh is the shortest time between two events of a kind that reach the views.
const refresh = 100 * time.Millisecond

// batchSize is how many waiting events are taken at once.
const batchSize = 256

// A Superseder is an event that a later one with the same key makes obsolete:
// progress, live samples. Such events reach the views at most ten times a
// second. All other events reach them at once, in order, and are never lost.
type Superseder interface {
	Supersedes() string // the key; "" for an event that nothing replaces
}

// received are events from a channel, and the command that waits for more.
type received struct {
	events []any
	next   tea.Cmd
}

// Listen returns a command that waits for events on ch and gives them to all
// views. The App re-arms it until ch is closed. Taking several at once keeps a
// busy session from being slowed down by the screen.
func Listen[T any](ch <-chan T) tea.Cmd {
	var wait tea.Cmd
	wait = func() tea.Msg {
		first, ok := <-ch
		if !ok {
			return nil
		}
		r := received{events: []any{first}, next: wait}
		for len(r.events) < batchSize {
			select {
			case e, ok := <-ch:
				if !ok {
					r.next = nil
					return r
				}
				r.events = append(r.events, e)
			default:
				return r
			}
		}
		return r
	}
	return wait
}

// inbox holds events back: superseded ones for a moment, all of them while the
// screen is frozen.
type inbox struct {
	waiting []any
	applied map[string]time.Time // when an event of that key last reached the views
	armed   bool                 // a deliverMsg is on its way
	frozen  bool
}

// deliverMsg says that the time of waiting is over.
type deliverMsg struct{}

// add takes an event; it replaces a waiting one that it supersedes.
func (b *inbox) add(e any) {
	if key := supersedes(e); key != "" {
		for i := len(b.waiting) - 1; i >= 0; i-- {
			if supersedes(b.waiting[i]) == key {
				b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
				break
			}
		}
	}
	b.waiting = append(b.waiting, e)
}

// take returns what may reach the views now, and how long the rest must wait (0:
// nothing waits, or the screen is frozen). An event that nothing replaces takes
// everything before it along.
func (b *inbox) take(now time.Time) (ready []any, wait time.Duration) {
	if b.frozen {
		return nil, 0
	}
	n := 0
	for i, e := range b.waiting {
		key := supersedes(e)
		since := now.Sub(b.applied[key])
		if key == "" || since >= refresh || since < 0 {
			n = i + 1
		} else if wait == 0 || refresh-since < wait {
			wait = refresh - since
		}
	}
	ready, b.waiting = b.waiting[:n:n], b.waiting[n:]
	for _, e := range ready {
		if key := supersedes(e); key != "" {
			if b.applied == nil {
				b.applied = map[string]time.Time{}
			}
			b.applied[key] = now
		}
	}
	if len(b.waiting) == 0 {
		b.waiting, wait = nil, 0
	}
	return ready, wait
}

func supersedes(e any) string {
	if s, ok := e.(Superseder); ok {
		return s.Supersedes()
	}
	return ""
}
