package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

const root = "../.."

// TestUpToDate compares the page in the repository with what its results give.
func TestUpToDate(t *testing.T) {
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "docs", "gpu.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
		t.Error("docs/gpu.md is not what scripts/gpudoc writes: run make generate")
	}
}

// TestPage renders two runs of one device: a newest figure, an older one with its commit, layouts, failures and gaps.
func TestPage(t *testing.T) {
	got, err := generate(filepath.Join("testdata", "two_runs"))
	if err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, got)
}

func TestBadResults(t *testing.T) {
	for _, c := range []struct{ name, json, want string }{
		{"not JSON", "{", "unexpected end"},
		{"a simulator's device", `{"schema": 1, "stage": "ours", "device": "cudasim"}`, "a simulator's"},
		{"a simulator's times", `{"schema": 1, "stage": "bringup", "rows": [{"summary": "bringup", "estimated": true}]}`, "a simulator's"},
		{"another schema", `{"schema": 2, "stage": "ours"}`, "schema 2"},
		{"another stage", `{"schema": 1, "stage": "theirs"}`, `stage "theirs"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "gpu", "20260101-abc", "ours.json"), c.json, 0o644)
			if _, err := readDevices(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
