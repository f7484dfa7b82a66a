package cmd

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/dataset"
)

// recurrentModel writes a GRU of one place whose state is an input and an output, and three places for it; it returns the paths.
func recurrentModel(t *testing.T) (model, data string) {
	t.Helper()
	d, one := graph.Define("gru"), symbolic.Const(1)
	x, h := d.Input("x", numeric.F32, one, one, symbolic.Const(2)), d.Input("h", numeric.F32, one, one, symbolic.Const(3))
	weights := func(name string, n int) *graph.Tensor {
		list := make([]float32, 9*n)
		for i := range list {
			list[i] = float32(i%5)/4 - 0.4
		}
		return d.Weights(name, list, 1, 9, n)
	}
	y, last := d.GRU(x, graph.Recurrent{W: weights("w", 2), R: weights("r", 3), State: h}, graph.RecurrentAttrs{Hidden: 3})
	d.Output("y", y)
	d.Output("hn", last)
	data = filepath.Join(t.TempDir(), "x.npz")
	places := map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{1, -1, 0.5, 2, -0.25, 0}, 3, 1, 1, 2)}
	if _, err := host.WriteFile(data, func(w io.Writer) error { return dataset.WriteNpz(w, places) }); err != nil {
		t.Fatal(err)
	}
	return definedFile(t, d), data
}

// TestStateFlag: a state is read, checked, named in text, JSON and configuration files, and begins with zeros.
func TestStateFlag(t *testing.T) {
	model, data := recurrentModel(t)
	common := []string{model, "--data", data, "-q"}
	with := func(command string, args ...string) []string {
		return append(append([]string{command}, common...), args...)
	}
	out, _ := command(t, 0, with("eval", "--state", "h=hn", "--precision", "fp32")...)
	if !strings.Contains(out, "state: h is hn of the item before") {
		t.Errorf("got\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(file, []byte(`{"state": {"h": "hn"}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _ = command(t, 0, with("eval", "--config", file, "--precision", "int8", "--calibrator", "minmax", "--format", "json")...)
	var report struct {
		Rows []struct {
			Config struct {
				State []struct{ Input, Output string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Rows) != 2 || len(report.Rows[0].Config.State) != 1 || report.Rows[0].Config.State[0].Output != "hn" {
		t.Errorf("%+v in\n%s", report, out)
	}
	command(t, 0, with("run", "--state", "h=hn", "--backends", "cpu,eval")...)
	if _, errs := command(t, 2, with("eval")...); !strings.Contains(errs, "no data for input") {
		t.Error(errs)
	}
	for _, c := range []struct{ state, want string }{
		{"", "--state is empty"},
		{"h", `--state "h": want INPUT=OUTPUT`},
		{"h=hn,h=y", `--state "h=y": want INPUT=OUTPUT, comma separated, each input once`},
		{"g=hn", `--state: the model has no input "g"`},
		{"h=y", "--state: input h f32[1,1,3] cannot be the output y"},
	} {
		if _, errs := command(t, 2, with("eval", "--state", c.state)...); !strings.Contains(errs, c.want) {
			t.Errorf("%q: %s", c.state, errs)
		}
	}
}
