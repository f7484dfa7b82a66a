package build

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTimingCacheRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "timing.jsonl")
	c := NewTimingCache()
	c.Put(CacheEntry{"cpu", "conv_a", "Conv 3x3", 7 * time.Microsecond, ""})
	c.Put(CacheEntry{"cpu", "conv_b", "Conv 3x3", 9 * time.Microsecond, ""})
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := OpenTimingCache(path)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := back.Get("cpu", "conv_a", "Conv 3x3"); !ok || d.Time != 7*time.Microsecond {
		t.Errorf("got %v, %v", d, ok)
	}
	if _, ok := back.Get("gpu", "conv_a", "Conv 3x3"); ok {
		t.Error("another device's time was found")
	}
	if hits, misses := back.Stats(); hits != 1 || misses != 1 {
		t.Errorf("%d hits, %d misses", hits, misses)
	}
	if n := back.Drop(func(e CacheEntry) bool { return e.Tactic == "conv_b" }); n != 1 || len(back.Entries()) != 1 {
		t.Errorf("dropped %d, %d left", n, len(back.Entries()))
	}
}

func TestTimingCacheFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	if c, err := OpenTimingCache(filepath.Join(dir, "missing")); err != nil || len(c.Entries()) != 0 {
		t.Errorf("a missing file: %v", err)
	}
	for name, text := range map[string]string{
		"text":    "hello\n",
		"damaged": "{\"Format\":\"trtui timing cache\",\"Version\":1}\n{\"Target\":\"cpu\",\"Time\":-5}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenTimingCache(path); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
	later := "{\"Format\":\"trtui timing cache\",\"Version\":99}\nwhatever\n"
	if c, err := ReadTimingCache(bytes.NewReader([]byte(later))); err != nil || len(c.Entries()) != 0 {
		t.Errorf("a later version is to be measured anew, got %v", err)
	}
}

func FuzzReadTimingCache(f *testing.F) {
	f.Add([]byte("{\"Format\":\"trtui timing cache\",\"Version\":1}\n{\"Target\":\"cpu\",\"Tactic\":\"a\",\"Layer\":\"b\",\"Time\":5}\n"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := ReadTimingCache(bytes.NewReader(data)); err == nil {
			c.Entries()
		}
	})
}
