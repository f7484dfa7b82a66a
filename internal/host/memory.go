// Package host tells how much memory this machine has, and opens and writes its files.
package host

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory returns how many bytes of the machine's memory are free for this process, and how many it may use in all: what the
// system has available, or what the process's control group or its own limit leaves of it. Where nothing tells, ok is false.
func Memory() (free, total int64, ok bool) {
	free, total, ok = memoryBelow("/")
	most := limit.Load()
	if most <= 0 {
		return free, total, ok
	}
	if rest := left(most); !ok || rest < free {
		free = rest
	}
	return free, most, true
}

// memoryBelow reads the system's files below a root.
func memoryBelow(root string) (free, total int64, ok bool) {
	info := fields(filepath.Join(root, "proc/meminfo"), 1<<10)
	free, total = info["MemAvailable:"], info["MemTotal:"]
	if total <= 0 {
		return 0, 0, false
	}
	for _, g := range groups(root) {
		limit, known := number(g.limit)
		if !known || limit >= total {
			continue
		}
		used, _ := number(g.used)
		stat := fields(g.stat, 1)
		total = limit
		free = min(free, max(0, limit-used+max(stat["inactive_file"], stat["total_inactive_file"]))) // a cache gives way
	}
	return free, total, true
}

// group is the files of a control group that limits memory.
type group struct{ limit, used, stat string }

// groups returns the control groups that the process is in, of either version, and those around them.
func groups(root string) []group {
	var list []group
	add := func(mount, path, limit, used string) {
		for {
			dir := filepath.Join(root, mount, path)
			list = append(list, group{filepath.Join(dir, limit), filepath.Join(dir, used), filepath.Join(dir, "memory.stat")})
			if path == "/" || path == "." || path == "" {
				return
			}
			path = filepath.Dir(path)
		}
	}
	data, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "":
			add("sys/fs/cgroup", parts[2], "memory.max", "memory.current")
		case strings.Contains(","+parts[1]+",", ",memory,"):
			add("sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes", "memory.usage_in_bytes")
		}
	}
	return list
}

// number reads a file that holds one number.
func number(path string) (n int64, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil && n < math.MaxInt64/2
}

// fields reads lines of a name and a number, in so many bytes each.
func fields(path string, unit int64) map[string]int64 {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	m := map[string]int64{}
	for s := bufio.NewScanner(f); s.Scan(); {
		parts := strings.Fields(s.Text())
		if len(parts) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(parts[1], 10, 64); err == nil {
			m[parts[0]] = n * unit
		}
	}
	return m
}
