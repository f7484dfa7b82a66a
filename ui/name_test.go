package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		name string
		w    int
		want string
	}{
		{"/conv1/Conv", 11, "/conv1/Conv"},
		{"/layer4/layer4.2/conv2/Conv", 22, "/layer4.2/conv2/Conv"},
		{"/layer4/layer4.2/conv2/Conv +1", 21, "/lay4.2/conv2/Conv +1"},
		{"block1/second/conv/Conv +3", 22, "block1/second/Conv +3"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 40, "/ber/enc/layer.11/attention/query/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 33, "/ber/enc/lay.11/att/query/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 26, "…enc/lay.11/att/que/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 22, "…lay.11/att/que/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 21, "…l.11/att/que/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 16, "…l.11/a/…/MatMul"},
		{"model.layers.3.mlp.down_proj.weight", 20, "…3.mlp.dow.weight"},
		{"down_blocks.0/attn1x2/Add", 14, "d.0/att…x2/Add"},
		{"/vision_model/encoder/0.residual_blocks.11.depthwise_convolution.mixing/Conv +1", 40, "/vis/enc/0.res.11.dep.mix/Conv +1"},
		{"/vision_model/encoder/0.residual_blocks.11.depthwise_convolution.mixing/Conv +1", 26, "…0.res.11.dep.mix/Conv +1"},
		{"/Add + /blocks.3/c2/Conv", 20, "/Add + /b.3/c2/Conv"},
		{"/blocks.0/c2/Conv + Add", 20, "/blo.0/c2/Conv + Add"},
		{"/encoder/layer.1/Add + /encoder/layer.1/MatMul", 32, "/e/lay.1/Add + /enc/lay.1/MatMul"},
		{"/encoder/layer.1/Add + /encoder/layer.1/MatMul", 16, "/e/l.1/A…/MatMul"},
		{"Reformat excite/pool/GlobalAveragePool to linear", 47, "Ref excite/pool/GlobalAveragePool to linear"},
		{"Reformat excite/pool/GlobalAveragePool to linear", 37, "Ref …poo/GlobalAveragePool to linear"},
		{"Reformat /layer4/layer4.2/conv2/Conv to nhwc", 32, "Ref /layer4.2/conv2/Conv to nhwc"},
		{"Reformat /conv2/Conv to nhwc", 6, "Ref…wc"},
		{"tower", 3, "to…"},
		{"/héhé/ééé/Conv", 8, "/h/é…onv"},
		{"", 3, ""},
		{"////", 2, "…/"},
	} {
		got := Name(c.name, c.w, '…')
		if Width(got) > c.w {
			t.Errorf("Name(%q, %d) = %q is %d wide", c.name, c.w, got, Width(got))
		}
		if got != c.want {
			t.Errorf("Name(%q, %d) = %q, want %q", c.name, c.w, got, c.want)
		}
	}
}

// TestNamesOfTable: names of which all begin alike are told without that where they do not fit, so that they differ at any width, and
// no wider table shows less of them.
func TestNamesOfTable(t *testing.T) {
	names := []string{"/model/backbone/stages/stage.0/conv/Conv", "/model/backbone/stages/stage.0/norm/Conv", "/model/backbone/stages/stage.1/conv/Conv"}
	table := &Table{Rows: len(names), Columns: []Column{
		{Title: "layer", Name: true, Width: 18, Flex: 3, Cell: func(r int) Cell { return Cell{Text: names[r]} }},
		{Title: "bar", Width: 6, Flex: 4, Cell: func(int) Cell { return Cell{Bar: &Bar{Value: 1, Max: 2}} }},
		{Title: "kind", Width: 8, Priority: 4, Cell: func(int) Cell { return Cell{Text: "same"} }},
		{Title: "tactics", Width: 24, Flex: 1, Priority: 8, Cell: func(int) Cell { return Cell{Text: "conv"} }},
	}}
	last := 0
	for w := 32; w <= 200; w++ {
		lines := strings.Split(ansi.Strip(NewLook(Options{NoColor: true}).Render(w, 5, table.Draw)), "\n")
		first := strings.Fields(strings.TrimLeft(lines[1], "▸ "))[0]
		if w == 32 && first != "stage.0/conv/Conv" {
			t.Errorf("at %d cells the name is %q", w, first)
		}
		if n := Width(first); n < last {
			t.Errorf("at %d cells the name is %q, which is shorter than at %d", w, first, w-1)
		} else {
			last = n
		}
	}
}

