package recording

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Moment describes state i, counted from 0, which must be one that there is.
func (f *film) Moment(i int) report.Moment {
	return report.Moment{State: i + 1, States: len(f.has().steps), After: f.has().steps[i].After, Time: f.has().steps[i].Time}
}

// Find returns the state, counted from 0, that text names: by its number, counted from 1; by one of its configurations as
// [Named] finds them, which is the newest state with all reports of it; or by a time after the start of the recording as
// [report.ParseClock] reads it, which names the last state that there was by then. A time at which the recording was over is an
// error.
func (f *film) Find(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil {
		return n - 1, f.check(n - 1)
	}
	c, err := Named(f.has().tried, text)
	if err != nil {
		return 0, fmt.Errorf("recording %s: %w", f.file.path, err)
	}
	if c != nil {
		if i := f.find(c.Config); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("recording %s: %s was measured beside others alone, and has no states; there are some of %s", f.file.path, c.Name, strings.Join(f.names(), "; "))
	}
	after, err := report.ParseClock(text)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a state's number nor a time after the start, as 00:14 or 14s, nor a configuration of %s, which has %s",
			text, f.file.path, strings.Join(f.names(), "; "))
	}
	if length := f.length(); began(text, after) > length {
		return 0, fmt.Errorf("recording %s: %s is past its end: it is %s long, with states 1 to %d", f.file.path, text, report.Clock(length), len(f.has().steps))
	}
	later := sort.Search(len(f.has().steps), func(i int) bool { return f.Moment(i).After > after })
	return max(0, later-1), nil
}

// Named returns the one of the configurations of a recording that has a name, or else the only one whose name goes on behind text; nil
// where there is none.
func Named(tried []report.RecordedConfig, text string) (*report.RecordedConfig, error) {
	var begin []*report.RecordedConfig
	var names []string
	for i := range tried {
		c := &tried[i]
		rest, ok := strings.CutPrefix(c.Name, text)
		if ok && rest == "" {
			return c, nil
		}
		if ok && text != "" && strings.ContainsRune("/:, ", rune(rest[0])) {
			begin, names = append(begin, c), append(names, c.Name)
		}
	}
	switch len(begin) {
	case 0:
		return nil, nil
	case 1:
		return begin[0], nil
	}
	return nil, fmt.Errorf("%q may be %s: name one of them", text, strings.Join(names, "; "))
}

// length returns how long was recorded: to the end, or to the last state of what was cut short.
func (f *film) length() time.Duration {
	d := f.has().lasted
	for _, s := range f.has().steps {
		d = max(d, s.After)
	}
	return d
}

// Last returns the newest state with all reports, or the last where none has them.
func (f *film) Last() int {
	for i := len(f.has().steps) - 1; i >= 0; i-- {
		if f.has().steps[i].Settled {
			return i
		}
	}
	return len(f.has().steps) - 1
}

// check reports a state, counted from 0, that there is not.
func (f *film) check(i int) error {
	if i < 0 || i >= len(f.has().steps) {
		return fmt.Errorf("recording %s: there is no state %d; it has 1 to %d, in %s", f.file.path, i+1, len(f.has().steps), report.Clock(f.length()))
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

// find returns the state that shows a configuration best, or -1.
func (f *film) find(cfg config.Config) int {
	best, same := -1, map[int64]bool{}
	c := f.has()
	for id, one := range c.configs {
		same[id] = one.SameEngine(cfg, c.own)
	}
	for i, s := range c.steps {
		if same[s.config] && (best < 0 || s.Settled || !c.steps[best].Settled) {
			best = i
		}
	}
	return best
}
