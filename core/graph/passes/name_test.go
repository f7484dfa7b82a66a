package passes

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
)

// TestNamesAreThePrincipals lowers quantised and other models: every fused layer is called by the node that a person looks for,
// names are unique, and a source layer stands first in one name only.
func TestNamesAreThePrincipals(t *testing.T) {
	data := os.Getenv("TRTUI_DATA")
	if data == "" {
		t.Skip("TRTUI_DATA is not set")
	}
	for _, model := range []string{
		"cifar10-resnet8/resnet8_fp32.onnx", "cifar10-resnet8/resnet8_int8_qdq.onnx", "kws-dscnn/kws_int8_qdq.onnx",
		"mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_uint8_qdq.onnx", "mobilenet_v2_1.0_224_int8/*.onnx", "mnist-cntk/*.onnx",
	} {
		t.Run(filepath.Base(filepath.Dir(model)), func(t *testing.T) {
			files, _ := filepath.Glob(filepath.Join(data, "models", model))
			if len(files) == 0 {
				t.Skipf("%s is not there", model)
			}
			f, err := onnx.Open(graph.Ops(), files[0])
			if err != nil {
				t.Fatal(err)
			}
			n := f.Network
			ops := map[string]string{}
			for _, l := range n.Layers {
				ops[l.Name] = l.Op.Name
			}
			ctx := context.Background()
			after, _, err := Run(ctx, n, Standard(), pass.Config{})
			if err == nil {
				after, _, err = Run(ctx, after, Lowering(), pass.Config{})
			}
			if err != nil {
				t.Fatal(err)
			}
			first := map[string]bool{}
			for _, l := range after.Layers {
				p, _, fused := strings.Cut(l.Name, " + ")
				if first[p] {
					t.Errorf("two layers are named after %s", p)
				}
				first[p] = true
				if l.Op == graph.Reformat { // dequantisation and quantisation alone
					continue
				}
				if fused && l.Op.Name != ops[p] && l.Op != graph.Pointwise && l.Op != graph.Gemm {
					t.Errorf("%s %s is named after a %s", l.Op.Name, l.Name, ops[p])
				}
				if fused && strings.HasSuffix(ops[p], "quantizeLinear") || fused && ops[p] == graph.Quantize.Name {
					t.Errorf("%s %s is named after a %s", l.Op.Name, l.Name, ops[p])
				}
			}
		})
	}
}
