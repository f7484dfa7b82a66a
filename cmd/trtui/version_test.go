package main

import (
	"runtime/debug"
	"testing"
)

func TestCommit(t *testing.T) {
	settings := func(pairs ...string) *debug.BuildInfo {
		i := &debug.BuildInfo{}
		for ; len(pairs) > 0; pairs = pairs[2:] {
			i.Settings = append(i.Settings, debug.BuildSetting{Key: pairs[0], Value: pairs[1]})
		}
		return i
	}
	const id = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		revision string
		info     *debug.BuildInfo
		want     string
	}{
		{"", nil, "unknown"},
		{"-dirty", nil, "unknown"}, // built by make, outside of a clone
		{"", settings(), "unknown"},
		{"", settings("vcs.modified", "true"), "unknown"},
		{"", settings("vcs.revision", id, "vcs.modified", "false"), "0123456789ab"},
		{"", settings("vcs.modified", "true", "vcs.revision", id), "0123456789ab-dirty"},
		{"fedcba987654-dirty", settings("vcs.revision", id), "fedcba987654-dirty"},
	} {
		if got := commit(c.revision, c.info); got != c.want {
			t.Errorf("%q, %v: %s, want %s", c.revision, c.info, got, c.want)
		}
	}
}
