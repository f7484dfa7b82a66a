package cmd

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/onnxruntime"
)

// weightsScript prints the SQNR of a model's outputs in ONNX Runtime against another one's. By default it quantises what products by
// weights of few bits read as well, by blocks of rows: that is switched off.
const weightsScript = `
import sys
import numpy as np
import onnxruntime as rt
options = rt.SessionOptions()
options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
items = np.load(sys.argv[3])["x"]
a, b = (np.stack([s.run(None, {"x": x[None]})[0] for x in items]) for s in (rt.InferenceSession(p, options, providers=["CPUExecutionProvider"]) for p in sys.argv[1:3]))
print(10 * np.log10((a**2).sum() / ((a - b) ** 2).sum()))
`

// TestExportWeightsWithZeroPoints: weights alone in few bits with zero points, for columns or groups of them, are written so that ONNX Runtime
// computes what the engine does, and the ledger names them at each product.
func TestExportWeightsWithZeroPoints(t *testing.T) {
	python := os.Getenv(onnxruntime.PythonVariable)
	if python == "" {
		t.Skip(onnxruntime.PythonVariable + " is not set: it names a Python with onnxruntime")
	}
	args := tokens(t, 1)
	model, data := args[0], args[2]
	for _, weights := range []string{"int8:asymmetric", "int4:16:asymmetric"} {
		few := append([]string{"--weights", weights, "--keep", "MatMul", "--bias-correction", "off", "--activations", "asymmetric", "--calibrator", "minmax"}, args...)
		ours := rowsOf(t, 2, few...).Rows[1].SQNR
		file := filepath.Join(t.TempDir(), "weights.onnx")
		command(t, 0, append([]string{"export", "--qdq", "-o", file}, few...)...)
		out, err := exec.CommandContext(t.Context(), python, "-c", weightsScript, model, file, data).Output()
		if err != nil {
			t.Fatal(err)
		}
		var theirs float64
		if _, err := fmt.Sscan(string(out), &theirs); err != nil || math.Abs(ours-theirs) > 0.1 || ours < 20 {
			t.Errorf("%s: %.2f dB, in ONNX Runtime %s", weights, ours, out)
		}
		ledger, _ := command(t, 0, append([]string{"inspect", "passes", "--verbose"}, few...)...)
		if strings.Count(ledger, "; "+weights+"]") != 2 {
			t.Errorf("%s:\n%s", weights, ledger)
		}
	}
}
