package cmd

import (
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/sessions/report"
)

// What inspect passes prints is what --disable takes, whatever layers are called.
func TestSiteArgument(t *testing.T) {
	for _, layers := range [][]string{
		{"stem/act/Relu", "stem/conv/Conv"}, {"a b", "it's", "x,y"}, {"Conv_0", "gelu"}, {"Conv_0", "no-op:1"}, {"$HOME", "*"}, {"Größe"},
	} {
		site := pass.NewSite("fuse-residual", layers...)
		arg := siteArgument(site.String())
		if strings.ContainsAny(arg, " $*'") && !strings.HasPrefix(arg, "'") {
			t.Errorf("%q is not quoted", arg)
		}
		word := strings.ReplaceAll(arg, `'\''`, "\x00")
		word = strings.ReplaceAll(strings.ReplaceAll(word, "'", ""), "\x00", "'")
		list := splitDisabled([]string{word})
		if len(list) != 1 {
			t.Fatalf("%q: %q is taken apart into %q", layers, word, list)
		}
		if got, err := pass.ParseSite(list[0]); err != nil || !reflect.DeepEqual(got, site) {
			t.Errorf("%q: %v, %v", layers, got, err)
		}
	}
}

// A place that is printed can be switched off, and only it.
func TestDisablePrinted(t *testing.T) {
	passes := func(args ...string) string {
		out, _ := command(t, 0, append([]string{"inspect", "passes", "--verbose"}, args...)...)
		return out
	}
	before := passes()
	var site string
	for line := range strings.Lines(before) {
		if id, _, ok := strings.Cut(strings.TrimPrefix(line, "     + "), " -> "); ok && strings.HasPrefix(id, "fuse-activation:") {
			site = id
			break
		}
	}
	if !strings.Contains(site, ",") {
		t.Fatalf("no activation is fused in\n%s", before)
	}
	after := passes("--disable", site)
	if !strings.Contains(after, "- "+site+": disabled") {
		t.Errorf("%s is not switched off in\n%s", site, after)
	}
	if n, m := strings.Count(before, "+ fuse-activation:"), strings.Count(after, "+ fuse-activation:"); m != n-1 {
		t.Errorf("%d activations are fused instead of %d", m, n-1)
	}
}

// TestCommonNote: of places that are told as one it is said what holds for all of them.
func TestCommonNote(t *testing.T) {
	step := &report.PassStep{}
	for _, layer := range []string{"a", "b", "c", "d"} {
		step.Fired = append(step.Fired, report.FiredSite{Site: "equalization:" + layer, Rule: "equalization", Into: layer, Note: "16 channels by " + layer + "; on 25 items that were held out: nearest 35.5 dB; gptq 37.1 dB"})
	}
	var b strings.Builder
	if folded := writeFired(&b, step, false); !folded || !strings.Contains(b.String(), "at 4 places [on 25 items that were held out: nearest 35.5 dB; gptq 37.1 dB]; the first is equalization:a") {
		t.Errorf("it says %s", b.String())
	}
}
