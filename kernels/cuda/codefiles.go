package cuda

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/internal/host"
)

// codeFiles keeps binaries in a folder, so that no process compiles what another did: a file for each key. Several
// processes may use it at a time: a file appears as a whole, and one that goes while it is read is a miss. What is damaged,
// or another version's, is removed and compiled anew. A folder that cannot be written to is read and no more.
type codeFiles struct {
	dir  string
	most int64 // bytes of all files; those not used for the longest time go first

	mu      sync.Mutex
	written int64 // bytes, since the folder was last looked through
	looked  bool  // it was
	err     error // the first one that says that the folder cannot be used; nothing is written from then on
}

const (
	codeVersion  = "trtui compiled code 1" // begins a file
	codeSuffix   = ".code"
	maxCodeFiles = 256 << 20 // bytes
	maxCodeFile  = 32 << 20
	codeBlock    = 4096 // what a file takes at least
)

func newCodeFiles(dir string) *codeFiles { return &codeFiles{dir: dir, most: maxCodeFiles} }

// path is where the code of a key is.
func (c *codeFiles) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+codeSuffix)
}

// load returns the code of a key; none where there is none that is whole.
func (c *codeFiles) load(key string) (compiled, bool) {
	path := c.path(key)
	data, err := readCode(path)
	if errors.Is(err, fs.ErrNotExist) {
		return compiled{}, false
	}
	if err != nil {
		c.fail(err)
		return compiled{}, false
	}
	b, err := decodeCode(key, data)
	if err != nil {
		_ = os.Remove(path) // what stays is found damaged again
		return compiled{}, false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // a folder that is not ours keeps its order
	return b, true
}

// readCode reads a file, of which no more than maxCodeFile and a byte counts.
func readCode(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would not end
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxCodeFile+1))
}

// encodeCode returns a file's bytes: a line with the version and the hash of what follows, the key, the compiler's
// warnings in quotes, and the binary.
func encodeCode(key string, b compiled) []byte {
	body := append(fmt.Appendf(nil, "%s\n%q\n", key, b.warnings), b.cubin...)
	return append(fmt.Appendf(nil, "%s %x\n", codeVersion, sha256.Sum256(body)), body...)
}

// decodeCode reads what encodeCode wrote for the same key.
func decodeCode(key string, data []byte) (compiled, error) {
	if len(data) > maxCodeFile {
		return compiled{}, fmt.Errorf("larger than %d bytes", maxCodeFile)
	}
	head, body, _ := bytes.Cut(data, []byte("\n"))
	if string(head) != fmt.Sprintf("%s %x", codeVersion, sha256.Sum256(body)) {
		return compiled{}, errors.New("damaged, or of another version")
	}
	own, body, _ := bytes.Cut(body, []byte("\n"))
	quoted, cubin, ok := bytes.Cut(body, []byte("\n"))
	warnings, err := strconv.Unquote(string(quoted))
	if string(own) != key || !ok || err != nil || len(cubin) == 0 {
		return compiled{}, errors.New("other code than its name says")
	}
	return compiled{cubin, warnings}, nil
}

// save writes the code of a key.
func (c *codeFiles) save(key string, b compiled) {
	data := encodeCode(key, b)
	if c.failed() != nil || len(data) > maxCodeFile {
		return
	}
	if err := c.write(c.path(key), data); err != nil {
		c.fail(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Others write, too: the folder is looked through now and then.
	if c.written += blocks(int64(len(data))); !c.looked || c.written > c.most/16 {
		c.written, c.looked = 0, true
		c.trim()
	}
}

// write makes a file appear as a whole.
func (c *codeFiles) write(path string, data []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	_, err := host.WriteFile(path, host.Bytes(data))
	return err
}

// forget removes the code of a key, which the driver refused.
func (c *codeFiles) forget(key string) { _ = os.Remove(c.path(key)) }

// trim removes the files that were not used for the longest time until the rest takes no more than fifteen sixteenths of
// the room, and what a process left that ended while it wrote. Files of other names are not touched. c.mu is held.
func (c *codeFiles) trim() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return // the next write says why
	}
	var files []fs.FileInfo
	var total int64
	for _, e := range entries {
		code := len(e.Name()) == 2*sha256.Size+len(codeSuffix) && strings.HasSuffix(e.Name(), codeSuffix)
		partial := strings.HasPrefix(e.Name(), host.PartialPrefix)
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !code && !partial {
			continue // gone, or not ours
		}
		if partial {
			if time.Since(info.ModTime()) > host.PartialLife {
				_ = os.Remove(filepath.Join(c.dir, e.Name()))
			}
			continue
		}
		files = append(files, info)
		total += blocks(info.Size())
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if total <= c.most-c.most/16 {
			return
		}
		if os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			total -= blocks(f.Size())
		}
	}
}

// blocks is what a file of n bytes takes on a disk.
func blocks(n int64) int64 { return (n + codeBlock - 1) / codeBlock * codeBlock }

func (c *codeFiles) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail keeps the first error.
func (c *codeFiles) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("code cache: %w; kernels are compiled anew", err)
	}
}
