//go:build linux

package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// deformBytes changes a few places of a file whatever it is.
func deformBytes(rnd *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + rnd.IntN(4) {
		if len(data) == 0 {
			return data
		}
		// Most of what matters is at the beginning and, of some forms, at the end.
		at := rnd.IntN(len(data))
		switch rnd.IntN(3) {
		case 0:
			at = min(at, rnd.IntN(min(len(data), 512)))
		case 1:
			at = max(at, len(data)-1-rnd.IntN(min(len(data), 512)))
		}
		switch rnd.IntN(9) {
		case 0:
			data[at] ^= 1 << rnd.IntN(8)
		case 1:
			data[at] = byte(rnd.Uint32())
		case 2:
			data = data[:at]
		case 3:
			n := rnd.IntN(min(64, len(data)-at) + 1)
			data = append(data[:at:at], data[at+n:]...)
		case 4:
			n := rnd.IntN(min(256, len(data)-at) + 1)
			data = append(data[:at+n:at+n], data[at:]...)
		case 5:
			copy(data[at:], extreme(rnd))
		case 6:
			data = append(append(data[:at:at], extreme(rnd)...), data[at:]...)
		case 7:
			from := rnd.IntN(len(data))
			copy(data[at:], data[from:min(len(data), from+rnd.IntN(64))])
		case 8:
			clear(data[at:min(len(data), at+rnd.IntN(64))])
		}
	}
	return data
}

// extreme returns the bytes of a number at an edge, in one of the forms that files have.
func extreme(rnd *rand.Rand) []byte {
	n := []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}[rnd.IntN(9)]
	switch rnd.IntN(4) {
	case 0:
		return binary.AppendUvarint(nil, n)
	case 1:
		return binary.LittleEndian.AppendUint32(nil, uint32(n))
	case 2:
		return binary.BigEndian.AppendUint32(nil, uint32(n))
	}
	return binary.LittleEndian.AppendUint64(nil, n)
}

var word = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?|"[^"]*"|true|false|null|[][{}:,]`)

// deformText changes a few words of a text such as JSON.
func deformText(rnd *rand.Rand, data []byte) []byte {
	for range 1 + rnd.IntN(4) {
		places := word.FindAllIndex(data, -1)
		if len(places) == 0 {
			return data
		}
		p := places[rnd.IntN(len(places))]
		data = append(append(bytes.Clone(data[:p[0]]), oddWord(rnd)...), data[p[1]:]...)
	}
	return data
}

// oddWord returns a word that is unlikely where it comes to stand.
func oddWord(rnd *rand.Rand) string {
	switch rnd.IntN(16) {
	case 0:
		return strings.Repeat("[", 200_000)
	case 1:
		return `"` + strings.Repeat("A", 1<<rnd.IntN(20)) + `"`
	case 2:
		return fmt.Sprint(rnd.Int64())
	case 3:
		return fmt.Sprintf("%q", "\x1b[31m\x07")
	}
	return []string{"-1", "0", "1e999", "-0.5", "9223372036854775808", "null", "true", `""`, "{}", "[]", `"\u0000"`, "\xff\xfe"}[rnd.IntN(12)]
}
