package recording

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Position returns which state is shown, counted from 0.
func (r *Replay) Position() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// Moment describes state i, counted from 0, which must be one that there is.
func (r *Replay) Moment(i int) report.Moment {
	return report.Moment{State: i + 1, States: len(r.steps), After: r.steps[i].After, Time: r.steps[i].Time}
}

// Find returns the state, counted from 0, that text names: by its number, counted from 1, or by a time after the start of
// the recording as [report.ParseClock] reads it, which names the last state that there was by then. A time at which the recording
// was over is an error.
func (r *Replay) Find(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil {
		return n - 1, r.check(n - 1)
	}
	after, err := report.ParseClock(text)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a state's number nor a time after the start, as 00:14 or 14s", text)
	}
	if length := r.length(); began(text, after) > length {
		return 0, fmt.Errorf("recording %s: %s is past its end: it is %s long, with states 1 to %d", r.file.path, text, report.Clock(length), len(r.steps))
	}
	later := sort.Search(len(r.steps), func(i int) bool { return r.Moment(i).After > after })
	return max(0, later-1), nil
}

// length returns how long was recorded: to the end, or to the last state of what was cut short.
func (r *Replay) length() time.Duration {
	d := r.lasted
	for _, s := range r.steps {
		d = max(d, s.After)
	}
	return d
}

// check reports a state, counted from 0, that there is not.
func (r *Replay) check(i int) error {
	if i < 0 || i >= len(r.steps) {
		return fmt.Errorf("recording %s: there is no state %d; it has 1 to %d, in %s", r.file.path, i+1, len(r.steps), report.Clock(r.length()))
	}
	return nil
}

// began returns when the moment began whose end ParseClock made of text.
func began(text string, end time.Duration) time.Duration {
	if !strings.Contains(text, ":") {
		return end
	}
	unit := time.Second
	_, fraction, _ := strings.Cut(text, ".")
	for range fraction {
		unit /= 10
	}
	return end + 1 - unit
}
