package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/testdata"
)

// TestRefit gives an engine in INT8 the weights of a model and of arrays, and names what is wrong with others.
func TestRefit(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	other, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	halved := map[string]numeric.Value{}
	for _, c := range other.Consts() {
		if v, _ := c.Const(); v.Type == numeric.F32 && v.Len() > 1 {
			w := numeric.NewValue(v.Type, v.Dims...)
			for i, x := range v.F32() {
				w.F32()[i] = x / 2
			}
			c.Weights, halved[c.Name] = w.Data, w
		}
	}
	write := func(name string, write func(*bytes.Buffer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("other.onnx", func(b *bytes.Buffer) error { return onnx.Export(b, other) })
	write("other.npz", func(b *bytes.Buffer) error { return dataset.WriteNpz(b, halved) })
	write("wrong.npz", func(b *bytes.Buffer) error {
		return dataset.WriteNpz(b, map[string]numeric.Value{"fc.wieght": numeric.NewValue(numeric.F32, 1)})
	})
	table := tables{backends: testTable()}
	for name, args := range map[string][]string{
		"kept.engine": append(rough(t), "--keep-source", "--precision", "int8"), "bare.engine": nil,
	} {
		if out, err := call(t, buildCommand(table), append(args, "-q", "-o", in(name))...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	var got [2]struct {
		Weights, Changed int
	}
	for i, weights := range []string{"other.onnx", "other.npz"} {
		out, err := refitted(table, in("kept.engine"), "--weights", in(weights), "-o", in(weights+".engine"), "--format", "json", "-q")
		if err != nil || json.Unmarshal([]byte(out), &got[i]) != nil || got[i].Changed == 0 || got[i].Weights < got[i].Changed {
			t.Fatalf("%s: %v\n%s", weights, err, out)
		}
	}
	outputs := map[string]string{}
	for _, name := range []string{"kept.engine", "other.onnx.engine", "other.npz.engine"} {
		file := in(name + ".npz")
		if out, err := call(t, runCommand(table), in(name), "--save-outputs", file, "-q"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		outputs[name] = string(data)
	}
	if outputs["other.onnx.engine"] != outputs["other.npz.engine"] || outputs["kept.engine"] == outputs["other.npz.engine"] {
		t.Error("the engines compute something else")
	}
	for _, c := range []struct{ engine, weights, want string }{
		{"kept.engine", "wrong.npz", "no such constant"},
		{"bare.engine", "other.npz", "exchanging weights needs the source network"},
		{"bare.engine", "other.onnx", "exchanging weights needs the source network"},
		{"other.onnx", "other.npz", "is not an engine"},
		{"kept.engine", "nothing.npz", "no such file"},
	} {
		if _, err := refitted(table, in(c.engine), "--weights", in(c.weights), "-o", in("x")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: it says %v, want %q", c.engine, c.weights, err, c.want)
		}
	}
	if _, err := refitted(table, in("kept.engine")); err == nil {
		t.Error("without weights it runs")
	}
}

// refitted runs trtui refit, which times nothing.
func refitted(t tables, args ...string) (string, error) {
	c := refitCommand(t)
	var out bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	return out.String(), err
}
