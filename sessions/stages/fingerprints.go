package stages

import (
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
				f.add(dataset.Fingerprint(in))
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
	return f.seen[dataset.Fingerprint(in)]
}

func (f *fingerprints) none() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.seen) == 0
}
