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
