package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// PartialPrefix begins the name of a file that is being written, beside the place where it will be.
const PartialPrefix = ".partial-"

// PartialLife is how long a file that is being written may stay as it is before its writer is taken to have ended.
const PartialLife = time.Hour

// WriteFile makes a file appear as a whole: whenever the program or the machine stops, the path has what was there before, or
// all that write writes. The file keeps the mode it has, and a symbolic link what it leads to. A device, and a pipe that the
// process has, as /dev/stdout may be, is written to as it is; another pipe is refused, and so is a recording, as [Writable] does.
// It returns how many bytes write wrote.
func WriteFile(path string, write func(io.Writer) error) (int64, error) {
	if err := Writable(path); err != nil {
		return 0, err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return 0, fmt.Errorf("%s is a directory; name a file", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return 0, err
		}
		n, err := fill(f, write)
		return n, errors.Join(err, f.Close())
	case err == nil:
		mode = info.Mode().Perm()
	}
	return place(path, mode, write, os.Rename)
}

// Writable returns an error where a path leads to what is not written over: a named pipe, since to open it waits for a reader that may
// never come, but for those that the process has been given, which have one; and a recording, which nothing can make again. A file
// that cannot be read may be one.
func Writable(path string) error {
	info, err := os.Stat(path)
	given := strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/")
	switch {
	case err != nil:
		return nil
	case info.Mode().IsRegular():
		return spareRecording(path)
	case given || info.Mode()&fs.ModeNamedPipe == 0:
		return nil
	}
	return fmt.Errorf("%s is a %s; name a regular file", path, kind(info.Mode()))
}

// spareRecording returns an error where a regular file is a recording, or may be one.
func spareRecording(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: it may be a recording, which is not written over; name another file", err)
	}
	defer f.Close()
	head := make([]byte, RecordingHead)
	if n, _ := io.ReadFull(f, head); !IsRecording(head[:n]) {
		return nil
	}
	return fmt.Errorf("%s is a recording, which nothing can make again: name another file, or remove it first", path)
}

// CreateFile is WriteFile of a file that is not there yet. Where there is one the error is fs.ErrExist, and that one stays as
// it is.
func CreateFile(path string, write func(io.Writer) error) (int64, error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return place(path, 0, write, func(from, to string) error {
		err := os.Link(from, to)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // a file system without links: the name is taken first
		if err != nil {
			return err
		}
		f.Close()
		return os.Rename(from, to)
	})
}

// Bytes returns what writes data.
func Bytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// place writes a partial file beside path, brings it to the disk, moves it to path and brings that to the disk, too. With mode
// 0 the file has the mode of any new one.
func place(path string, mode fs.FileMode, write func(io.Writer) error, move func(from, to string) error) (int64, error) {
	f, err := partial(path)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	}
	defer os.Remove(f.Name())
	n, err := fill(f, write)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = flush(f)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = move(f.Name(), path)
	}
	if err != nil {
		return n, fmt.Errorf("write %s: %w", path, reason(err, f.Name()))
	}
	return n, flushFolder(filepath.Dir(path))
}

// reason returns why a call on a partial file failed, without that file's name, which nobody has chosen.
func reason(err error, partial string) error {
	var call *fs.PathError
	var move *os.LinkError
	switch {
	case errors.As(err, &call) && call.Path == partial:
		return call.Err
	case errors.As(err, &move) && move.Old == partial:
		return move.Err
	}
	return err
}

// fill writes to a file and returns how many bytes that were.
func fill(f *os.File, write func(io.Writer) error) (int64, error) {
	c := &counter{w: f}
	w := bufio.NewWriterSize(c, 1<<16)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	return c.n, err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// partial opens a new file beside path, and removes those that writers left there which were killed.
func partial(path string) (*os.File, error) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	prefix := PartialPrefix + base[:min(len(base), 200)] + "-"
	if left, err := os.ReadDir(dir); err == nil {
		for _, e := range left {
			if !strings.HasPrefix(e.Name(), prefix) {
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > PartialLife {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	for try := 0; ; try++ {
		name := filepath.Join(dir, fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), time.Now().UnixNano()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

// flush brings a file to the disk: without, a machine that stops may keep the new name and lose what was to be in it.
var flush = (*os.File).Sync
