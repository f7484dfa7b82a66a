package cuda

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// TestCodeFiles loads a plan on a simulated device whose code is kept in a folder, and then on others: the same one
// compiles nothing, nor does anything for what became of a file but compile it again.
func TestCodeFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "code")
	open := func(d driver.Device) *Backend {
		b, err := OpenSimulatorOn(func() (driver.Context, error) { return Simulate(d), nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		b.KeepCode(dir)
		return b
	}
	first := open(simulator.Device())
	p := planned(t, first)
	n := use(t, first, p).Compiled
	if n == 0 {
		t.Fatal("nothing was compiled")
	}
	files := func() []string {
		list, err := filepath.Glob(filepath.Join(dir, "*"+codeSuffix))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	mine := files()
	if len(mine) != n {
		t.Fatalf("%d files of %d compilations", len(mine), n)
	}
	change := func(f func(data []byte) []byte) func() {
		return func() {
			data, err := os.ReadFile(mine[0])
			if err == nil {
				err = os.WriteFile(mine[0], f(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	foreign := filepath.Join(dir, "README")
	if err := os.WriteFile(foreign, []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	newer, other := simulator.Device(), simulator.Device()
	newer.Driver += 1000
	other.SM = 90
	for _, c := range []struct {
		name     string
		prepare  func()
		device   driver.Device
		compiled int
	}{
		{"the same", func() {}, simulator.Device(), 0},
		{"a newer driver", func() {}, newer, n},
		{"another architecture", func() {}, other, n},
		{"truncated", change(func(d []byte) []byte { return d[:len(d)/2] }), simulator.Device(), 1},
		{"empty", change(func([]byte) []byte { return nil }), simulator.Device(), 1},
		{"a bit fell over", change(func(d []byte) []byte { d[len(d)-9] ^= 4; return d }), simulator.Device(), 1},
		{"another version", change(func(d []byte) []byte {
			return bytes.Replace(d, []byte(codeVersion), []byte("trtui compiled code 0"), 1)
		}), simulator.Device(), 1},
		{"mended", func() {}, simulator.Device(), 0},
	} {
		c.prepare()
		if got := use(t, open(c.device), p); got.Compiled != c.compiled || got.Compiled+got.Filed != n || got.Err != nil {
			t.Errorf("%s: %+v, want %d compilations of %d", c.name, got, c.compiled, n)
		}
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file that is not ours: %v", err)
	}
}

// use loads a plan, lets go of it, and tells where its code came from.
func use(t *testing.T, b *Backend, p *run.Plan) run.CodeUse {
	t.Helper()
	if err := cycle(b, p); err != nil {
		t.Fatal(err)
	}
	return b.CodeUse()
}

// TestRefusedFiles: a binary that is whole but that the driver does not take is compiled anew, once.
func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	c := newCompiler(90, 12040)
	b := New(c, "first")
	b.KeepCode(dir)
	p := planned(t, b)
	n := use(t, b, p).Compiled
	bad := newCompiler(90, 12040)
	bad.damaged = true
	b = New(bad, "second")
	b.KeepCode(dir)
	if got := use(t, b, p); got.Compiled != n || got.Filed != 0 || int(bad.texts.Load()) != n {
		t.Errorf("%+v, %d texts, want %d compilations", got, bad.texts.Load(), n)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left of what the driver refused: %v", len(left), err)
	}
}

// TestCodeFilesUnusable: where the folder cannot be used everything works, and one error says why.
func TestCodeFilesUnusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), filepath.Join(closed, "below")} {
		b, err := OpenSimulator()
		if err != nil {
			t.Fatal(err)
		}
		b.KeepCode(dir)
		got := use(t, b, planned(t, b))
		if dir != file && os.Geteuid() == 0 && strings.HasPrefix(dir, closed) {
			continue // nothing is closed to root
		}
		if got.Compiled == 0 || got.Filed > 0 || got.Err == nil || !strings.Contains(got.Err.Error(), "code cache: ") {
			t.Errorf("%s: %+v", dir, got)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(file); string(data) != "data" {
		t.Errorf("the file has %q: %v", data, err)
	}
}

// TestCodeFilesShared: several users of one folder write and read the same keys, in more bytes than there is room for.
// What is found is always whole.
func TestCodeFilesShared(t *testing.T) {
	dir := t.TempDir()
	keys := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	code := func(key string) compiled {
		return compiled{bytes.Repeat([]byte(key), 3*codeBlock), "of " + key}
	}
	var users sync.WaitGroup
	for u := range 4 {
		c := newCodeFiles(dir)
		c.most = 16 * codeBlock
		users.Go(func() {
			for i := range 200 {
				key := keys[(i*7+u)%len(keys)]
				if got, ok := c.load(key); ok {
					if want := code(key); got.warnings != want.warnings || !bytes.Equal(got.cubin, want.cubin) {
						t.Errorf("%s is %d bytes, %q", key, len(got.cubin), got.warnings)
					}
				} else {
					c.save(key, code(key))
				}
			}
			if c.err != nil {
				t.Error(c.err)
			}
		})
	}
	users.Wait()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) == 0 || len(left) > len(keys) {
		t.Errorf("%d files are left: %v", len(left), err)
	}
}

// TestCodeFilesAreBounded: what was not used for the longest time goes, and what a process left that was ended.
func TestCodeFilesAreBounded(t *testing.T) {
	c := newCodeFiles(t.TempDir())
	c.most = 16 * codeBlock
	code := compiled{cubin: make([]byte, 3*codeBlock)} // 4 blocks with its head
	old := time.Now().Add(-2 * host.PartialLife)
	for i, name := range []string{host.PartialPrefix + "1", host.PartialPrefix + "2"} {
		path := filepath.Join(c.dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, key := range []string{"a", "b", "c"} {
		c.save(key, code)
		at := old.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(c.path(key), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.load("a"); !ok { // and so is the newest
		t.Fatal("a is gone")
	}
	c.save("d", code)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, ok := c.load(key); ok != want {
			t.Errorf("%s is there: %v", key, ok)
		}
	}
	for name, want := range map[string]bool{host.PartialPrefix + "1": false, host.PartialPrefix + "2": true} {
		if _, err := os.Stat(filepath.Join(c.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCodeOfManyUsers binds one plan by two backends at a time over one folder.
func TestCodeOfManyUsers(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p := planned(t, b)
	var users sync.WaitGroup
	for range 2 {
		users.Go(func() {
			b, err := OpenSimulator()
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			b.KeepCode(dir)
			l, err := run.Load(context.Background(), p, b)
			if err != nil {
				t.Error(err)
				return
			}
			l.Close()
			if u := b.CodeUse(); u.Err != nil || u.Compiled+u.Filed == 0 {
				t.Errorf("%+v", u)
			}
		})
	}
	users.Wait()
}

// FuzzCodeFile reads any bytes as a file: what is accepted is what would be written.
func FuzzCodeFile(f *testing.F) {
	whole := encodeCode("key", compiled{[]byte("\x7fELF\n1\n"), "a \"warning\"\n"})
	f.Add("key", whole)
	f.Add("other", whole)
	f.Add("key", whole[:20])
	f.Add("key", encodeCode("key", compiled{}))
	f.Add("", []byte(codeVersion+" "))
	f.Fuzz(func(t *testing.T, key string, data []byte) {
		b, err := decodeCode(key, data)
		if err != nil {
			return
		}
		again, err := decodeCode(key, encodeCode(key, b))
		if err != nil || !bytes.Equal(again.cubin, b.cubin) || again.warnings != b.warnings {
			t.Errorf("%q %q: %v", b.cubin, b.warnings, err)
		}
	})
}
