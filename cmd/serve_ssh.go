package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/ssh"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/views"
)

// The bounds on who is connected.
const (
	mostSessions   = 8                // workbenches at a time
	mostConns      = 4 * mostSessions // connections, those that have not shown a key yet with them
	handshakeLimit = 10 * time.Second
	stopGrace      = 1500 * time.Millisecond // that sessions have to give their terminals back
)

// serveFlags say who may connect, and to what.
type serveFlags struct {
	workbenchFlags
	listen   string
	allowed  string
	hostKey  string
	readOnly bool
	idle     time.Duration
}

func serveSSHCommand(t tables) *cobra.Command {
	f := &serveFlags{workbenchFlags: workbenchFlags{modelFlags: *onBackends(t)}}
	f.partly = true
	c := &cobra.Command{
		Use:        "serve-ssh [MODEL|ENGINE]",
		SuggestFor: []string{"remote", "share"},
		Short:      "Show the workbench on a model to those who connect by SSH",
		Long: "Show the workbench on a model to those who connect by SSH with a key that a file authorizes. Each connection has a\n" +
			"session of its own; what is measured is measured by one at a time, and the others say that they wait. Nobody gets a\n" +
			"shell, files or ports. With --read-only a connection changes nothing and writes no files. It ends by a signal.",
		Example: examples("for this machine, with your own keys", "trtui serve-ssh model.onnx --authorized-keys ~/.ssh/authorized_keys",
			"and from another terminal", "ssh -p 2222 localhost",
			"to show an engine around", "trtui serve-ssh m.engine --listen :2222 --authorized-keys team.pub --read-only"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.serve(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args))
		},
	}
	f.register(c, takeAll)
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:2222", "`ADDRESS` to listen on")
	flags.StringVar(&f.allowed, "authorized-keys", "", "`FILE` of the public keys that may connect, as that of OpenSSH; required")
	flags.StringVar(&f.hostKey, "host-key", "", "`FILE` of the server's own key, made if it is not there; the default is trtui/ssh_host_ed25519_key in the folder of configurations")
	flags.BoolVar(&f.readOnly, "read-only", false, "connections change nothing and write no files")
	flags.DurationVar(&f.idle, "idle", 30*time.Minute, "`TIME` without a key after which a connection ends; 0: never")
	under(c, "Connections", "listen", "authorized-keys", "host-key", "read-only", "idle")
	under(c, screenHeading, f.registerScreen(flags)...)
	return c
}

// sshServer shows workbenches on one model to several.
type sshServer struct {
	flags   *serveFlags
	path    string
	home    *place
	machine stages.Machine
	opening sync.Mutex // flags are read by one at a time
	conns   atomic.Int32
	shown   atomic.Int32
	working sync.WaitGroup
	stop    context.Context
}

func (f *serveFlags) serve(ctx context.Context, stdout, stderr io.Writer, path string) error {
	if f.allowed == "" {
		return usageError{errors.New("--authorized-keys FILE names the keys that may connect")}
	}
	if f.idle < 0 {
		return usageError{errors.New("--idle: a time is not negative")}
	}
	if err := errors.Join(f.checkScreen(), f.check()); err != nil {
		return err
	}
	allowed, err := readAuthorizedKeys(f.allowed)
	if err != nil {
		return fmt.Errorf("--authorized-keys: %w", err)
	}
	host, err := hostKey(f.hostKey)
	if err != nil {
		return fmt.Errorf("--host-key: %w", err)
	}
	p, err := f.open(path)
	if err != nil {
		return err
	}
	defer p.close()
	p.warn(stderr)
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	fmt.Fprintf(stdout, "listening on %s, host key %s, %s authorized\n", l.Addr(), fingerprint(host), count(len(allowed), "key"))
	s := &sshServer{flags: f, path: path, home: p, stop: ctx}
	return s.run(ctx, l, host, allowed)
}