// TestNamesTogether: names of one column are shortened alike, keep what tells them apart, and are whole where they fit.
func TestNamesTogether(t *testing.T) {
	var camera []string
	for _, what := range []string{"convolution", "activation", "residual_add"} {
		camera = append(camera, "backbone/stage0/residual_block_000/branch/"+what+"_output_tensor:0", "backbone/stage0/residual_block_001/branch/"+what+"_output_tensor:0")
	}
	camera = append(camera, "input_image")
	resnet := []string{"/conv1/Conv +1", "/layer4/layer4.0/conv2/Conv", "/layer4/layer4.1/conv1/Conv +1"}
	for _, c := range []struct {
		names []string
		w     int
		want  []string
	}{
		{camera, 27, []string{"res000/branch/convolution", "res001/branch/convolution", "res000/branch/activation", "res001/branch/activation", "res000/branch/residual_add", "res001/branch/residual_add", "input_image"}},
		{append([]string{"Reformat excite/pool/GlobalAveragePool to linear", "Reformat block1/pool/GlobalAveragePool to linear"}, resnet...), 36,
			append([]string{"Ref e/p/GlobalAveragePool to linear", "Ref b1/p/GlobalAveragePool to linear"}, resnet...)},
		{resnet, 30, resnet},
		{resnet, 23, []string{"/conv1/Conv +1", "/layer4.0/conv2/Conv", "/layer4.1/conv1/Conv +1"}},
		{resnet, 18, []string{"/conv1/Conv +1", "/lay4.0/conv2/Conv", "…l4.1/con1/Conv +1"}},
		{[]string{"/block2/second/norm/Normalization", "/block2/shortcut/norm/Normalization", "/block3/Add", "/block3/Relu"}, 22, []string{"/b2/second…", "/b2/shortcut…", "/block3/Add", "/block3/Relu"}},
		{[]string{"/encoder/layer.1/Add + /encoder/layer.1/MatMul", "/encoder/layer.2/Add + /encoder/layer.2/MatMul"}, 28, []string{"layer.1/Add + layer.1/MatMul", "layer.2/Add + layer.2/MatMul"}},
		{[]string{"alike_alike_alike_one_of_all_of_these", "alike_alike_alike_two_of_all_of_these", "something else", "another"}, 9, []string{"…one_of…", "…two_of…", "some…else", "another"}},
		{[]string{"excite/pool/GlobalAveragePool", "head/pool/GlobalAveragePool", "excite/Mul", "stem/Conv", "head/Conv"}, 24, []string{"exc/p/GlobalAveragePool", "head/p/GlobalAveragePool", "excite/Mul", "stem/Conv", "head/Conv"}},
		{[]string{"/m/stages.0.blocks.0.pointwise_expansion_projection/Conv", "/m/stages.0.blocks.0.pointwise_contraction_projection/Conv",
			"/m/stages.0.blocks.1.pointwise_expansion_projection/Conv", "/m/stages.0.blocks.1.pointwise_contraction_projection/Conv"}, 20,
			[]string{"…0.b.0.p_expansion_…", "…0.b.0.p_contractio…", "…0.b.1.p_expansion_…", "…0.b.1.p_contractio…"}},
		{[]string{"one name alone", "one name alone"}, 9, []string{"one …lone", "one …lone"}},
	} {
		names := NewNames(c.names)
		for i, name := range c.names {
			if got := names.Short(name, c.w, '…'); got != c.want[i] || Width(got) > c.w {
				t.Errorf("%q in %d cells is %q, want %q", name, c.w, got, c.want[i])
			}
		}
	}
}

