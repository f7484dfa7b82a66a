package ui

import "testing"

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
		{"/bert/encoder/layer.11/attention/query/MatMul", 26, "/b/e/l.11/a/query/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 16, "/b/e/l.1…/MatMul"},
		{"model.layers.3.mlp.down_proj.weight", 20, "m.l.3.m.d.weight"},
		{"down_blocks.0/attn1x2/Add", 14, "d.0/att…x2/Add"},
		{"tower", 3, "to…"},
		{"/héhé/ééé/Conv", 8, "/h/é…onv"},
		{"", 3, ""},
		{"////", 2, "/…"},
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
