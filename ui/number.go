package ui

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Number writes v with three significant digits and a k, M or G.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case a >= 1e12:
		return fmt.Sprintf("%.2e", v)
	case a >= 1e9:
		return fmt.Sprintf("%.3gG", v/1e9)
	case a >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case a >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 1e-3 || a == 0:
		return fmt.Sprintf("%.3g", v)
	default:
		return fmt.Sprintf("%.1e", v)
	}
}

// Quantity writes v of a unit with three significant digits, as in "118 GFLOP/s".
func Quantity(v float64, unit string) string {
	n := Number(v)
	digits := strings.TrimRight(n, "kMG")
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
