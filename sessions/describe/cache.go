package describe

import (
	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/sessions/report"
)

// Cache describes the entries of a timing cache for a device: those of others are stale.
func Cache(c *build.TimingCache, target string) (list []report.CacheEntry) {
	for _, e := range c.Entries() {
		list = append(list, report.CacheEntry{
			Target: e.Target, Tactic: e.Tactic, Layer: e.Layer, Time: e.Time, Stale: e.Target != target,
			Measured: e.Measured, Spread: e.Spread, Disturbed: e.Disturbed(),
		})
	}
	return list
}
