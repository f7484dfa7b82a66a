package build

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

// TimingCache remembers how long tactics took, so that a second build of the same layers measures nothing: TensorRT's
// ITimingCache. It is safe for concurrent use. The file is JSON lines: a header, then an entry a line, sorted.
type TimingCache struct {
	mu      sync.Mutex
	entries map[string]CacheEntry
	hits    int
	misses  int
	changed bool
}

// CacheEntry is one measurement.
type CacheEntry struct {
	Target string        // the backend's fingerprint
	Tactic string        //
	Layer  string        // what was measured: op, attributes, epilogue, forms of inputs and outputs
	Time   time.Duration // of one launch, in nanoseconds in the file
	Note   string        `json:",omitempty"` // what the kernel said about itself
}

func (e CacheEntry) key() string { return e.Target + "\x00" + e.Tactic + "\x00" + e.Layer }

const (
	cacheFormat   = "trtui timing cache"
	cacheVersion  = 1
	maxCacheBytes = 64 << 20
)

type cacheHeader struct {
	Format  string
	Version int
}

// NewTimingCache returns an empty cache.
func NewTimingCache() *TimingCache { return &TimingCache{entries: map[string]CacheEntry{}} }

// OpenTimingCache reads a cache file; one that does not exist gives an empty cache, and one of another version too,
// since measuring anew mends it.
func OpenTimingCache(path string) (*TimingCache, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return NewTimingCache(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("timing cache: %w", err)
	}
	defer f.Close()
	c, err := ReadTimingCache(f)
	if err != nil {
		return nil, fmt.Errorf("timing cache %s: %w; delete it to measure anew", path, err)
	}
	return c, nil
}

// ReadTimingCache reads what Save writes.
func ReadTimingCache(r io.Reader) (*TimingCache, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxCacheBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxCacheBytes {
		return nil, fmt.Errorf("larger than %d MiB", maxCacheBytes>>20)
	}
	c := NewTimingCache()
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		if n == 0 {
			var h cacheHeader
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Format != cacheFormat {
				return nil, errors.New("not a timing cache")
			}
			if h.Version != cacheVersion {
				return NewTimingCache(), nil
			}
			continue
		}
		var e CacheEntry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Time <= 0 {
			return nil, fmt.Errorf("line %d is damaged", n+1)
		}
		c.entries[e.key()] = e
	}
	return c, lines.Err()
}

// Save writes the cache to a file, if anything was added since it was read. The file is replaced as a whole, so that
// a reader never sees half of it.
func (c *TimingCache) Save(path string) error {
	c.mu.Lock()
	changed := c.changed
	c.changed = false
	c.mu.Unlock()
	if !changed {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if err := enc.Encode(cacheHeader{cacheFormat, cacheVersion}); err != nil {
		return err
	}
	for _, e := range c.Entries() {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("timing cache: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".timing-*")
	if err != nil {
		return fmt.Errorf("timing cache: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b.Bytes())
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("timing cache: %w", err)
	}
	return os.Rename(tmp.Name(), path)
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
	c.entries[e.key()] = e
	c.changed = true
}

// Drop forgets the entries that the function names, and returns how many they were.
func (c *TimingCache) Drop(which func(CacheEntry) bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for k, e := range c.entries {
		if which(e) {
			delete(c.entries, k)
			n++
		}
	}
	c.changed = c.changed || n > 0
	return n
}

// Entries returns all entries, sorted.
func (c *TimingCache) Entries() []CacheEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]CacheEntry, 0, len(c.entries))
	for _, e := range c.entries {
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
