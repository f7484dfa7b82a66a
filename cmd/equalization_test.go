package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// widened writes ResNet-8 with one channel of a convolution times by, and what the next layer multiplies it by divided: the same
// function, of which one range of 8 bits holds one channel alone. It returns the file and the flags of data.
func widened(t *testing.T, by float32) (model string, data []string) {
	t.Helper()
	root := os.Getenv("TRTUI_DATA")
	if root == "" {
		t.Skip("TRTUI_DATA is not set: the trained models are not here")
	}
	f, err := onnx.Open(graph.Ops(), filepath.Join(root, "models/cifar10-resnet8/resnet8_fp32.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	n := f.Network.Clone()
	first := n.Layer("Conv_2")
	second := n.Sole(n.Sole(first.Outputs[0]).Outputs[0]) // behind a Relu
	scale := func(l *graph.Layer, input int, by float32, of func(i int, dims []int) int) {
		v, _ := l.Inputs[input].Const()
		x := slices.Clone(v.F32())
		for i := range x {
			if of(i, v.Dims) == 3 {
				x[i] *= by
			}
		}
		l.SetInput(input, n.AddConst(l.Inputs[input].Name+"_wide", numeric.Values(numeric.F32, x, v.Dims...)))
	}
	out := func(i int, dims []int) int { return i / numeric.Count(dims[1:]) }
	scale(first, 1, by, out)
	scale(first, 2, by, out)
	scale(second, 1, 1/by, func(i int, dims []int) int { return i / numeric.Count(dims[2:]) % dims[1] })
	n.Prune()
	cifar := filepath.Join(root, "eval/cifar10/cifar10_train_0000-1999.bin.gz")
	return networkFile(t, n), []string{"--data", cifar, "--items", "500-699", "--calib-data", cifar, "--calib-items", "0-99", "--scale", "1", "--mean", "0", "--std", "1", "-q", "--format", "json",
		"--calibrator", "minmax", "--activations", "symmetric", "--bias-correction", "off"}
}

// TestWideChannelIsNamed: the layer whose channel reaches ten times as far is named, not the one behind it that suffers, with the
// channel, what the others need and what helps; calibration finds it, too.
func TestWideChannelIsNamed(t *testing.T) {
	for by, bad := range map[float32]string{10: "", 100: "Conv_2"} {
		model, data := widened(t, by)
		out, _ := command(t, 0, append([]string{"eval", "--per-layer", model, "--precision", "int8", "--equalization", "off"}, data...)...)
		type reach struct {
			Outliers []int
			Bits     float64
			Cure     *struct {
				Equalization string
				With         []string
				Gain         float64 `json:"gain_db"`
			}
		}
		named := func(what string, r *reach) {
			if r == nil || !slices.Equal(r.Outliers, []int{3}) || r.Bits < 2 || r.Cure == nil || r.Cure.Equalization != "weights" || r.Cure.Gain < 10 ||
				len(r.Cure.With) != 1 || !strings.HasPrefix(r.Cure.With[0], "Conv_4") {
				t.Errorf("x%v: %s: %+v", by, what, r)
			}
		}
		var r struct {
			Worst    string `json:"worst_layer"`
			FirstBad string `json:"first_bad"`
			Layers   []struct {
				Name  string
				Cause struct {
					AddsAt string `json:"adds_at"`
					Reach  *reach
				}
			}
		}
		if err := json.NewDecoder(strings.NewReader(out)).Decode(&r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !strings.HasPrefix(r.Worst, "Conv_2") || !strings.HasPrefix(r.FirstBad, bad) || bad == "" && r.FirstBad != "" {
			t.Errorf("x%v: the worst layer is %q, the first bad one %q", by, r.Worst, r.FirstBad)
		}
		for _, l := range r.Layers {
			if strings.HasPrefix(l.Name, "Conv_2") {
				named("accuracy, seen at "+l.Cause.AddsAt, l.Cause.Reach)
			} else if l.Cause.Reach != nil && len(l.Cause.Reach.Outliers) > 0 {
				t.Errorf("x%v: %s has outliers, too: %+v", by, l.Name, l.Cause.Reach)
			}
		}
		at := slices.Index(data, "--items")
		prepared := data[slices.Index(data, "--scale"):slices.Index(data, "-q")]
		args := slices.Concat([]string{"calibrate", model, "-q", "--format", "json", "--calibrator", "minmax", "--equalization", "off", "--items", "0-99"}, data[:at], prepared)
		out, _ = command(t, 0, args...)
		var c struct {
			Tensors []struct {
				Layer string
				Reach *reach
			}
		}
		if err := json.NewDecoder(strings.NewReader(out)).Decode(&c); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, one := range c.Tensors {
			if one.Layer == "Relu_3" {
				named("calibration", one.Reach)
			}
		}
	}
}

// TestEqualizeWideChannel: a channel that reaches a hundred times as far as the others costs INT8 more than half of ResNet-8's
// answers, and with channels equalised, by either way, none.
func TestEqualizeWideChannel(t *testing.T) {
	model, data := widened(t, 100)
	top1 := func(how string) float64 {
		out, _ := command(t, 0, append([]string{"eval", "--per-layer", model, "--precision", "int8", "--equalization", how}, data...)...)
		var r struct {
			Labels struct {
				Top1 float64 `json:"top1_share"`
			}
		}
		if err := json.NewDecoder(strings.NewReader(out)).Decode(&r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return 100 * r.Labels.Top1
	}
	off, weights, activations := top1("off"), top1("weights"), top1("activations")
	t.Logf("top-1 %.1f %%, by weights %.1f %%, by activations %.1f %%", off, weights, activations)
	if off > 60 || weights < 91 || activations < 91 {
		t.Errorf("top-1 %.1f %%, by weights %.1f %%, by activations %.1f %%", off, weights, activations)
	}
}
