package cmd

import (
	"os"
	"testing"
)

// TestKeyboard: ctrl+c is seen once, as any terminal sends it and behind other keys, and not in what is pasted.
func TestKeyboard(t *testing.T) {
	for _, c := range []struct {
		reads []string
		want  int
	}{
		{[]string{"jjj\x03"}, 1},
		{[]string{"j", "\x03", "\x03"}, 1},
		{[]string{"\x1b[99;5u"}, 1},
		{[]string{"\x1b[27;5;99~"}, 1},
		{[]string{"\x1b[200~a\x03b\x1b[201~q"}, 0},
		{[]string{"\x1b[200~a", "\x03", "\x1b[201~\x03"}, 1},
		{[]string{"jk\x1b[A"}, 0},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		k := &keyboard{File: r, interrupted: func() { seen++ }}
		buffer := make([]byte, 64)
		for _, text := range c.reads {
			if _, err := w.WriteString(text); err != nil {
				t.Fatal(err)
			}
			if n, err := k.Read(buffer); err != nil || string(buffer[:n]) != text {
				t.Errorf("%q is read as %q, %v", text, buffer[:n], err)
			}
		}
		if seen != c.want {
			t.Errorf("%q: ctrl+c is seen %d times, want %d", c.reads, seen, c.want)
		}
		r.Close()
		w.Close()
	}
}
