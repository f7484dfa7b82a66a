package program

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/run"
)

// memoryUnits are what a size may be given in.
var memoryUnits = []struct {
	suffix string
	bytes  float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1}, {"", 1},
}

// maxMemory returns the bytes of --max-memory; 0 where it was not given.
func (d *deviceFlags) maxMemory() (int64, error) {
	if d.memory == "" {
		return 0, nil
	}
	text := strings.ToLower(strings.TrimSpace(d.memory))
	for _, u := range memoryUnits {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n > 0) || n*u.bytes < 1 || n*u.bytes > 1<<60 {
			break
		}
		return int64(n * u.bytes), nil
	}
	return 0, fmt.Errorf("--max-memory %q: want a size such as 4GiB, 512MiB or a number of bytes", d.memory)
}

// limitMemory keeps a backend to --max-memory.
func (d *deviceFlags) limitMemory(b run.Backend) error {
	n, err := d.maxMemory()
	if err != nil {
		return usageError{err}
	}
	if l, ok := b.(run.Limited); ok {
		l.LimitMemory(n)
	}
	return nil
}
