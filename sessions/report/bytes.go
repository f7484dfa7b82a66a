package report

import "fmt"

// Bytes writes a number of bytes in the largest binary unit of which it has at least one, to a tenth.
func Bytes(n int64) string {
	if n > -1<<10 && n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/(1<<10), "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if v > -1<<10 && v < 1<<10 {
			break
		}
		v, unit = v/(1<<10), next
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}
