//go:build linux

package screen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var keys = []string{
	"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[3~", "\x1b[2~", "\x1b[Z", "\t", "\r", "\n", "\x1b", "\x7f", " ",
	"\x1bOP", "\x1bOQ", "\x1b[15~", "\x1b[24~", "\x1b[1;5A", "\x1b[1;2B", "\x1b[27u", "\x1b[97;5u",
	"\x01", "\x02", "\x04", "\x05", "\x06", "\x07", "\x0b", "\x0c", "\x0e", "\x10", "\x12", "\x14", "\x15", "\x17", "\x19",
	"?", "/", ":", "+", "-", "[", "]", "<", ">", ",", ".", "=", "*", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
}

// broken is what no terminal sends.
var broken = []string{"\x1b[", "\x1bP", "\x1b]", "\x1b[<", "\xff\xfe", "\xc3", "\x00", "\x1b[999999999999A", "\x1b[<0;99999;99999M", "\x1b[200~", "e\u0301\u0301\u0301", "\u202e", "\u4e16\u754c", "\x1b[?2026;2$y", "\x1b]11;rgb:zz/zz/zz\x07", "\x1b[1;1R"}

// input returns what is typed next, and whether it ends the program where it comes to stand right.
func input(rnd *rand.Rand, width, height int) string {
	switch rnd.IntN(20) {
	case 0:
		return broken[rnd.IntN(len(broken))]
	case 1:
		n := rnd.IntN(300)
		return "\x1b[200~" + strings.Repeat(string(rune('a'+rnd.IntN(26))), n) + "\x1b[201~"
	case 2:
		return []string{"\x1b[I", "\x1b[O"}[rnd.IntN(2)]
	case 3, 4, 5: // press, drag, release, wheel
		x, y := 1+rnd.IntN(width+3), 1+rnd.IntN(height+3)
		b := []int{0, 0, 0, 1, 2, 32, 35, 64, 65, 66, 128}[rnd.IntN(11)]
		s := fmt.Sprintf("\x1b[<%d;%d;%dM", b, x, y)
		if b < 3 && rnd.IntN(4) > 0 {
			s += fmt.Sprintf("\x1b[<%d;%d;%dm", b, x, y)
		}
		return s
	case 6, 7, 8, 9, 10, 11:
		const letters = "abcdefghijklmnoprstuvwxyzABCDEFGHIJKLMNOPRSTUVWXYZ" // q quits
		return string(letters[rnd.IntN(len(letters))])
	}
	return keys[rnd.IntN(len(keys))]
}

// size returns a size: usual ones, and those at which little is left.
func size(rnd *rand.Rand) (width, height int) {
	sizes := [][2]int{{80, 24}, {120, 40}, {200, 60}, {60, 20}, {40, 12}, {20, 6}, {10, 3}, {1, 1}, {2, 50}, {300, 4}, {79, 23}}
	s := sizes[rnd.IntN(len(sizes))]
	return s[0], s[1]
}
