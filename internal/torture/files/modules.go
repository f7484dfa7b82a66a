//go:build linux

package files

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"
)

// The op that the module has.
const poweredOp, poweredDomain = "Square2", "com.example"

// patience is how long a module may compute before the program ends it.
const patience = 75 * time.Second

// Plugged returns a model with a layer of a plugin's op, and the plugin's module.
func Plugged() (model, module []byte) { return powered(), bytes.Clone(plugin) }

// powered returns a model with a layer of the module's op.
func powered() []byte {
	value := func(name string) []byte {
		shape := field(field(nil, 1, number(nil, 1, 2)), 1, number(nil, 1, 3))
		return field(field(nil, 1, []byte(name)), 2, field(nil, 1, field(number(nil, 1, 1), 2, shape)))
	}
	n := field(field(field(nil, 1, []byte("x")), 2, []byte("y")), 4, []byte(poweredOp))
	n = field(n, 7, []byte(poweredDomain))
	g := field(field(field(nil, 1, n), 2, []byte("powered")), 11, value("x"))
	g = field(g, 12, value("y"))
	m := field(number(nil, 1, 8), 8, number(nil, 2, 17))
	return field(field(m, 8, number(field(nil, 1, []byte(poweredDomain)), 2, 1)), 7, g)
}

// hostile are instructions that a module's code is not to get far with: a loop without end, memory without end, a call of itself, a
// trap, an address far away, a length that is negative.
var hostile = [][]byte{
	{0x03, 0x40, 0x0c, 0x00, 0x0b}, {0x03, 0x40, 0x41, 0x01, 0x40, 0x00, 0x1a, 0x0c, 0x00, 0x0b}, {0x10, 0x00}, {0x10, 0x01}, {0x00},
	{0x41, 0x7f, 0x28, 0x02, 0x00, 0x1a}, {0x41, 0xff, 0xff, 0xff, 0xff, 0x07}, {0x41, 0x80, 0x80, 0x80, 0x80, 0x78}, {0x0f},
}

// section is a part of a WebAssembly module.
type section struct {
	id   byte
	body []byte
}

// deformWasm changes a module's bytes, its sections, or its code.
func deformWasm(rnd *rand.Rand, data []byte) []byte {
	if rnd.IntN(4) == 0 {
		return deformBytes(rnd, data)
	}
	list := sections(data)
	if len(list) == 0 {
		return data
	}
	for range 1 + rnd.IntN(3) {
		i := rnd.IntN(len(list))
		if code := slices.IndexFunc(list, func(s section) bool { return s.id == 10 }); code >= 0 && rnd.IntN(2) == 0 {
			i = code // where most of it is
		}
		s := &list[i]
		switch at := rnd.IntN(len(s.body) + 1); rnd.IntN(8) {
		case 0:
			list = slices.Delete(list, i, i+1)
		case 1:
			list = slices.Insert(list, rnd.IntN(len(list)), *s)
		case 2:
			j := rnd.IntN(len(list))
			list[i], list[j] = list[j], list[i]
		case 3:
			s.body = deformBytes(rnd, s.body)
		default: // of the same length, so that what is around it still holds
			s.body = bytes.Clone(s.body)
			copy(s.body[at:], hostile[rnd.IntN(len(hostile))])
		}
		if len(list) == 0 {
			break
		}
	}
	out := bytes.Clone(data[:8])
	for _, s := range list {
		out = append(binary.AppendUvarint(append(out, s.id), uint64(len(s.body))), s.body...)
	}
	return out
}

// sections returns the parts of a sound module.
func sections(data []byte) (list []section) {
	for at := 8; at < len(data); {
		n, k := binary.Uvarint(data[at+1:])
		from := at + 1 + k
		list = append(list, section{data[at], data[from : from+int(n)]})
		at = from + int(n)
	}
	return list
}
