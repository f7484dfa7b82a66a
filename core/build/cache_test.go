package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTimingCacheRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "timing.jsonl")
	c := NewTimingCache()
	measured := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	c.Put(CacheEntry{Target: "cpu", Tactic: "conv_a", Layer: "Conv 3x3", Time: 7 * time.Microsecond, Measured: measured, Spread: 0.5})
	c.Put(CacheEntry{Target: "cpu", Tactic: "conv_b", Layer: "Conv 3x3", Time: 9 * time.Microsecond})
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
	if e := back.Entries(); !e[0].Measured.Equal(measured) || !e[0].Disturbed() || !e[1].Measured.IsZero() || e[1].Disturbed() {
		t.Errorf("read back as %+v", e)
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

// TestTimingCacheShared has two programs save to one file: neither undoes what the other measured or dropped.
func TestTimingCacheShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "timing.jsonl")
	entry := func(tactic string, d time.Duration) CacheEntry {
		return CacheEntry{Target: "cpu", Tactic: tactic, Layer: "Conv", Time: d}
	}
	drop := func(c *TimingCache, tactic string) { c.Drop(func(e CacheEntry) bool { return e.Tactic == tactic }) }
	save := func(c *TimingCache) {
		t.Helper()
		if err := c.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	tactics := func(list []CacheEntry) string {
		text := ""
		for _, e := range list {
			text += fmt.Sprintf("%s%d ", e.Tactic, e.Time)
		}
		return text
	}
	stored := func(want string) {
		t.Helper()
		c, err := OpenTimingCache(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := tactics(c.Entries()); got != want {
			t.Errorf("the file has %s, want %s", got, want)
		}
	}
	one := NewTimingCache()
	one.Put(entry("a", 1))
	one.Put(entry("b", 2))
	save(one)
	two, err := OpenTimingCache(path)
	if err != nil {
		t.Fatal(err)
	}
	one.Put(entry("c", 3))
	save(one)
	two.Put(entry("d", 4))
	two.Put(entry("a", 9))
	drop(two, "b")
	save(two)
	stored("a9 c3 d4 ")
	if got := tactics(two.Entries()); got != "a9 c3 d4 " {
		t.Errorf("the other program's entries are not known: %s", got)
	}
	save(one) // nothing is new in it: what it still knows of b stays out of the file
	stored("a9 c3 d4 ")
	drop(one, "c")
	one.Put(entry("c", 5)) // measured anew after it was dropped
	save(one)
	stored("a9 c5 d4 ")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	one.Put(entry("e", 6))
	save(one)
	stored("a9 b2 c5 d4 e6 ")
}

// TestTimingCacheSaveFails keeps what could not be written for the next time.
func TestTimingCacheSaveFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewTimingCache()
	c.Put(CacheEntry{Target: "cpu", Tactic: "a", Layer: "Conv", Time: 1})
	if err := c.Save(filepath.Join(file, "timing.jsonl")); err == nil {
		t.Fatal("a file was written below a file")
	}
	path := filepath.Join(dir, "timing.jsonl")
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	if back, err := OpenTimingCache(path); err != nil || len(back.Entries()) != 1 {
		t.Errorf("%v", err)
	}
}

func TestTimingCacheFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	if c, err := OpenTimingCache(filepath.Join(dir, "missing")); err != nil || len(c.Entries()) != 0 {
		t.Errorf("a missing file: %v", err)
	}
	for name, text := range map[string]string{
		"text":    "hello\n",
		"damaged": "{\"Format\":\"trtui timing ca",
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

// TestTimingCacheDamaged: of a file with damaged lines the others are known, and the next save leaves only those.
func TestTimingCacheDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "timing.jsonl")
	c := NewTimingCache()
	for _, tactic := range []string{"a", "b", "c", "d"} {
		c.Put(CacheEntry{Target: "cpu", Tactic: tactic, Layer: "Conv", Time: 7})
	}
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string]string{
		"cut off at the end":     string(text[:len(text)-20]),
		"a line of noise":        strings.Replace(string(text), `{"Target":"cpu","Tactic":"d"`, "\x00\xff\x1b]0;", 1),
		"a time below nothing":   strings.Replace(string(text), `"Tactic":"d","Layer":"Conv","Time":7`, `"Tactic":"d","Layer":"Conv","Time":-7`, 1),
		"a line without any end": strings.Replace(string(text), `"Tactic":"d","Layer":"Conv"`, `"Tactic":"d","Layer":"`+strings.Repeat("Conv", 1<<19), 1),
	} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := OpenTimingCache(path)
		if err != nil || len(c.Entries()) != 3 || c.Damaged() == nil || c.Damaged().Error() != "line 5 is damaged and left out" {
			t.Errorf("%s: %d entries, %v, %v", name, len(c.Entries()), c.Damaged(), err)
			continue
		}
		c.Put(CacheEntry{Target: "cpu", Tactic: "e", Layer: "Conv", Time: 7})
		if err := c.Save(path); err != nil {
			t.Fatal(err)
		}
		if c, err := OpenTimingCache(path); err != nil || len(c.Entries()) != 4 || c.Damaged() != nil {
			t.Errorf("%s, saved: %d entries, %v, %v", name, len(c.Entries()), c.Damaged(), err)
		}
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

// TestSaveBeside: a file that cannot be read, or is something else by now, may have more than the cache, and is left as it is.
func TestSaveBeside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "timing")
	c := NewTimingCache()
	c.Put(CacheEntry{Target: "t", Tactic: "x", Layer: "l", Time: 1})
	const other = "something else\n"
	if err := os.WriteFile(file, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Save(file); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "left as it is") {
		t.Errorf("saved beside something else: %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != other {
		t.Errorf("the file has %q", data)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := c.Save(file); err != nil {
		t.Errorf("once it is gone: %v", err)
	}
}
