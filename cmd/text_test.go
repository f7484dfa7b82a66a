package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/trtui/trtui/sessions/report"
)

// Text is ASCII where the locale has nothing else, or where that is asked for; JSON is as it is.
func TestASCIIText(t *testing.T) {
	foreign := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
	}
	args := []string{"inspect", "memory"}
	t.Setenv("LC_ALL", "en_US.UTF-8")
	if out, _ := command(t, 0, args...); !strings.Contains(out, "█") {
		t.Errorf("no blocks in\n%s", out)
	}
	if out, _ := command(t, 0, append(args, "--ascii")...); foreign(out) || !strings.Contains(out, "###") {
		t.Errorf("--ascii:\n%s", out)
	}
	t.Setenv("LC_ALL", "C")
	for _, args := range [][]string{args, {"inspect", "passes"}, nil} {
		if out, errs := command(t, 0, args...); foreign(out + errs) {
			t.Errorf("%v:\n%s%s", args, out, errs)
		}
	}
	var data bytes.Buffer
	out := &textOutput{w: &data}
	if err := writeJSON(out, "µ"); err != nil || data.String() != "\"µ\"\n" {
		t.Errorf("%q, %v", data.String(), err)
	}
}

// A timing cache that cannot be read is a warning, and is not written over.
func TestUnreadableTimingCache(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "notes")
	if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{{dir, "warning: timing cache: " + dir + " is a directory"}, {other, "warning: timing cache " + other + ": "}} {
		path := c.path
		out, errs := command(t, 0, "bench", "--timing-cache", path, "--duration", "1ms", "--iterations", "1")
		if !strings.Contains(errs, c.want) || !strings.Contains(errs, "goes on without it") || !strings.Contains(out, "latency") {
			t.Errorf("%s:\n%s%s", path, out, errs)
		}
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// Damaged lines of a timing cache are a warning, said once; the rest of it counts, and is kept.
func TestDamagedTimingCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "timing.jsonl")
	bench := func() string {
		_, errs := command(t, 0, "bench", "--timing-cache", path, "--duration", "1ms", "--iterations", "1")
		return errs
	}
	bench()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-10], 0o644); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(text, []byte("\n"))
	if errs, want := bench(), fmt.Sprintf("warning: timing cache %s: line %d is damaged and left out\n", path, lines); strings.Count(errs, want) != 1 {
		t.Errorf("%q is not said once in\n%s", want, errs)
	}
	if errs := bench(); strings.Contains(errs, "damaged") {
		t.Errorf("after it was saved:\n%s", errs)
	}
	if again, err := os.ReadFile(path); err != nil || bytes.Count(again, []byte("\n")) < lines { // other times may make twins worth one
		t.Errorf("%d lines, there were %d, %v", bytes.Count(again, []byte("\n")), lines, err)
	}
}

// What is being done is repeated as long as it takes, and nothing is written after its end.
func TestProgressWriter(t *testing.T) {
	var out textOutput
	var text bytes.Buffer
	out.w = &text
	p := &progressWriter{w: &out, began: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	p.report(report.Progress{Phase: "measuring", Done: 1, Total: 3})
	go p.run(time.Millisecond)
	for range 1000 {
		out.mu.Lock()
		n := strings.Count(text.String(), "measuring 1/3 (33%)\n")
		out.mu.Unlock()
		if n > 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	p.stop()
	if n := strings.Count(text.String(), "measuring 1/3 (33%)\n"); n < 3 {
		t.Errorf("%d lines in %q", n, text.String())
	}
}

// A line of progress is gone before anything else is written.
func TestShowLine(t *testing.T) {
	var text bytes.Buffer
	out := &textOutput{w: &text}
	out.showLine("measuring", 12)
	writeNote(out, "warning: it is hot")
	out.endLine()
	if want := "\rmeasuring   \r" + "\r            \r" + "warning: it is hot\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
}
