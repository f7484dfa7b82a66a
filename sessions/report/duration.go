package report

import (
	"fmt"
	"time"
)

// Duration writes a time as one reads it at a glance: to three digits with its unit, from a minute on in minutes and seconds.
func Duration(d time.Duration) string {
	if d < time.Microsecond {
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	}
	v, unit := float64(d)/1e3, "µs"
	for _, next := range []string{"ms", "s"} {
		if v < 999.5 { // more is written as 1000
			break
		}
		v, unit = v/1e3, next
	}
	if s := d.Round(time.Second); s >= time.Minute {
		return fmt.Sprintf("%d m %d s", s/time.Minute, s%time.Minute/time.Second)
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
