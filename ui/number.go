package ui

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// prefixes of a thousand and its powers.
const prefixes = "kMGTP"

// Number writes v with three significant digits and a k, M, G, T or P.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case a >= 999.5e15:
		return fmt.Sprintf("%.2e", v)
	case a >= 9999.5:
		v, a = v/1000, a/1000
		prefix := 0
		for ; a >= 999.5; a /= 1000 { // which is written as 1000
			v /= 1000
			prefix++
		}
		return fmt.Sprintf("%.3g%c", v, prefixes[prefix])
	case a >= 999.5:
		return fmt.Sprintf("%.0f", v)
	case a >= 1e-3 || a == 0:
		return fmt.Sprintf("%.3g", v)
	default:
		return fmt.Sprintf("%.1e", v)
	}
}

// Quantity writes v of a unit with three significant digits, as in "118 GFLOP/s" and "1.01 TFLOP/s".
func Quantity(v float64, unit string) string {
	n := Number(v)
	digits := strings.TrimRight(n, prefixes)
	return digits + " " + n[len(digits):] + unit
}

// Bytes writes a size in B, KiB, MiB, GiB or TiB.
func Bytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/(1<<10), "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if v < 1<<10 {
			break
		}
		v, unit = v/(1<<10), next
	}
	if v >= 100 {
		return fmt.Sprintf("%.0f %s", v, unit)
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

// Duration writes d in the unit that leaves one to three digits before the point.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
}

// Age writes how long ago something was, in its largest unit.
func Age(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{365 * 24 * time.Hour, "y"}, {24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= u.unit {
			return fmt.Sprintf("%d%s", d/u.unit, u.name)
		}
	}
	return "now"
}
