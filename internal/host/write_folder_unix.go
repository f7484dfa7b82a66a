//go:build unix

package host

import (
	"errors"
	"os"
	"syscall"
)

// flushFolder brings the names in a folder to the disk, as far as its file system does that.
func flushFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // files may be made in a folder that cannot be read
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
