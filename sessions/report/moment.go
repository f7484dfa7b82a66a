package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Moment says which state of a recording a snapshot is, and when that was.
type Moment struct {
	State  int           // counts from 1
	States int           // how many there are
	After  time.Duration // after the recording began; not negative
	Time   time.Time     // by the clock of the machine that recorded
}

// String writes a moment as "state 12/57, 00:14.3 after start, 2025-03-04 05:06:21".
func (m Moment) String() string { return m.Short() + ", " + m.Time.Format(time.DateTime) }

// Short is String without the time of day.
func (m Moment) Short() string {
	return fmt.Sprintf("state %d/%d, %s after start", m.State, m.States, Clock(m.After))
}

// Clock writes a time after a start as minutes and seconds, "00:14.3", with hours before them where there are any.
func Clock(d time.Duration) string {
	tenths := max(0, d) / (100 * time.Millisecond) // not rounded up, so that ParseClock never leads behind d
	s := fmt.Sprintf("%02d:%02d.%d", tenths/600%60, tenths/10%60, tenths%10)
	if hours := tenths / 36000; hours > 0 {
		return fmt.Sprintf("%d:%s", hours, s)
	}
	return s
}

// ParseClock reads a time after a start: "14s" and what else [time.ParseDuration] reads, "00:14", "00:14.3" or "1:02:03".
// A time is taken to the end of the last digit that is written: "00:14.3" is the last moment that [Clock] writes so, and
// "00:14" the last of that second.
func ParseClock(text string) (time.Duration, error) {
	invalid := fmt.Errorf("time %q: want minutes and seconds, as 00:14, or a duration, as 14s", text)
	if !strings.Contains(text, ":") {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, invalid
		}
		return d, nil
	}
	parts := strings.Split(text, ":")
	seconds, fraction, fractional := strings.Cut(parts[len(parts)-1], ".")
	parts[len(parts)-1] = seconds
	if len(parts) > 3 || fractional && (fraction == "" || len(fraction) > 9) {
		return 0, invalid
	}
	var total uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || i > 0 && n >= 60 {
			return 0, invalid
		}
		total = total*60 + n
	}
	unit := time.Second
	for range fraction {
		unit /= 10
	}
	n, err := strconv.ParseUint("0"+fraction, 10, 32)
	if err != nil {
		return 0, invalid
	}
	return time.Duration(total)*time.Second + time.Duration(n+1)*unit - 1, nil
}
