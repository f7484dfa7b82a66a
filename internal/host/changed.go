package host

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Rewritten is what Changed says of a file with other content.
const Rewritten = "changed on disk"

// Changed says what has become of the file at path since it was looked at, "" where it is as it was: it is Rewritten, gone, or
// something else is in its place.
func Changed(path string, then fs.FileInfo) string {
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return "is gone"
	case err != nil: // nobody can tell
		return ""
	case now.IsDir():
		return "is a directory now"
	case !now.Mode().IsRegular():
		return "is a " + kind(now.Mode()) + " now"
	case now.Size() != then.Size() || !now.ModTime().Equal(then.ModTime()) || !os.SameFile(now, then):
		return Rewritten
	}
	return ""
}
