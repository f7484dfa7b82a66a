package generate

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// language defines a model of 10 words on texts of a length, with inputs as exports have them.
func language(t *testing.T, length symbolic.Dim, past bool) *graph.Network {
	d := graph.Define("language")
	in := func(name string) *graph.Tensor { return d.Input(name, numeric.I64, symbolic.Symbol("n"), length) }
	ids, mask, positions, types := in("input_ids"), in("attention_mask"), in("position_ids"), in("token_type_ids")
	sum := d.Add(d.Add(ids, mask), d.Add(positions, types))
	if past {
		p := d.Input("past_key_values.0.key", numeric.F32, symbolic.Const(1), symbolic.Const(2), symbolic.Symbol("p"), symbolic.Const(4))
		d.Output("present.0.key", d.Tanh(p))
	}
	d.Output("logits", d.Gather(d.Constant("words", numeric.NewValue(numeric.F32, 40, 10)), sum, 0))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWindows: each token but the last is in one item, with the token behind it.
func TestWindows(t *testing.T) {
	set, err := Windows(language(t, symbolic.Const(4), false), "", "story", []int{1, 2, 3, 4, 5, 6, 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 2 || !slices.Equal(set.Next[0], []int{2, 3, 4, 5}) || !slices.Equal(set.Next[1], []int{6, 7, -1, -1}) {
		t.Errorf("%d items, %v", set.Len(), set.Next)
	}
	want := map[string][]int64{"input_ids": {5, 6, 0, 0}, "attention_mask": {1, 1, 0, 0}, "position_ids": {0, 1, 2, 3}, "token_type_ids": {0, 0, 0, 0}}
	values, err := set.Batch(1, 1)
	if err != nil || len(values) != len(want) {
		t.Fatal(err, len(values))
	}
	for i, v := range values {
		if name := set.Inputs[i].Name; !slices.Equal(v.I64(), want[name]) {
			t.Errorf("%s: %d, want %d", name, v.I64(), want[name])
		}
	}
	if set.Scores != "logits" {
		t.Errorf("scores are %q", set.Scores)
	}
	if set, err = Windows(language(t, symbolic.Symbol("s"), false), "", "story", []int{1, 2, 3, 4, 5, 6, 7}, map[string][]int{"input_ids": {1, 3}}); err != nil || set.Len() != 2 || len(set.Next[0]) != 3 {
		t.Errorf("of open length: %v", err)
	}
}

func TestWindowsRefused(t *testing.T) {
	for _, c := range []struct {
		n      *graph.Network
		tokens []int
		want   string
	}{
		{language(t, symbolic.Const(4), false), []int{1}, "two at least"},
		{language(t, symbolic.Const(4), false), []int{1, 10}, "the tokenizer is another model's"},
	} {
		if _, err := Windows(c.n, "", "story", c.tokens, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.tokens, err, c.want)
		}
	}
}

// TestWindowsOfCached: a model that keeps keys and values holds likely in one piece what Hugging Face's library writes token by token.
func TestWindowsOfCached(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	for _, name := range []string{"llama", "gpt2"} {
		n := open(t, "testdata/"+name+".onnx")
		for _, c := range casesOf(t, name) {
			set, err := Windows(n, "", "text", slices.Concat(c.Prompt, c.Tokens), nil)
			if err != nil {
				t.Fatal(err)
			}
			data, err := set.Bind(n.Inputs)
			if err != nil || data.Len() != 1 {
				t.Fatal(err, data.Len())
			}
			in, err := data.Inputs(0)
			if err != nil {
				t.Fatal(err)
			}
			shapes := map[string][]int{}
			for name, v := range in {
				shapes[name] = v.Dims
			}
			engine, err := untimed(b)(t.Context(), n, shapes)
			if err != nil {
				t.Fatal(err)
			}
			l, err := run.Load(t.Context(), engine.Any(), b)
			if err != nil {
				t.Fatal(err)
			}
			x, err := l.NewContext()
			if err != nil {
				t.Fatal(err)
			}
			if err := x.SetInputs(in); err != nil {
				t.Fatal(err)
			}
			if err := x.Execute(); err != nil {
				t.Fatal(err)
			}
			logits, err := x.Output("logits")
			if err != nil {
				t.Fatal(err)
			}
			words := logits.Dims[2]
			for i, want := range c.Tokens {
				row := logits.Floats()[(len(c.Prompt)-1+i)*words:][:words]
				if got := slices.Index(row, slices.Max(row)); got != want {
					t.Errorf("%s, %v: token %d is %d, want %d", name, c.Prompt, i, got, want)
				}
			}
			x.Close()
			l.Close()
		}
	}
}
