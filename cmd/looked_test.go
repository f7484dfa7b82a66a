package cmd

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnsupportedModel gives every command a model with unsupported operators: those that look at it do, and the others
// refuse it by node before they do anything.
func TestUnsupportedModel(t *testing.T) {
	const model = "../sessions/testdata/unsupported.onnx"
	const refusal = "trtui: unsupported.onnx cannot be imported: com.example:Sift (2 nodes: sift1, sift2): operator is not supported; com.example:Weave (node weave): operator is not supported\n"
	engine := filepath.Join(t.TempDir(), "e.engine")
	for _, command := range []string{"build -o " + engine, "bench", "eval", "run", "calibrate", "inspect engine", "inspect memory", "inspect tactics", ""} {
		var out, errOut bytes.Buffer
		args := append(withCache(strings.Fields(command), "none"), "-q", model)
		code := executeOn(t.Context(), quick, args, &out, &errOut)
		if code != exitFailure || !strings.HasPrefix(errOut.String(), refusal) || !strings.Contains(errOut.String(), "trtui inspect model MODEL") || out.Len() > 0 {
			t.Errorf("%q: exit code %d\n%s%s", command, code, &out, &errOut)
		}
	}
	if files, _ := filepath.Glob(engine + "*"); len(files) > 0 {
		t.Errorf("%v was written", files)
	}
	text, _ := command(t, 0, "inspect", "model", model)
	for _, want := range []string{"not runnable: 3 of 7 layers have unsupported operators (Sift x2, Weave)\n", `depth=3 mode="fine" (operator is not supported)`,
		"relu2: y f32[n,2,h2,w2] = Relu(w)", "conv2         Conv               its input"} {
		if !strings.Contains(text, want) {
			t.Errorf("inspect model does not say %q:\n%s", want, text)
		}
	}
	if text, _ = command(t, 0, "inspect", "passes", "--precision", "int8", model); !strings.Contains(text, "not runnable: ") || !strings.Contains(text, "+ fuse-activation:conv1,relu1 ->") {
		t.Errorf("inspect passes:\n%s", text)
	}
	text, _ = command(t, 0, "inspect", "model", "--format", "json", model)
	var report struct {
		NotRunnable string `json:"not_runnable"`
		Unsupported []struct{ Layer, Op, Domain, Reason, Behind string }
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil || len(report.Unsupported) != 4 {
		t.Fatalf("%v in %s", err, text)
	}
	first, second := report.Unsupported[0], report.Unsupported[1]
	if first.Layer != "sift1" || first.Op != "Sift" || first.Domain != "com.example" || first.Reason != "operator is not supported" || first.Behind != "" {
		t.Errorf("the first is %+v", first)
	}
	if second.Layer != "conv2" || second.Op != "Conv" || second.Behind != "sift1" || report.NotRunnable == "" {
		t.Errorf("the second is %+v of %q", second, report.NotRunnable)
	}
	if text, _ = command(t, 0, "inspect", "model", "--format", "json"); !strings.Contains(text, `"unsupported": []`) || strings.Contains(text, "not_runnable") {
		t.Error("the embedded model is said to be unsupported")
	}
}
