package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
)

// registerMemory adds --max-memory to a command.
func (o *options) registerMemory(c *cobra.Command) {
	c.Flags().StringVar(&o.memory, "max-memory", "", "how much of this machine's memory may be taken, as in 4GiB or 512MiB; what needs more is refused before it is taken; default: what is free")
}

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
func (o *options) maxMemory() (int64, error) {
	if o.memory == "" {
		return 0, nil
	}
	text := strings.ToLower(strings.TrimSpace(o.memory))
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
	return 0, fmt.Errorf("--max-memory %q: want a size such as 4GiB, 512MiB or a number of bytes", o.memory)
}

// limitMemory keeps a backend to --max-memory.
func (o *options) limitMemory(b run.Backend) error {
	n, err := o.maxMemory()
	if err != nil {
		return usageError{err}
	}
	if l, ok := b.(run.Limited); ok {
		l.LimitMemory(n)
	}
	return nil
}
