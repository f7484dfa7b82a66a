package host

import (
	"bytes"
	"fmt"
	"io/fs"
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

// ReadFile reads a file that Open opens.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := Room(path, info.Size()); err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // so that it need not grow
	_, err = data.ReadFrom(f)
	return data.Bytes(), err
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
