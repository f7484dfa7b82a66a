package recording_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/trtui/trtui/sessions/recording"
)

// A recording is a file that other programs can query while it grows; docs/recording.md describes its tables.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r, err := recording.Create(filepath.Join(dir, "session"+recording.Extension), "example", false)
	if err != nil {
		log.Fatal(err)
	}
	if err := r.Close(); err != nil {
		log.Fatal(err)
	}
	list, err := recording.List(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range list {
		fmt.Println(filepath.Base(one.Path), one.Complete)
	}
	// Output:
	// session.trtui true
}
