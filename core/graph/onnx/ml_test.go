package onnx

import (
	"context"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// mlModel is a model of one node of ai.onnx.ml on x, of three rows of so many features.
func mlModel(op string, features int, outputs []string, attrs ...[]byte) []byte {
	fields := [][]byte{input("x", 3, features), nodeField(op, "n", list("x"), outputs, append(attrs, str(7, "ai.onnx.ml"))...)}
	for _, o := range outputs {
		fields = append(fields, sub(12, str(1, o)))
	}
	return msg(num(1, 8), opsetField("", 17), opsetField("ai.onnx.ml", 3), sub(7, msg(append(fields, str(2, "g"))...)))
}

func floatsAttr(name string, list ...float32) []byte {
	var b []byte
	for _, x := range list {
		b = protowire.AppendFixed32(b, math.Float32bits(x))
	}
	return sub(5, msg(str(1, name), num(20, kindFloats), sub(7, b)))
}

func stringsAttr(name string, list ...string) []byte {
	fields := [][]byte{str(1, name), num(20, kindStrings)}
	for _, s := range list {
		fields = append(fields, str(9, s))
	}
	return sub(5, msg(fields...))
}

// stump is a tree of one node and two leaves, with the nodes that its branches go to.
func stump(feature, yes, no int64, mode string) [][]byte {
	return [][]byte{
		intsAttr("nodes_treeids", 0, 0, 0), intsAttr("nodes_nodeids", 0, 1, 2), intsAttr("nodes_featureids", feature, 0, 0),
		stringsAttr("nodes_modes", mode, "LEAF", "LEAF"), floatsAttr("nodes_values", 0.5, 0, 0),
		intsAttr("nodes_truenodeids", yes, 0, 0), intsAttr("nodes_falsenodeids", no, 0, 0),
		intsAttr("target_treeids", 0, 0), intsAttr("target_nodeids", 1, 2), intsAttr("target_ids", 0, 0), floatsAttr("target_weights", 1, 2),
	}
}

// TestZipMap: what would be maps is the matrix.
func TestZipMap(t *testing.T) {
	n, err := Parse(graph.Ops(), "m.onnx", mlModel("ZipMap", 2, list("y"), stringsAttr("classlabels_strings", "cat", "dog")))
	if err != nil {
		t.Fatal(err)
	}
	x := numeric.Values(numeric.F32, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
	out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
	if err != nil || string(out["y"].Data) != string(x.Data) {
		t.Errorf("%v %v", out["y"], err)
	}
}

// TestMLRefused names what is wrong with a node of ai.onnx.ml, whatever its lists are.
func TestMLRefused(t *testing.T) {
	deep := [][]byte{intsAttr("nodes_treeids", make([]int64, 300)...)}
	var numbers, features, yes, no []int64
	var modes []string
	for i := range int64(300) {
		numbers, features, yes, no = append(numbers, i), append(features, 0), append(yes, min(i+1, 299)), append(no, 299)
		modes = append(modes, "BRANCH_LEQ")
	}
	modes[299] = "LEAF"
	deep = append(deep, intsAttr("nodes_nodeids", numbers...), intsAttr("nodes_featureids", features...), stringsAttr("nodes_modes", modes...),
		floatsAttr("nodes_values", make([]float32, 300)...), intsAttr("nodes_truenodeids", yes...), intsAttr("nodes_falsenodeids", no...))
	for _, c := range []struct {
		op      string
		outputs []string
		attrs   [][]byte
		want    string
	}{
		{"TreeEnsembleRegressor", list("y"), stump(2, 1, 2, "BRANCH_LEQ"), "a node is of feature 2, and input 0 is f32[3,2]"},
		{"TreeEnsembleRegressor", list("y"), stump(0, 1, 7, "BRANCH_LEQ"), "node 0 of tree 0: nodes 1 and 7 of its branches are not there"},
		{"TreeEnsembleRegressor", list("y"), stump(0, 0, 1, "BRANCH_LEQ"), "the branches of a tree lead back to a node"},
		{"TreeEnsembleRegressor", list("y"), stump(0, 1, 2, "BRANCH_ODD"), `mode "BRANCH_ODD" of a node is unknown`},
		{"TreeEnsembleRegressor", list("y"), stump(0, 1, 2, "BRANCH_LEQ")[1:], "the attributes of nodes are 3, 0, 3"},
		{"TreeEnsembleRegressor", list("y"), nil, "0 trees"},
		{"TreeEnsembleRegressor", list("y"), deep, "a tree is more than 256 deep"},
		{"TreeEnsembleRegressor", list("y"), append(stump(0, 1, 2, "BRANCH_LEQ"), intAttr("n_targets", 1<<40)), "1099511627776 targets"},
		{"TreeEnsembleRegressor", list("y"), append(stump(0, 1, 2, "BRANCH_LEQ"), floatsAttr("base_values", 1, 2)), "2 base_values for 1 targets"},
		{"TreeEnsembleClassifier", list("y", "z"), [][]byte{stringsAttr("classlabels_strings", "a", "b")}, "0 trees"},
		{"OneHotEncoder", list("y"), [][]byte{stringsAttr("cats_strings", "a", "b")}, "input 0 is f32[3,2], which the categories are not"},
		{"CategoryMapper", list("y"), [][]byte{stringsAttr("cats_strings", "a", "b"), intsAttr("cats_int64s", 1)}, "2 cats_strings and 1 cats_int64s"},
		{"TreeEnsemble", list("y"), [][]byte{intsAttr("tree_roots", 5)}, "the attributes of 0 nodes are not as many"},
		{"TreeEnsemble", list("y"), [][]byte{intsAttr("tree_roots", 0), intsAttr("nodes_featureids", 0), intsAttr("nodes_truenodeids", 0), intsAttr("nodes_falsenodeids", 0),
			intsAttr("nodes_trueleafs", 1), intsAttr("nodes_falseleafs", 1), intsAttr("leaf_targetids", 0)}, "do not fit"},
		{"Scaler", list("y"), [][]byte{floatsAttr("offset", 1, 2, 3), floatsAttr("scale", 1)}, "attribute offset has 3 numbers for the features of f32[3,2]"},
		{"LinearRegressor", list("y"), [][]byte{floatsAttr("coefficients", 1, 2, 3)}, "3 coefficients of 2 features for 1 results"},
		{"LabelEncoder", list("y"), [][]byte{stringsAttr("keys_strings", "a"), intsAttr("values_int64s", 1)}, "input 0 is f32[3,2], and its keys are str"},
		{"LabelEncoder", list("y"), [][]byte{intsAttr("keys_int64s", 1, 2), intsAttr("values_int64s", 1)}, "2 keys and 1 values"},
		{"Normalizer", list("y"), [][]byte{sub(5, msg(str(1, "norm"), num(20, kindString), str(4, "L7")))}, `norm "L7" is unknown`},
		{"SVMRegressor", list("y"), nil, "ai.onnx.ml:SVMRegressor (node n): operator is not supported"},
	} {
		_, err := Parse(graph.Ops(), "m.onnx", mlModel(c.op, 2, c.outputs, c.attrs...))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.op, err, c.want)
		}
	}
}