// TestNamesTell: what reads alike otherwise keeps the word in which all of them differ, with as many others as have room; where some
// do not differ in that one, it is the next.
func TestNamesTell(t *testing.T) {
	alike := []string{"head_head_x1_mid_y1_tail", "head_head_x1_mid_y2_tail", "head_head_x2_mid_y1_tail"}
	for w, want := range map[int][]string{
		9:  {"…y1_tail", "…y2_tail", "…x2_mid…"},
		12: {"…x1_mid_y1…", "…x1_mid_y2…", "…x2_mid_y1…"},
		24: alike,
	} {
		out := map[string]string{}
		(&Names{w: w, mark: '…'}).tell(alike, out)
		for i, name := range alike {
			if out[name] != want[i] {
				t.Errorf("%q in %d cells is %q, want %q", name, w, out[name], want[i])
			}
		}
	}
}

// TestFileNames: names of files keep whole words, among them that in which they differ, and say where they are cut.
func TestFileNames(t *testing.T) {
	all := []string{"bad.trtui", "a_much_longer_recording_name_2026.trtui", "resnet_fp32_before_change.trtui (A)", "resnet_fp32_after_change.trtui", "base-20261130-024630.trtui", "base-20261130-030407.trtui"}
	names := newFileNames(all)
	for w, want := range map[int][]string{
		40: all,
		24: {"bad.trtui", "a_much_longer_recording…", "resnet_fp32_before_… (A)", "resnet_fp32_after_chang…", "base-20261130-024630.tr…", "base-20261130-030407.tr…"},
		16: {"bad.trtui", "a_much_longer_r…", "resn…before… (A)", "resnet_fp…after…", "base-202…024630…", "base-202…030407…"},
		9:  {"bad.trtui", "a_much_l…", "…bef… (A)", "…after…", "…024630…", "…030407…"},
	} {
		for i, name := range all {
			if got := names.Short(name, w, '…'); Width(got) > w || got != want[i] {
				t.Errorf("%q in %d cells is %q, want %q", name, w, got, want[i])
			}
		}
	}
}

// TestConfigurationNames: of a configuration the precision stays, too, beside those that have no more than one.
func TestConfigurationNames(t *testing.T) {
	all := []string{"fp32", "int8/minmax", "int8/mse", "int8/percentile:99.9", "int8/percentile:99.99"}
	names := newFileNames(all)
	for i, want := range []string{"fp32", "int8/minmax", "int8/mse", "int8/percentil…9", "int8/percenti…99"} {
		if got := names.Short(all[i], 16, '…'); got != want {
			t.Errorf("%q is %q, want %q", all[i], got, want)
		}
	}
}

// BenchmarkNames shortens the names of a large network to a width that it was not shown at yet.
func BenchmarkNames(b *testing.B) {
	var all []string
	for i := range mostNames {
		all = append(all, fmt.Sprintf("/bert/encoder/layer.%d/attention/self/query/MatMul_output_%d", i/10, i%10))
	}
	for b.Loop() {
		NewNames(all).Short(all[0], 30, '…')
	}
}

// TestWordsAmongPaths: names that are no paths leave to those that are what these have in common.
func TestWordsAmongPaths(t *testing.T) {
	names := []string{"workspace", "/model/decoder/layers.20/self_attn_with_rotary_embedding/q_proj/MatMul", "/model/decoder/layers.21/feed_forward_network/up_proj/MatMul",
		"/model/decoder/layers.21/self_attn_with_rotary_embedding/q_proj/MatMul"}
	n := NewNames(names)
	for i, want := range []string{"workspace", "layers.20/self_attn_with_rotary_embedding/q_proj/MatMul", "layers.21/feed_forward_network/up_proj/MatMul"} {
		if got := n.Short(names[i], 57, '…'); got != want {
			t.Errorf("%s is %s, want %s", names[i], got, want)
		}
	}
}
