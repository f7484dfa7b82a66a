package stages

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
)

// fingerprints tell items apart that were read from others.
type fingerprints struct {
	lock sync.Mutex
	seen map[uint64]bool
}

// of gives batches, and notes them.
func (f *fingerprints) of(batches build.Batches) build.Batches {
	return func(yield func(map[string]numeric.Value, error) bool) {
		for in, err := range batches {
			if err == nil {
				f.add(fingerprint(in))
			}
			if !yield(in, err) {
				return
			}
		}
	}
}

func (f *fingerprints) add(print uint64) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.seen == nil {
		f.seen = map[uint64]bool{}
	}
	f.seen[print] = true
}

func (f *fingerprints) has(in map[string]numeric.Value) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.seen[fingerprint(in)]
}

// share returns which part of data was read, by at most so many items from all over it.
func (f *fingerprints) share(data dataset.Data, most int) float64 {
	n := min(data.Len(), most)
	if f.none() || n == 0 {
		return 0
	}
	read := 0
	for i := range n {
		if in, err := data.Inputs(i * data.Len() / n); err == nil && f.has(in) {
			read++
		}
	}
	return float64(read) / float64(n)
}

func (f *fingerprints) none() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.seen) == 0
}

var fingerprintSeed = maphash.MakeSeed()

// fingerprint is the same for items of the same elements.
func fingerprint(in map[string]numeric.Value) uint64 {
	var h maphash.Hash
	h.SetSeed(fingerprintSeed)
	for _, name := range slices.Sorted(maps.Keys(in)) {
		h.WriteString(name)
		h.Write(in[name].Data)
	}
	return h.Sum64()
}
