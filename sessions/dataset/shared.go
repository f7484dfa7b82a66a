package dataset

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Shared counts the first n items of a that b has, too. Images are told apart by their files, which are not decoded for that, other
// items by their elements. Of what is made up there is nothing to count.
func Shared(a Data, n int, b Data) int {
	if a == nil || b == nil || a.Random() || b.Random() {
		return 0
	}
	there := map[uint64]bool{}
	for i := range b.Len() {
		if k, ok := keyOf(b, i); ok {
			there[k] = true
		}
	}
	shared := 0
	for i := range min(n, a.Len()) {
		if k, ok := keyOf(a, i); ok && there[k] {
			shared++
		}
	}
	return shared
}

// AtHand reports whether it takes little to count which items data shares with others: they are in memory, or files that only their
// names are asked of.
func AtHand(d Data) bool {
	switch d := d.(type) {
	case subset:
		return AtHand(d.Data)
	case begun:
		return AtHand(d.Data)
	case *Bound:
		return true
	}
	return false
}

// keyOf tells item i from others; not ok where it cannot be read.
func keyOf(d Data, i int) (key uint64, ok bool) {
	switch d := d.(type) {
	case subset:
		return keyOf(d.Data, d.first+i)
	case begun:
		return keyOf(d.Data, i)
	case *Bound:
		if d.Set.file != nil {
			return maphash.String(seed, d.Set.file(i)), true
		}
	}
	in, err := d.Inputs(i)
	return Fingerprint(in), err == nil
}

var seed = maphash.MakeSeed()

// Fingerprint is the same for items of the same elements, in one process.
func Fingerprint(in map[string]numeric.Value) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, name := range slices.Sorted(maps.Keys(in)) {
		h.WriteString(name)
		h.Write(in[name].Data)
	}
	return h.Sum64()
}
