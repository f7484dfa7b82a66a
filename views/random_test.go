package views

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
)

// TestRandomInput: 2,000 keys, clicks, wheels and sizes at random leave a picture of the terminal's size after each, and no panic.
func TestRandomInput(t *testing.T) {
	keys := strings.Fields("up down left right h j k l g G home end pgup pgdown ctrl+u ctrl+d tab shift+tab enter esc backspace space z + _ ? : / n N o O " +
		"a b c d e f i m p r s t u v w x y A B C D E F I J K L M P Q R S T U V W X Y Z 0 1 2 3 4 5 6 7 8 9 , . < > ( ) { } [ ] ; % = ctrl+r ctrl+s ctrl+o ctrl+t")
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 16))
		b := newBench(t, ui.Options{NoColor: seed%2 == 1, ASCII: seed%3 == 1}, measured(t))
		b.press("m")
		b.publish(slower(t))
		w, h := 80, 24
		for i := range 500 {
			did := ""
			switch n := r.IntN(20); {
			case n < 14:
				did = keys[r.IntN(len(keys))]
				b.press(did)
			case n < 16:
				w, h, did = 1+r.IntN(220), 1+r.IntN(70), "size"
				b.size(w, h)
			case n < 19:
				did = "click"
				b.send(tea.MouseClickMsg{X: r.IntN(w + 2), Y: r.IntN(h + 2), Button: tea.MouseLeft})
			default:
				did = "wheel"
				b.send(tea.MouseWheelMsg{X: r.IntN(w), Y: r.IntN(h), Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(2)]})
			}
			b.pass(time.Duration(r.IntN(400)) * time.Millisecond)
			lines := strings.Split(b.screen(), "\n")
			if len(lines) > h {
				t.Fatalf("seed %d, input %d, %s: %d lines at %dx%d", seed, i, did, len(lines), w, h)
			}
			for _, line := range lines {
				if ui.Width(line) > w {
					t.Fatalf("seed %d, input %d, %s: a line of %d cells at %dx%d: %q", seed, i, did, ui.Width(line), w, h, line)
				}
			}
		}
	}
}
