package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/trtui/trtui/internal/host"
)

// maxBytes bounds what a set keeps in memory, however well its file is compressed.
const maxBytes = 1 << 30

// errTooLarge says that a file holds more than that.
var errTooLarge = fmt.Errorf("more than %d MiB of data; use a part of it (items)", maxBytes>>20)

// readExactly reads n bytes. It does not allocate more than it can read, so that a wrong length costs nothing.
func readExactly(r io.Reader, n int) ([]byte, error) {
	if n < 0 || n > maxBytes {
		return nil, errTooLarge
	}
	if err := host.Room("the data", int64(n)); err != nil {
		return nil, err
	}
	const step = 16 << 20
	b := make([]byte, 0, min(n, step))
	for len(b) < n {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(n, 2*cap(b))), b...)
		}
		k, err := io.ReadFull(r, b[len(b):cap(b)])
		b = b[:len(b)+k]
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, fmt.Errorf("the file ends after %d of %d bytes of data", len(b), n)
			}
			return nil, err
		}
	}
	return b, nil
}

// readAll reads to the end.
func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = errTooLarge
	}
	return b, err
}

// stream is an open file, decompressed if it is gzip, that is hashed as it is read.
type stream struct {
	*bufio.Reader
	file  *os.File
	whole io.Reader // of the file
	hash  hash.Hash
}

func openStream(path string) (*stream, error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	s := &stream{file: f, hash: sha256.New()}
	if s.whole, err = host.Whole(f); err != nil {
		f.Close()
		return nil, err
	}
	s.Reader = bufio.NewReaderSize(io.TeeReader(s.whole, s.hash), 1<<16)
	if b, _ := s.Peek(2); bytes.Equal(b, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(s.Reader)
		if err != nil {
			f.Close()
			return nil, err
		}
		s.Reader = bufio.NewReaderSize(z, 1<<16)
	}
	return s, nil
}

func (s *stream) Close() error { return s.file.Close() }

// identity returns the identity of the file's content and the options; it reads the rest of the file.
func (s *stream) identity(path string, o Options) (Identity, error) {
	info, err := s.file.Stat()
	if err != nil {
		return Identity{}, err
	}
	if _, err := io.Copy(s.hash, s.whole); err != nil {
		return Identity{}, err
	}
	fmt.Fprintf(s.hash, "%+v", o)
	return Identity{path, info.Size(), info.ModTime(), hex.EncodeToString(s.hash.Sum(nil))}, nil
}
