package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/internal/host"
)

// TimingCache remembers how long tactics took, so that a second build of the same layers measures nothing: TensorRT's
// ITimingCache. It is safe for concurrent use. The file is JSON lines: a header, then an entry a line, sorted. Several
// programs may share it: each adds what it measured and takes out what it dropped, and leaves the rest alone.
type TimingCache struct {
	mu      sync.Mutex
	entries map[string]CacheEntry
	hits    int
	misses  int
	put     map[string]bool // entries that no file has yet
	dropped map[string]bool // entries that the file may still have
	damaged []int           // the lines, from 1, that were left out on reading
}

// CacheEntry is one measurement.
type CacheEntry struct {
	Target string        // the backend's fingerprint
	Tactic string        //
	Layer  string        // what was measured: op, attributes, epilogue, forms of inputs and outputs
	Time   time.Duration // of one launch, in nanoseconds in the file

	Measured time.Time `json:",omitzero"`  // when; zero: not known
	Spread   float64   `json:",omitempty"` // by what share of Time, which is the best of all occasions, the second best was longer; 0: not known
	Note     string    `json:",omitempty"` // what the kernel said about itself
}

// Disturbed reports whether the machine did something else while the entry was measured: its time was not met again but
// for a quarter.
func (e CacheEntry) Disturbed() bool { return e.Spread > 0.25 }

func (e CacheEntry) key() string { return e.Target + "\x00" + e.Tactic + "\x00" + e.Layer }

const (
	cacheFormat   = "trtui timing cache"
	cacheVersion  = 1
	maxCacheBytes = 64 << 20
)

var errNotCache = errors.New("not a timing cache")

type cacheHeader struct {
	Format  string
	Version int
}

// NewTimingCache returns an empty cache.
func NewTimingCache() *TimingCache {
	return &TimingCache{entries: map[string]CacheEntry{}, put: map[string]bool{}, dropped: map[string]bool{}}
}

// OpenTimingCache reads a cache file; one that does not exist gives an empty cache, and one of another version too,
// since measuring anew mends it.
func OpenTimingCache(path string) (*TimingCache, error) {
	data, err := host.ReadUpTo(path, maxCacheBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return NewTimingCache(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("timing cache: %w", err) // which names it
	}
	c, err := ReadTimingCache(bytes.NewReader(data))
	switch {
	case errors.Is(err, errNotCache):
		return nil, fmt.Errorf("timing cache %s: %w; name another file", path, err)
	case err != nil:
		return nil, fmt.Errorf("timing cache %s: %w; delete it to measure again", path, err)
	}
	return c, nil
}

// ReadTimingCache reads what Save writes. Lines that are damaged are left out, and Damaged tells of them.
func ReadTimingCache(r io.Reader) (*TimingCache, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxCacheBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxCacheBytes {
		return nil, fmt.Errorf("larger than %d MiB", maxCacheBytes>>20)
	}
	c := NewTimingCache()
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if n == 1 {
			var h cacheHeader
			if err := json.Unmarshal(line, &h); err != nil || h.Format != cacheFormat {
				return nil, errNotCache
			}
			if h.Version != cacheVersion {
				return NewTimingCache(), nil
			}
			continue
		}
		var e CacheEntry
		if err := json.Unmarshal(line, &e); err != nil || e.Time <= 0 {
			c.damaged = append(c.damaged, n)
			continue
		}
		c.entries[e.key()] = e
	}
	return c, nil
}

// Damaged returns what was left out when the cache was read, nil for nothing. The next Save does not write it again.
func (c *TimingCache) Damaged() error {
	switch n := len(c.damaged); {
	case n == 0:
		return nil
	case n == 1:
		return fmt.Errorf("line %d is damaged and left out", c.damaged[0])
	default:
		return fmt.Errorf("%d lines are damaged and left out, the first of them line %d", n, c.damaged[0])
	}
}

// Save brings a file up to date, if anything was measured or dropped since the last time: what others wrote to it in the
// meantime stays, and is known to the cache from then on. The file is replaced as a whole, so that a reader never sees
// half of it; of two programs that save at the very same moment one may lose its entries, which it then measures again.
func (c *TimingCache) Save(path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.put)+len(c.dropped) == 0 {
		return nil
	}
	stored, err := c.merge(path)
	if err != nil {
		return fmt.Errorf("%w; it is left as it is, without what was measured now", err)
	}
	if err := writeCache(path, sorted(stored)); err != nil {
		return fmt.Errorf("timing cache: %w", err)
	}
	for k, e := range stored {
		c.entries[k] = e
	}
	clear(c.put)
	clear(c.dropped)
	return nil
}

// merge returns the entries that the file is to have: its own, without those that were dropped and with those that were
// put here. A file that is not there gets all of this cache; one that cannot be read, or is no cache any more, may have more than
// that, and is an error. c.mu is held.
func (c *TimingCache) merge(path string) (map[string]CacheEntry, error) {
	stored := maps.Clone(c.entries)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		f, err := OpenTimingCache(path)
		if err != nil {
			return nil, err
		}
		stored = f.entries
	}
	for k := range c.dropped {
		delete(stored, k)
	}
	for k := range c.put {
		stored[k] = c.entries[k]
	}
	return stored, nil
}

// writeCache replaces the file.
func writeCache(path string, entries []CacheEntry) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if err := enc.Encode(cacheHeader{cacheFormat, cacheVersion}); err != nil {
		return err
	}
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	_, err := host.WriteFile(path, host.Bytes(b.Bytes()))
	return err
}

// Has reports whether there is a measurement of what e names.
func (c *TimingCache) Has(e CacheEntry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.entries[e.key()]
	return ok
}

// Get returns a measurement, and counts the hit or miss.
func (c *TimingCache) Get(target, tactic, layer string) (CacheEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[CacheEntry{Target: target, Tactic: tactic, Layer: layer}.key()]
	if ok {
		c.hits++
	} else {
		c.misses++
	}
	return e, ok
}

// Put remembers a measurement.
func (c *TimingCache) Put(e CacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := e.key()
	c.entries[k] = e
	c.put[k] = true
	delete(c.dropped, k)
}

// Drop forgets the entries that the function names, and returns how many they were.
func (c *TimingCache) Drop(which func(CacheEntry) bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for k, e := range c.entries {
		if which(e) {
			delete(c.entries, k)
			delete(c.put, k)
			c.dropped[k] = true
			n++
		}
	}
	return n
}

// Entries returns all entries, sorted.
func (c *TimingCache) Entries() []CacheEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sorted(c.entries)
}

func sorted(entries map[string]CacheEntry) []CacheEntry {
	list := make([]CacheEntry, 0, len(entries))
	for _, e := range entries {
		list = append(list, e)
	}
	sort.Slice(list, func(i, j int) bool { return strings.Compare(list[i].key(), list[j].key()) < 0 })
	return list
}

// Stats returns how often Get found something and how often not.
func (c *TimingCache) Stats() (hits, misses int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses
}
