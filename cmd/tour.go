package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/internal/host"
)

// tourFlag leaves out what the workbench tells those who see it for the first time.
type tourFlag struct{ none bool }

// registerTour adds the flag and returns its name.
func (f *tourFlag) registerTour(flags *pflag.FlagSet) string {
	flags.BoolVar(&f.none, "no-tour", false, "leave out the three hints that are shown at the first start")
	return "no-tour"
}

// seen returns what notes that the tour was seen; nil where it was, is not wanted, or nothing can tell.
func (f *tourFlag) seen() func() error {
	path := ownConfig("tour-seen")
	if _, err := os.Stat(path); f.none || path == "" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return func() error {
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			_, err = host.WriteFile(path, host.Bytes([]byte(time.Now().Format(time.DateOnly)+"\n")))
		}
		if err != nil {
			return fmt.Errorf("%w; --no-tour leaves it out", err)
		}
		return nil
	}
}