// run serves until the context ends, and then has what is shown given back.
func (s *sshServer) run(ctx context.Context, l net.Listener, host ssh.Signer, allowed []ssh.PublicKey) error {
	server := &ssh.Server{
		Handler: s.handle, HostSigners: []ssh.Signer{host}, Version: "trtui", HandshakeTimeout: handshakeLimit,
		PublicKeyHandler: func(_ ssh.Context, key ssh.PublicKey) bool { return isAuthorized(allowed, key) },
		ConnCallback: func(_ ssh.Context, c net.Conn) net.Conn {
			if s.conns.Add(1) > mostConns {
				s.conns.Add(-1)
				return nil
			}
			return &countedConn{Conn: c, conns: &s.conns}
		},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	_ = l.Close()
	ended := make(chan struct{})
	go func() {
		s.working.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopGrace):
	}
	_ = server.Close() // those that are left
	return nil
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	conns *atomic.Int32
	once  sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.conns.Add(-1) })
	return c.Conn.Close()
}

// shownKey marks a connection that shows a workbench.
type shownKey struct{}

// handle shows a workbench on a channel, or says why not.
func (s *sshServer) handle(sess ssh.Session) {
	s.working.Add(1)
	defer s.working.Done()
	if err := s.show(sess); err != nil {
		fmt.Fprintf(sess.Stderr(), "trtui: %v\r\n", err)
		_ = sess.Exit(exitFailure)
		return
	}
	_ = sess.Exit(0)
}

func (s *sshServer) show(sess ssh.Session) error {
	pty, resized, ok := sess.Pty()
	switch {
	case len(sess.Command()) > 0 || sess.Subsystem() != "":
		return errors.New("there is the workbench here and nothing else: connect without a command")
	case !ok:
		return errors.New("the workbench needs a terminal: connect with ssh -t")
	}
	sess.Context().Lock()
	again := sess.Context().Value(shownKey{}) != nil
	sess.Context().SetValue(shownKey{}, true)
	sess.Context().Unlock()
	if again {
		return errors.New("one workbench a connection: connect again")
	}
	if s.shown.Add(1) > mostSessions {
		s.shown.Add(-1)
		return fmt.Errorf("all %d places are taken", mostSessions)
	}
	defer s.shown.Add(-1)
	r := newRemote(sess, pty, resized, s.flags.idle)
	look, err := s.flags.look.Detect(r.getenv, true)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(sess.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.stop, func() { cancel(errors.New("the server is stopped")) })()
	go r.read(ctx, cancel)
	defer r.close()
	err = s.workbench(ctx, terminal{look: look, keys: s.flags.screenFlags.keys, program: r.program, remote: r})
	if ctx.Err() != nil { // the program may not have had the time
		_, _ = io.WriteString(sess, leaveScreen)
		if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
			err = cause
		}
	}
	return err
}

// workbench shows a session of its own on the model.
func (s *sshServer) workbench(ctx context.Context, t terminal) error {
	p, cfg, err := s.another()
	if err != nil {
		return err
	}
	session := sessions.Open(p.model, p.work, cfg)
	defer closeSoon(session.Close)
	if s.flags.readOnly {
		t.readOnly = true
		return t.show(ctx, onlooker{session}, nil)
	}
	if t.recordings, err = filepath.Abs("."); err != nil {
		return err
	}
	t.configs, t.own = saver(s.path), s.flags.own
	return t.show(ctx, session, session)
}

// another opens the model anew for a session, on the devices that there are.
func (s *sshServer) another() (*place, config.Config, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	f := s.flags
	open := f.openModel
	if s.path != "" {
		open = f.lookAtModel
	}
	m, err := open(s.path)
	if err != nil {
		return nil, config.Config{}, err
	}
	data, cal, err := f.runData(m, s.path == "")
	if err != nil {
		return nil, config.Config{}, err
	}
	w := s.home.work
	if err := f.feed(&w, data, cal); err != nil {
		return nil, config.Config{}, err
	}
	w.Machine, w.Warn = &s.machine, nil // a session has its log for warnings
	if f.readOnly {
		w.SaveTo = ""
	}
	cfg, err := f.begin(m, operand{})
	return &place{model: m, work: w, close: func() {}}, cfg, err
}

// onlooker is a session that whoever looks at it cannot change.
type onlooker struct{ *sessions.Session }

var _ views.Controller = onlooker{}

// What would change it does nothing; the workbench says so beforehand.
func (onlooker) Set(config.Config)      {}
func (onlooker) Rerun()                 {}
func (onlooker) Cancel()                {}
func (onlooker) Retime(string)          {}
func (onlooker) Beside([]config.Config) {}
func (onlooker) Study(*report.Goal)     {}
func (onlooker) Split(string)           {}
func (onlooker) DropTimings(bool)       {}

// homeFile is a file that is the person's alone.
func homeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
