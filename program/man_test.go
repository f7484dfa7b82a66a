package program

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestManual: the page has every command and flag, and nothing in it is taken for a macro that is none; where there is a
// formatter it has nothing to complain of.
func TestManual(t *testing.T) {
	page, _ := command(t, 0, "man")
	for line := range strings.Lines(page) {
		macro, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(strings.Fields(".TH .SH .SS .B .br .PP .TP .nf .fi"), macro) {
			t.Errorf("%q is no macro", line)
		}
	}
	text := strings.ReplaceAll(page, `\-`, "-")
	root := rootCommand(tables{backends: backends})
	for _, c := range everyCommand(root) {
		if use, _, _ := strings.Cut(c.UseLine(), " ["); !strings.Contains(text, use) {
			if !strings.HasPrefix(c.CommandPath(), "trtui completion ") {
				t.Errorf("the page has no %q", use)
			}
			continue
		}
		if !strings.HasPrefix(c.CommandPath(), "trtui completion") {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
					t.Errorf("%s: the page has no --%s", c.CommandPath(), f.Name)
				}
			})
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	cmd := exec.Command(groff, "-man", "-ww", "-Tutf8", "-z")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
