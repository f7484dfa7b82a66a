//go:build linux

package crash

import (
	"os/exec"
	"regexp"
	"strings"

	"github.com/trtui/trtui/internal/torture"
)

// processors are instruction sets that one may have, and what tactics that need more have in their names.
var processors = []struct {
	features string
	beyond   *regexp.Regexp
}{
	{"generic", regexp.MustCompile(`"tactic": "[a-z0-9_]*_(avx2|avxvnni|avx512|vnni|amx)(_|")`)},
	{"avx2", regexp.MustCompile(`"tactic": "[a-z0-9_]*_(avxvnni|avx512|vnni|amx)(_|")`)},
	{"avx2+avxvnni", regexp.MustCompile(`"tactic": "[a-z0-9_]*_(avx512|vnni|amx)(_|")`)},
	{"avx512", regexp.MustCompile(`"tactic": "[a-z0-9_]*_(vnni|amx)(_|")`)},
	{"avx512+vnni", regexp.MustCompile(`"tactic": "[a-z0-9_]*_amx(_|")`)},
	{"avx512+vnni+amx", nil},
}

// otherProcessor: an engine that was built on one processor runs on another with what that one has, and computes the same.
func otherProcessor(t *test) {
	built, other := processors[t.rnd.IntN(len(processors))], processors[t.rnd.IntN(len(processors))]
	engine, outputs, cache := t.path("some.engine"), t.path("outputs.npz"), []string{"none", t.path("timing")}[t.rnd.IntN(2)]
	on := func(features string, args ...string) *exec.Cmd {
		cmd := t.command(append(args, "-q", "--timing-cache", cache)...)
		cmd.Env = append(cmd.Env, "TRTUI_CPU_FEATURES="+features)
		t.commands[len(t.commands)-1] = "TRTUI_CPU_FEATURES=" + features + " " + t.commands[len(t.commands)-1]
		return cmd
	}
	var c torture.Child
	for _, cmd := range []*exec.Cmd{
		on(built.features, "build", t.model, "-o", engine, "--precision", []string{"fp32", "fp16", "int8"}[t.rnd.IntN(3)]),
		on(built.features, "run", engine, "--items", "2", "--save-outputs", outputs),
		on(other.features, "run", engine, "--items", "2", "--load-outputs", outputs, "--rtol", "0.02"),
		on(other.features, "bench", engine, "--per-layer", "--iterations", "2", "--duration", "1ms", "--format", "json"),
	} {
		c = t.run(cmd)
		if strings.Contains(c.Stderr, "this processor has") {
			return // and not what it is to stand for
		}
		if c.Code != 0 && t.ctx.Err() == nil {
			t.errorf(c, "%s fails: %s", cmd.Args[1], general(c.Stderr))
			return
		}
	}
	if other.beyond != nil && other.beyond.MatchString(c.Stdout) {
		t.errorf(c, "a tactic that the processor has not")
	}
}
