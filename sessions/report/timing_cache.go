package report

import (
	"slices"
	"time"
)

// TimingCache is a file of tactics' times (trtui inspect cache).
type TimingCache struct {
	File         string
	Hits, Misses *int          `json:",omitempty"` // of the build of a model; nil where none was built
	Stale        int           // entries of other devices or builds
	Disturbed    int           // measured while the machine did something else
	Devices      []CacheDevice // this one first, then by their names
	Entries      []CacheEntry
}

// CacheDevice is what a timing cache has of one device.
type CacheDevice struct {
	Target         string // its fingerprint
	This           bool
	Entries        int
	Oldest, Newest time.Time `json:",omitzero"` // of those of which that is known
}

// NewTimingCache sums up the entries of a file for a device.
func NewTimingCache(file, target string, entries []CacheEntry) *TimingCache {
	c := &TimingCache{File: file, Entries: slices.Clone(entries), Devices: []CacheDevice{{Target: target, This: true}}}
	slices.SortStableFunc(c.Entries, func(a, b CacheEntry) int { return staleness(a) - staleness(b) })
	for _, e := range c.Entries {
		c.Stale += staleness(e)
		if e.Disturbed {
			c.Disturbed++
		}
		i := slices.IndexFunc(c.Devices, func(d CacheDevice) bool { return d.Target == e.Target })
		if i < 0 {
			i, c.Devices = len(c.Devices), append(c.Devices, CacheDevice{Target: e.Target})
		}
		d := &c.Devices[i]
		d.Entries++
		if at := e.Measured; !at.IsZero() {
			if d.Oldest.IsZero() || at.Before(d.Oldest) {
				d.Oldest = at
			}
			if at.After(d.Newest) {
				d.Newest = at
			}
		}
	}
	return c
}

func staleness(e CacheEntry) int {
	if e.Stale {
		return 1
	}
	return 0
}
