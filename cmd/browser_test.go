package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// browser returns a browser that draws pages without a window; "" where there is none.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

var tag = regexp.MustCompile(`<(svg|rect|path|text|table|tr|td|th|pre|span|h[1-3])[\s>]`)

// tags counts the elements of a page by their names.
func tags(page string) map[string]int {
	count := map[string]int{}
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		count[m[1]]++
	}
	return count
}

// TestBrowser: a browser takes a report and a screen as they are written. One that has to repair a page adds elements or drops some, and
// what a page refers to outside of itself it tells of, since nothing is there.
func TestBrowser(t *testing.T) {
	program := browser()
	if program == "" || testing.Short() {
		t.Skip("no browser is installed, or time is short")
	}
	dir := t.TempDir()
	session := filepath.Join(dir, "s.trtui")
	command(t, 0, append(rough(t), "record", "--precision", "fp32,int8", "--calibrator", "minmax", "-q", "-o", session)...)
	for name, args := range map[string][]string{"report": nil, "graph": {"--screen", "graph"}, "roofline": {"--screen", "timings", "--press", "v,v"}, "tried": {"--screen", "tried", "--theme", "light"}} {
		page := filepath.Join(dir, name+".html")
		command(t, 0, append([]string{"export", "html", session, "-q", "-o", page}, args...)...)
		written, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		run := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+filepath.Join(dir, "profile"),
			"--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--dump-dom", "file://"+page)
		run.Stderr = &said
		dom, err := run.Output()
		if err != nil {
			t.Skipf("%s does not run here: %v\n%s", program, err, said.String())
		}
		want, got := tags(string(written)), tags(string(dom))
		if len(want) == 0 {
			t.Errorf("%s has no elements", name)
		}
		for element, n := range want {
			if got[element] != n {
				t.Errorf("%s: %d elements %s are written, and the browser has %d", name, n, element, got[element])
			}
		}
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, "CONSOLE") || strings.Contains(line, "ERR_") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
