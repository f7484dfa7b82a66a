package cmd

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"charm.land/ssh"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	gossh "golang.org/x/crypto/ssh"
)

// sshTest is a server on the embedded model, and a key that may connect.
type sshTest struct {
	t    *testing.T
	addr string
	key  gossh.Signer
	stop context.CancelFunc
	done chan error
}

func newKey(t *testing.T) gossh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func serveTest(t *testing.T, flags ...string) *sshTest {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	s := &sshTest{t: t, key: newKey(t), done: make(chan error, 1)}
	if err := os.WriteFile("keys", append([]byte("# who may\n\n"), gossh.MarshalAuthorizedKey(s.key.PublicKey())...), 0o600); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(t.Context())
	out := &screen{}
	go func() {
		args := append([]string{"serve-ssh", "--listen", "127.0.0.1:0", "--authorized-keys", "keys", "--no-color"}, flags...)
		if code := execute(ctx, args, out, out); code != 0 {
			s.done <- fmt.Errorf("exit code %d", code)
		}
		close(s.done)
	}()
	for end := time.Now().Add(time.Minute); s.addr == "" && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		out.Lock()
		if _, rest, ok := strings.Cut(out.String(), "listening on "); ok && strings.Contains(rest, "1 key authorized") {
			s.addr, _, _ = strings.Cut(rest, ",")
		}
		out.Unlock()
	}
	if s.addr == "" {
		t.Fatalf("it does not listen: %s", out.String())
	}
	t.Cleanup(s.stop)
	return s
}

func (s *sshTest) dial(auth ...gossh.AuthMethod) (*gossh.Client, error) {
	c := &gossh.ClientConfig{User: "anyone", Auth: auth, HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 20 * time.Second}
	return gossh.Dial("tcp", s.addr, c)
}

// sshScreen is a connection with the screen that it shows.
type sshScreen struct {
	t      *testing.T
	client *gossh.Client
	sess   *gossh.Session
	keys   io.WriteCloser
	term   *vt.SafeEmulator
	errs   *screen
}

func (s *sshTest) show(w, h int) *sshScreen {
	s.t.Helper()
	client, err := s.dial(gossh.PublicKeys(s.key))
	if err != nil {
		s.t.Fatal(err)
	}
	sess, err := client.NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	c := &sshScreen{t: s.t, client: client, sess: sess, term: vt.NewSafeEmulator(w, h), errs: &screen{}}
	go func() { _, _ = io.Copy(io.Discard, c.term) }() // its answers
	sess.Stdout, sess.Stderr = c.term, c.errs
	if c.keys, err = sess.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(sess.RequestPty("xterm-256color", h, w, nil), sess.Shell()); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { client.Close() })
	return c
}

// leave closes the connection.
func (c *sshScreen) leave() {
	c.client.Close()
	_ = c.term.InputPipe().(io.Closer).Close() // ends who reads its answers, as its Close does, which races with them
}

func (c *sshScreen) text() string { return ansi.Strip(c.term.Render()) }

func (c *sshScreen) await(text string) {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(c.text(), text) {
			return
		}
	}
	c.t.Fatalf("%q is not shown, but\n%s\n%s", text, c.text(), c.errs.String())
}

func (c *sshScreen) press(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.keys, keys); err != nil {
		c.t.Fatal(err)
	}
}

