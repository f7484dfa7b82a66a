package cpu

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cache is a level of a processor's caches.
type cache struct {
	level  int
	bytes  int64 // of one
	shared int   // threads that share one
}

// instances returns how many caches of the level so many threads have.
func (c cache) instances(threads int) int { return (threads + c.shared - 1) / c.shared }

// caches returns those that hold data, nearest first, as the system tells them of the first processor; none where it does not.
func caches() []cache { return cachesBelow("/sys/devices/system/cpu/cpu0/cache") }

const maxCacheLevel = 8

func cachesBelow(dir string) (list []cache) {
	indices, _ := filepath.Glob(filepath.Join(dir, "index[0-9]*"))
	for _, index := range indices {
		field := func(name string) string {
			data, err := os.ReadFile(filepath.Join(index, name))
			if err != nil || len(data) > 1<<12 {
				return ""
			}
			return strings.TrimSpace(string(data))
		}
		level, err := strconv.Atoi(field("level"))
		c := cache{level, sizeOf(field("size")), processors(field("shared_cpu_list"))}
		if err != nil || level < 1 || level > maxCacheLevel || field("type") == "Instruction" || c.bytes < 1<<12 || c.shared < 1 {
			continue
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b cache) int { return a.level - b.level })
	return slices.CompactFunc(list, func(a, b cache) bool { return a.level == b.level })
}

// sizeOf reads a size as in "48K"; 0 where it is none.
func sizeOf(text string) int64 {
	unit := int64(1)
	for suffix, u := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if t, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = t, u
		}
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n * unit
}

// processors counts a list as in "0-3,8-11"; 0 where it is none.
func processors(text string) (n int) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			return 0
		}
		b := a
		if ranged {
			if b, err = strconv.Atoi(last); err != nil || b < a {
				return 0
			}
		}
		n += b - a + 1
	}
	return n
}
