package cmd

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/generate"
)

// fewBitsOf returns the weights of 4 bits of an engine, as its kernels read them: two in a byte.
func fewBitsOf(e *run.Engine) (list []string) {
	for _, c := range e.Any().Network.Consts() {
		if c.Type == numeric.U8 {
			list = append(list, string(c.Weights))
		}
	}
	slices.Sort(list)
	return list
}

// TestGenerateByRoundedWeights: engines for prompts and for single tokens have the integers that weights were rounded to by a text, and not
// the nearest ones, whether or not the model keeps keys and values.
func TestGenerateByRoundedWeights(t *testing.T) {
	for _, name := range []string{"llama", "gpt2"} {
		o := &generateFlags{modelFlags: *onBackends(tables{backends: backends[:1]})}
		o.device.backend, o.device.timings = backends[0].name, "none"
		m, err := o.openModel(filepath.Join("..", "sessions", "generate", "testdata", name+".onnx"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.workshop(m)
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		cfg := config.Default()
		cfg.Weights, cfg.Quantization.Rounding = "int4", "gptq"
		text, r := make([]int, 600), rand.New(rand.NewPCG(1, 2))
		for i := range text {
			text[i] = int(90 * r.Float64() * r.Float64())
		}
		set, err := generate.Windows(m.Network, "", "text", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		work, shaped := p.work, cfg.Clone()
		if work.CalData, err = set.Bind(m.Network.Inputs); err == nil {
			shaped.Shapes, err = m.DataShapes(work.CalData)
		}
		if err != nil {
			t.Fatal(err)
		}
		runner := sessions.NewRunner(m, work, nil)
		defer runner.Close()
		rounded, err := sessions.Rounded(t.Context(), runner, shaped)
		if err != nil || len(rounded) < 8 {
			t.Fatalf("%s: the weights of %d layers are rounded by moments: %v", name, len(rounded), err)
		}
		whole, err := runner.Engine(t.Context(), shaped, false)
		if err != nil {
			t.Fatal(err)
		}
		engine := func(rounded build.Rounded) (list [2][]string) {
			l, err := generate.New(m.Network, "", 20, 40, p.work.Backend, languageBuilder(p, cfg, learned{rounded: rounded}, nil))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if _, err := l.Generate(t.Context(), generate.Request{Prompt: text[:20], Most: 2}, func(int) error { return nil }); err != nil {
				t.Fatal(err)
			}
			for i, plan := range l.Engine().Plans {
				list[i] = fewBitsOf(&run.Engine{Plans: []*run.Plan{plan}})
			}
			return list
		}
		want, nearest := fewBitsOf(whole), engine(nil)
		for i, got := range engine(rounded) {
			if len(want) < 8 || !slices.Equal(got, want) || slices.Equal(nearest[i], want) || len(nearest[i]) != len(want) {
				t.Errorf("%s, engine %d: %d weights of 4 bits of %d are not those that were found", name, i, len(got), len(want))
			}
		}
	}
}

// TestGenerateRounding: what --calib-data and --rounding are for is said where one of them is missing; by a text, other weights than the
// nearest write.
func TestGenerateRounding(t *testing.T) {
	folder, all := stories(t)
	text := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(text, []byte(lily), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"generate", filepath.Join(folder, "stories260K_dyn.onnx"), "--tokenizer", filepath.Join(folder, "tok512.bin"), "--prompt", all[0].Prompt, "--tokens", "100", "-q"}
	for _, c := range []struct{ args, want string }{
		{"--weights int4 --rounding gptq", "name a text by --calib-data"},
		{"--calib-data " + text, "name by --weights what to"},
	} {
		if _, out := command(t, exitFailure, append(args, strings.Fields(c.args)...)...); !strings.Contains(out, c.want) {
			t.Errorf("%s: %s, want %q", c.args, out, c.want)
		}
	}
	write := func(more ...string) string {
		out, _ := command(t, 0, append(args, more...)...)
		return out[:strings.Index(out, "\n\nprompt ")]
	}
	nearest, by := write("--weights", "int4"), write("--weights", "int4", "--calib-data", text, "--rounding", "gptq")
	if nearest == by || !strings.HasPrefix(by, all[0].Prompt) {
		t.Errorf("%q, and by a text %q", nearest, by)
	}
}
