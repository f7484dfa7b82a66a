package torture

import (
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"time"
)

// Hunt is one kind of defect that is looked for.
type Hunt struct {
	Name, Doc string
	Share     int           // of the time, beside the other hunts
	Sample    int           // so many tries are a sample of it
	Limit     time.Duration // for one try; what takes longer hangs
	Memory    int64         // bytes that a worker may hold
	// Start makes a worker ready.
	Start func(Place) (*Worker, error)
}

// Place is what a worker works with.
type Place struct {
	Program string        // trtui
	Raced   string        // the command itself, built with the race detector; "" where there is no C compiler for it
	Python  string        // an interpreter that has onnxruntime; "" for none
	Dir     string        // for files, removed afterwards
	Keep    string        // a folder for what is made once for all workers; "": Dir
	Planted string        // a defect that is planted, so that it is found; "" for none
	Time    time.Duration // how long one try of a hunt that can goes on; 0: as long as it does beside others
}

// Worker tries things in this process.
type Worker struct {
	// Try tries what the number says, which is all that it depends on.
	Try   func(ctx context.Context, seed uint64) []Finding
	Count func() map[string]int // what was done until now, in the hunt's own terms; nil for nothing to tell
	Close func()                // may be nil
}

// Finding is a defect.
type Finding struct {
	Kind    string // the same for all findings of one defect, as far as can be told
	Text    string
	Command string            // what shows it, in the folder of Files
	Files   map[string][]byte // by name
	// Late: something took too long, as it may where the machine has other work. It counts if it does so again, with nothing
	// of the hunts beside it.
	Late bool `json:",omitempty"`
}

var varying = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// Folder returns the name of the folder that keeps findings of the same kind.
func (f Finding) Folder() string {
	h := fnv.New32a()
	h.Write([]byte(varying.ReplaceAllString(f.Kind, "#")))
	words := strings.FieldsFunc(strings.ToLower(f.Kind), func(r rune) bool { return !('a' <= r && r <= 'z') })
	name := strings.Join(words[:min(6, len(words))], "-")
	return fmt.Sprintf("%s-%08x", name[:min(60, len(name))], h.Sum32())
}
