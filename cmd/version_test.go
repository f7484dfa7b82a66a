package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/sessions/report"
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

// The version as JSON is a document like the others.
func TestVersionJSON(t *testing.T) {
	out, _ := command(t, 0, "version", "--format", "json")
	var v struct {
		Schema               int
		Commit, Go, OS, Arch string
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Schema != report.OutputSchema || v.Commit != ownCommit() || v.OS != runtime.GOOS {
		t.Errorf("%s: %v", out, err)
	}
	command(t, exitFailure, "version", "--format", "xml")
}

// --version is what others call it.
func TestVersionFlag(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		want, _ := command(t, 0, "version", "--format", format)
		if got, _ := command(t, 0, "--version", "--format", format); got != want || got == "" {
			t.Errorf("--version prints %q, version %q", got, want)
		}
	}
}

// What is mistyped is answered with what is spelt alike.
func TestMistyped(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bnech"}, `did you mean "bench"?`},
		{[]string{"rnu", "m.onnx"}, `"rnu" is neither a command nor a file; did you mean "gpu" or "run"?`},
		{[]string{"bnech", "rnu"}, `"bnech" is neither a command nor a file; did you mean "bench"?`},
		{[]string{"record", "-o", "-"}, "record does not write to standard output: -o names a file"},
		{[]string{"export", "csv", "-o", "-"}, "export csv does not write to standard output"},
		{[]string{"bench", "--percision", "int8"}, `did you mean "--precision"`},
		{[]string{"build", "x.onnx", "--percision", "int8"}, `trtui: unknown flag: --percision; did you mean "--precision"`},
		{[]string{"gpu", "selftest", "--budgt", "3"}, `did you mean "--budget"?`},
		{[]string{"bench", "--recordings", "x"}, "bench has no --recordings; the workbench has\n"},
		{[]string{"inspect", "model", "--tactic", "x"}, "inspect model has no --tactic; the workbench, bench, build and "},
		{[]string{"bench", "--seed", "-1"}, `trtui: --seed "-1": want a whole number from 0`},
		{[]string{"bench", "--mean", "x"}, `trtui: --mean "x": want numbers with commas between them`},
		{[]string{"generate", "x.onnx", "--ids", ""}, `--ids "": want whole numbers with commas between them`},
		{[]string{"run", "--load-outputs", ""}, "trtui: --load-outputs is empty: is the variable set that it comes from?"},
		{[]string{"bench", "--shapes="}, "trtui: --shapes is empty"},
		{[]string{"check", "--budget", "x.yaml", "--baseline", ""}, "trtui: --baseline is empty"},
		{[]string{"build", "-o", ""}, "trtui: --output is empty"},
		{[]string{"bench", ""}, "trtui: argument 1 is empty: is the variable set"},
		{[]string{"check", "", "--budget", "x.yaml"}, "trtui: argument 1 is empty"},
		{[]string{"diff", "a.onnx", ""}, "trtui: argument 2 is empty"},
		{[]string{"bench", "--ranges", "version_test.go"}, "it is neither a file of calibration nor a calibration cache of TensorRT"},
		{[]string{"bench", "--duration", "soon"}, `--duration "soon": want a time such as 500ms or 2s`},
		{[]string{"bench", "--xyzzyplugh"}, "unknown flag: --xyzzyplugh\nusage:"},
	} {
		if _, got := command(t, exitFailure, c.args...); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s", c.args, got)
		}
	}
}

// TestEmptyValues: no flag of any command takes nothing for a value, those with values of their own neither, but for a text.
func TestEmptyValues(t *testing.T) {
	for _, c := range everyCommand(rootCommand(tables{backends: backends})) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, text := f.Value.(*textValue); !text && f.Value.Set("") == nil {
				t.Errorf("%s takes --%s without a value", words(c), f.Name)
			}
		})
	}
}

// TestLicences: every module of go.mod is listed in its version, with its licence and the text of that.
func TestLicences(t *testing.T) {
	text, _ := command(t, 0, "version", "--licenses")
	list, texts, _ := strings.Cut(text, "\n--------")
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"the Go standard library and runtime", "the digits of MNIST"}
	for line := range strings.Lines(string(mod)) {
		if f := strings.Fields(line); len(f) >= 2 && strings.HasPrefix(line, "\t") {
			names = append(names, f[0]+" "+f[1])
		}
	}
	for _, name := range names {
		_, behind, ok := strings.Cut(list, "\n"+name+": ")
		if licence, _, _ := strings.Cut(behind, "\n"); !ok || licence == "" || !strings.Contains(texts, "\n"+name+", ") {
			t.Errorf("%s has no licence: go run ./scripts/licences", name)
		}
	}
	if n := strings.Count(strings.TrimSpace(list), "\n") - 1; n != len(names) {
		t.Errorf("%d are listed, of %d: go run ./scripts/licences", n, len(names))
	}
	command(t, exitFailure, "version", "--licenses", "--format", "json")
}
