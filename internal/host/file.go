package host

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// Open opens a file to read it. A directory, a pipe, a device or a socket is an error, and is not opened: that may wait for ever,
// and what comes out of it may have no end.
func Open(path string) (*os.File, error) {
	switch info, err := os.Stat(path); {
	case err != nil: // which Open tells
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is a %s; name a regular file", path, kind(info.Mode()))
	}
	return os.Open(path)
}

// ReadFile reads a file that Open opens. One that ends before the size that it had when it was opened is an error: half of it may
// look like all of another.
func ReadFile(path string) ([]byte, error) { return ReadUpTo(path, math.MaxInt64-1) }

// ReadUpTo is ReadFile of a file that has no more than so many bytes: a larger one is an error, whatever its size is said to be.
func ReadUpTo(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if size <= most {
		if err := Room(path, size); err != nil {
			return nil, err
		}
		data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // so that it need not grow
		n, err := data.ReadFrom(io.LimitReader(f, most+1))
		switch {
		case err != nil:
			return nil, err
		case n < size:
			return nil, endsEarly(path, size, n)
		case n <= most:
			return data.Bytes(), nil
		}
	}
	if most < 1<<20 {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return nil, fmt.Errorf("%s has more than %d MiB", path, most>>20)
}

func endsEarly(path string, size, n int64) error {
	return fmt.Errorf("%s changed while it was read: it had %d bytes, and ends after %d; read it again when it is written", path, size, n)
}

// Whole reads a file from its beginning: an end before the size that it has now is an error.
func Whole(f *os.File) (io.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &whole{f: f, size: info.Size()}, nil
}

// whole counts what was read.
type whole struct {
	f       *os.File
	size, n int64
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.f.Read(p)
	if w.n += int64(n); err == io.EOF && w.n < w.size {
		err = endsEarly(w.f.Name(), w.size, w.n)
	}
	return n, err
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