// TestServeSSH connects: with other keys and a password in vain; the screen has the size asked for and follows it; others wait
// while one measures; who leaves in the middle leaves nothing behind; the server stops soon.
func TestServeSSH(t *testing.T) {
	s := serveTest(t)
	for what, auth := range map[string]gossh.AuthMethod{"another key": gossh.PublicKeys(newKey(t)), "a password": gossh.Password("")} {
		if c, err := s.dial(auth); err == nil || !strings.Contains(err.Error(), "unable to authenticate") {
			t.Errorf("%s: %v %v", what, c, err)
		}
	}
	before := runtime.NumGoroutine()
	a := s.show(100, 30)
	a.await("1 Over")
	lines := strings.Split(a.text(), "\n")
	if len(lines) != 30 || !strings.Contains(lines[29], "? help") || !strings.HasSuffix(strings.TrimRight(lines[29], " "), "help") {
		t.Errorf("not drawn at 100x30:\n%s", a.text())
	}
	a.term.Resize(120, 40)
	if err := a.sess.WindowChange(40, 120); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(lastLine(a.text()), "? help") && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
	}
	if last := lastLine(a.text()); !strings.Contains(last, "? help") {
		t.Errorf("not drawn at 120x40:\n%s", a.text())
	}
	a.press("\x1a3") // nothing is suspended
	a.await("end to end")
	b := s.show(80, 24) // while a is at work
	b.await("waiting")
	b.leave()
	a.leave() // in the middle of a measurement
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before+2 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	if n := runtime.NumGoroutine(); n > before+2 {
		stacks := make([]byte, 1<<18)
		t.Errorf("%d goroutines, %d before:\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
	}
	c := s.show(80, 24)
	c.await("1 Ove")
	begin := time.Now()
	s.stop()
	if err := <-s.done; err != nil || time.Since(begin) > 2*time.Second {
		t.Errorf("stopped after %s: %v", time.Since(begin), err)
	}
	if err := c.sess.Wait(); err == nil || !strings.Contains(c.errs.String(), "the server is stopped") {
		t.Errorf("who was connected is told %q, %v", c.errs.String(), err)
	}
	if c.term.IsAltScreen() {
		t.Error("the terminal is not given back")
	}
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// TestServeSSHIdle: who presses no key is told so and is out.
func TestServeSSHIdle(t *testing.T) {
	a := serveTest(t, "--read-only", "--idle", "1s").show(80, 24)
	if err := a.sess.Wait(); err == nil || !strings.Contains(a.errs.String(), "no key for 1s") {
		t.Errorf("%v, %q", err, a.errs.String())
	}
}

// TestServeSSHReadOnly: whoever looks on changes nothing and writes no file, and a ninth is refused.
func TestServeSSHReadOnly(t *testing.T) {
	s := serveTest(t, "--read-only")
	a := s.show(120, 40)
	a.await("1 Overview")
	for _, key := range []string{"f", "w", "r", "u"} {
		a.press(key)
		a.await("read-only")
		a.press("j") // the answer goes
	}
	for _, key := range []string{"W", "\x13"} {
		a.press(key)
		a.await("does nothing here")
	}
	all := []*sshScreen{a}
	for range mostSessions - 1 {
		all = append(all, s.show(80, 24))
	}
	for _, c := range all[1:] {
		c.await("1 Ove")
	}
	ninth := s.show(80, 24)
	if err := ninth.sess.Wait(); err == nil || !strings.Contains(ninth.errs.String(), "all 8 places are taken") {
		t.Errorf("a ninth: %v, %q", err, ninth.errs.String())
	}
	second, err := a.client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := second.CombinedOutput("ls"); err == nil || !strings.Contains(string(text), "the workbench here and nothing else") {
		t.Errorf("a command: %v, %q", err, text)
	}
	if _, err := a.client.Dial("tcp", s.addr); err == nil {
		t.Error("a port is forwarded")
	}
	if files, err := filepath.Glob("*"); err != nil || len(files) != 1 {
		t.Errorf("files: %q, %v", files, err)
	}
}

// TestHostKey makes a key that is its owner's alone, and refuses one that is not.
func TestHostKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "key")
	first, err := hostKey(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if again, err := hostKey(path); err != nil || !ssh.KeysEqual(first.PublicKey(), again.PublicKey()) {
		t.Errorf("not the same again: %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := hostKey(path); err == nil || !strings.Contains(err.Error(), "others can read it") {
		t.Errorf("%v", err)
	}
}

// TestAuthorizedKeys says which line of a file is no key.
func TestAuthorizedKeys(t *testing.T) {
	good := string(gossh.MarshalAuthorizedKey(newKey(t).PublicKey()))
	for _, c := range []struct{ file, want string }{
		{"# none\n", "there is no key in it"},
		{good + "\nssh-rsa AAAA\n", ":3: this is no public key"},
		{`no-pty ` + good, ":1: options of keys, such as no-pty, are not supported"},
		{good + good, ""},
	} {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readAuthorizedKeys(path)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
	for _, args := range [][]string{{"serve-ssh"}, {"serve-ssh", "--authorized-keys", "none"}} {
		if _, errs := command(t, exitFailure, args...); !strings.Contains(errs, "--authorized-keys") {
			t.Errorf("%q: %s", args, errs)
		}
	}
}

var _ net.Conn = (*countedConn)(nil)
