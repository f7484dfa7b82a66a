package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemory(t *testing.T) {
	const meminfo = "MemTotal:       8000 kB\nMemFree:        100 kB\nMemAvailable:   5000 kB\n"
	for _, c := range []struct {
		name        string
		files       map[string]string
		free, total int64
		ok          bool
	}{
		{"a system that does not tell", nil, 0, 0, false},
		{"no control group", map[string]string{"proc/meminfo": meminfo}, 5000 << 10, 8000 << 10, true},
		{"no limit", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 5000 << 10, 8000 << 10, true},
		{"a limit", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000000\n",
			"sys/fs/cgroup/a/memory.current": "400000\n", "sys/fs/cgroup/a/memory.stat": "anon 7\ninactive_file 100000\n"}, 700000, 1000000, true},
		{"a limit of the first version", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/x\n0::/\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1000000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "1200000\n"}, 0, 1000000, true},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if free, total, ok := memoryBelow(root); free != c.free || total != c.total || ok != c.ok {
			t.Errorf("%s: %d of %d, %v; want %d of %d, %v", c.name, free, total, ok, c.free, c.total, c.ok)
		}
	}
}
