package words

import "testing"

func TestJoinLayers(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"/Add"}, "/Add"},
		{[]string{"stem/conv/Conv", "stem/act/Relu"}, "stem/conv/Conv + act/Relu"},
		{[]string{"/stem/conv/Conv", "/stem/act/Relu"}, "/stem/conv/Conv + act/Relu"},
		{[]string{"/Add", "/stem/conv/Conv"}, "/Add + /stem/conv/Conv"},
		{[]string{"a", "b"}, "a + b"},
	} {
		if got := JoinLayers(c.names); got != c.want {
			t.Errorf("JoinLayers(%q) = %q, want %q", c.names, got, c.want)
		}
	}
}

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"stem/Conv":               "stem/Conv",
		"stem/Conv + norm + Relu": "stem/Conv +2",
		"Reformat /pool/GlobalAveragePool_output_0 to linear": "Reformat /pool/GlobalAveragePool to linear",
		"Reformat x to nhwc":   "Reformat x to nhwc",
		"Reformat to_output_0": "Reformat to_output_0",
	} {
		if got := ShortName(name); got != want {
			t.Errorf("%q is short %q, want %q", name, got, want)
		}
	}
}
