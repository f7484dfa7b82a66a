package cmd

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/kernels/cuda/bringup"
	"github.com/trtui/trtui/ui"
)

// everyCommand returns a command and all below it that a person is told of.
func everyCommand(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, everyCommand(sub)...)
		}
	}
	return list
}

// TestHelp: the help of every command fits into 80 cells, has every flag under a heading, tells the exit codes, and names no
// folder of the person who asks.
func TestHelp(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	for _, c := range everyCommand(rootCommand(tables{backends: backends})) {
		var out, errOut bytes.Buffer
		args := append(strings.Fields(strings.TrimPrefix(c.CommandPath(), "trtui")), "--help")
		if code := execute(t.Context(), args, &out, &errOut); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &errOut)
		}
		text := out.String()
		for line := range strings.Lines(text) {
			if ui.Width(strings.TrimRight(line, "\n")) > 80 && !strings.HasPrefix(c.CommandPath(), "trtui completion") { // cobra's
				t.Errorf("%v: %d cells: %s", args, ui.Width(line)-1, line)
			}
		}
		if !strings.HasSuffix(text, exitHelp) || strings.Contains(text, home+"/") {
			t.Errorf("%v:\n%s", args, text)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%v: no --%s", args, f.Name)
			}
		})
	}
}

// TestExamples: every command has examples, whose command lines are understood.
func TestExamples(t *testing.T) {
	for _, c := range everyCommand(rootCommand(tables{backends: backends})) {
		if strings.HasPrefix(c.CommandPath(), "trtui completion ") {
			continue
		}
		lines := strings.Split(strings.TrimSpace(c.Example), "\n")
		if len(lines) < 2 {
			t.Errorf("%s has no examples", c.CommandPath())
		}
		for _, line := range lines {
			words := shellWords(line)
			if len(words) == 0 || words[0] != "trtui" {
				continue
			}
			if i := slices.Index(words, ">"); i > 0 {
				words = words[:i]
			}
			root := rootCommand(tables{backends: backends})
			found, args, err := root.Find(words[1:])
			if err == nil {
				err = found.ParseFlags(args)
			}
			if err == nil && found != root {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %s: %v", c.CommandPath(), line, err)
			}
		}
	}
}

// shellWords divides a line as a shell does, where quotes are single ones about whole words.
func shellWords(line string) []string {
	words := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1)
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	return words
}

// TestCompletion completes values of flags and kinds of files. The number behind the colon is what cobra tells the shell: 4 for
// no files, 8 for files with these endings, 16 for folders, 2 for no space behind it.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"model.onnx", "notes.txt", "m.engine"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("models", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"bench|--precision|", "fp32 fp16 int8 :4"},
		{"eval|--precision|fp32,i", "fp32,int8 :4"},
		{"bench|--calibrator=e", "entropy :4"},
		{"bench|--backend|cuda", "cuda cudasim :4"},
		{"run|--backends|cpu,", "cpu,cpu cpu,cuda cpu,cudasim cpu,eval cpu,onnxruntime :4"},
		{"conformance|--backend|e", "eval :4"},
		{"bench|--device|h", "h100 h200 :4"},
		{"replay|--format|", "text json :4"},
		{"--theme|d", "dark :4"},
		{"inspect|passes|--disable|no-op,dead-c", "no-op,dead-code :4"},
		{"gpu|bringup|--steps|", strings.Join(bringup.Steps(), " ") + " :4"},
		{"bench|--forbid-tactic|conv1=eva", "conv1=eval :4"},
		{"bench|--config|", "json :8"},
		{"--recordings|", ":16"},
		{"bench|", "onnx engine :8"},
		{"inspect|recording|", "trtui :8"},
		{"inspect|kernel|softmax|", "onnx engine :8"},
		{"inspect|mem", "memory :4"},
		{"b", "bench build :4"},
		{"mo", "model.onnx models/ :6"},
		{"m.", "m.engine :4"},
	} {
		var out, errOut bytes.Buffer
		code := execute(t.Context(), append([]string{"__completeNoDesc"}, strings.Split(c.line, "|")...), &out, &errOut)
		if got := strings.Join(strings.Fields(out.String()), " "); code != 0 || got != c.want {
			t.Errorf("%s: %q, want %q\n%s", c.line, got, c.want, &errOut)
		}
	}
}
