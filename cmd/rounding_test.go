package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// evaluated are rows of trtui eval.
type evaluated struct {
	Rows []struct {
		Precision    string
		SQNR         float64 `json:"sqnr_db"`
		Agreement    float64 `json:"agreement"`
		LatencyMS    float64 `json:"latency_ms"`
		WeightsBytes int     `json:"weights_bytes"`
		Perplexity   float64
		Emulated     bool
	}
}

func rowsOf(t *testing.T, rows int, args ...string) (e evaluated) {
	t.Helper()
	out, _ := command(t, 0, append([]string{"eval", "--format", "json", "-q"}, args...)...)
	if err := json.Unmarshal([]byte(out), &e); err != nil || len(e.Rows) != rows {
		t.Fatalf("%v in\n%s", err, out)
	}
	return e
}

// TestFewBitsOfLanguageModel: weights of 8 bits leave 98 of 100 tokens the ones that FP32 holds most likely behind the same text, by a
// third of the bytes; of 4 bits, rounding by moments on another text costs less perplexity than the nearest integers.
func TestFewBitsOfLanguageModel(t *testing.T) {
	folder, _ := stories(t)
	text, other := filepath.Join(t.TempDir(), "story.txt"), filepath.Join(t.TempDir(), "other.txt")
	for path, of := range map[string]string{text: lily, other: strings.Repeat("Tim had a red car. He went to the big park with his mom and saw a dog. "+
		"The dog was sad. Tim said, \"Do not be sad, we can play.\" They ran and ran, and then they went home to sleep.\n", 3)} {
		if err := os.WriteFile(path, []byte(of), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{filepath.Join(folder, "stories260K_dyn.onnx"), "--data", text, "--calib-data", other, "--tokenizer", filepath.Join(folder, "tok512.bin"), "--shapes", "tokens:1x32"}
	r := rowsOf(t, 2, append(args, "--weights", "int8")...).Rows
	if plain, few := r[0], r[1]; few.Agreement < 98 || few.Perplexity > plain.Perplexity*1.02 || few.WeightsBytes*5 > plain.WeightsBytes*2 {
		t.Errorf("%+v", r)
	}
	nearest := rowsOf(t, 2, append(args, "--weights", "int4", "--rounding", "nearest")...).Rows[1]
	gptq := rowsOf(t, 2, append(args, "--weights", "int4", "--rounding", "gptq")...).Rows[1]
	if gptq.Perplexity > nearest.Perplexity-0.02 || nearest.WeightsBytes >= r[1].WeightsBytes {
		t.Errorf("nearest %+v, gptq %+v", nearest, gptq)
	}
	_, out := command(t, 2, append([]string{"eval"}, append(args, "--weights", "int3")...)...)
	if !strings.Contains(out, `--weights "int3": want int8 or int4`) {
		t.Error(out)
	}
}

// mnist returns a trained network with digits to evaluate it on, and others to calibrate it on.
func mnist(t *testing.T) []string {
	t.Helper()
	root := os.Getenv("TRTUI_DATA")
	if root == "" {
		t.Skip("TRTUI_DATA is not set: the trained models are not here")
	}
	digits := filepath.Join(root, "eval/mnist/t10k-images-idx3-ubyte.gz")
	return []string{filepath.Join(root, "models/mnist-cntk/mnist.onnx"), "--data", digits, "--items", "0-39", "--calib-data", digits, "--calib-items", "1000-1099",
		"--scale", "1", "--mean", "0", "--std", "1"}
}

// TestRoundingINT8: weights of INT8 rounded by moments bring a network nearer to FP32, on digits that were not calibrated on.
func TestRoundingINT8(t *testing.T) {
	args := append(mnist(t), "--precision", "int8", "--calibrator", "mse", "--rounding")
	nearest, gptq := rowsOf(t, 2, append(args, "nearest")...).Rows[1], rowsOf(t, 2, append(args, "gptq")...).Rows[1] // behind FP32
	if gptq.SQNR < nearest.SQNR+0.5 {
		t.Errorf("nearest %.1f dB, gptq %.1f dB", nearest.SQNR, gptq.SQNR)
	}
}

// TestRoundingOfWeightsAlone: weights of 4 bits are rounded by what loses less on digits that were held out, as those of INT8 are, and
// the pass tells what was compared; without data, and with another choice, nothing is tried.
func TestRoundingOfWeightsAlone(t *testing.T) {
	args := append(mnist(t), "--weights", "int4")
	sqnr := func(rounding string) float64 {
		return rowsOf(t, 2, append(args, "--rounding", rounding)...).Rows[1].SQNR
	}
	nearest, gptq, auto := sqnr("nearest"), sqnr("gptq"), sqnr("auto")
	if best := max(nearest, gptq); auto < best-0.5 || gptq < nearest+0.5 {
		t.Errorf("nearest %.1f dB, gptq %.1f dB, auto %.1f dB", nearest, gptq, auto)
	}
	for rounding, tried := range map[string]bool{"auto": true, "nearest": false} {
		out, _ := command(t, 0, append(append([]string{"inspect", "passes", "--verbose", "-q"}, args...), "--rounding", rounding)...)
		if strings.Contains(out, "items that were held out: nearest") != tried || strings.Contains(out, "gptq") != tried {
			t.Errorf("rounding %s:\n%s", rounding, out)
		}
	}
	out, _ := command(t, 0, "inspect", "passes", args[0], "--weights", "int4", "--verbose", "-q")
	if strings.Contains(out, "held out") {
		t.Error(out)
	}
}

// TestEngineKeepsRounding: an engine that keeps its source keeps the integers that its weights were rounded to by moments, and is lowered
// to them again without the data.
func TestEngineKeepsRounding(t *testing.T) {
	for _, by := range []string{"gptq", "compensated"} {
		file := filepath.Join(t.TempDir(), "digits.engine")
		command(t, 0, append(few(t), "build", "--precision", "int8", "--rounding", by, "--equalization", "off", "--keep-source", "-q", "-o", file)...)
		out, _ := command(t, 0, "inspect", "passes", file, "--verbose", "-q")
		if strings.Count(out, by+", as it was found before") < 3 || strings.Contains(out, "to the nearest") {
			t.Error(out)
		}
	}
}

// TestFP8 evaluates what floats of 8 bits hold, without times; whatever would need one refuses it.
func TestFP8(t *testing.T) {
	r := rowsOf(t, 3, append(mnist(t), "--precision", "fp8,fp8-e5m2")...).Rows // FP32 first
	if a, b := r[1], r[2]; !a.Emulated || a.LatencyMS != 0 || a.WeightsBytes != 0 || a.SQNR < 25 || b.SQNR < 20 || a.SQNR < b.SQNR {
		t.Errorf("%+v", r)
	}
	for _, c := range []string{"bench", "build -o x.engine", "inspect tactics"} {
		if _, out := command(t, 2, append(strings.Fields(c), "--precision", "fp8")...); !strings.Contains(out, "trtui eval --precision fp8") {
			t.Errorf("%s: %s", c, out)
		}
	}
	if _, out := command(t, 2, "eval", "--precision", "fp8", "--layer-precisions", "*:int8"); !strings.Contains(out, "may be in fp32 alone") {
		t.Error(out)
	}
}
