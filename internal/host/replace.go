package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Partial begins the names of files that are not whole yet. One that is old was left by a program that was killed.
const Partial = ".partial-"

// Replace has write make a file beside its place and moves it there when it is whole and on the disk: whoever opens path finds
// what was there or what is new, after a kill and a power failure too. What is there and is no regular file, as a pipe or a
// device, is written to as it is. n is what write returns.
func Replace(path string, perm fs.FileMode, write func(io.Writer) (int64, error)) (n int64, err error) {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return 0, fmt.Errorf("%s is a directory; name a file", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return 0, err
		}
		n, err := write(f)
		return n, errors.Join(err, f.Close())
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays
	}
	return put(path, perm, write, os.Rename)
}

// Create is Replace for a file that must not be there: the error is then fs.ErrExist, and the file as it was.
func Create(path string, perm fs.FileMode, write func(io.Writer) (int64, error)) (int64, error) {
	return put(path, perm, write, func(partial, path string) error {
		if err := os.Link(partial, path); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := os.Lstat(path); err == nil { // a file system without links
			return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
		return os.Rename(partial, path)
	})
}

// put writes a partial file and moves it to its place.
func put(path string, perm fs.FileMode, write func(io.Writer) (int64, error), move func(partial, path string) error) (n int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), Partial+"*")
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	}
	defer os.Remove(f.Name())
	n, err = write(f)
	if err == nil {
		err = errors.Join(f.Chmod(perm), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return n, fmt.Errorf("write %s: %w", path, err)
	}
	if err := move(f.Name(), path); err != nil {
		return n, err
	}
	syncFolder(filepath.Dir(path))
	return n, nil
}

// syncFolder brings a name to the disk. Systems that cannot do that keep names by themselves.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
