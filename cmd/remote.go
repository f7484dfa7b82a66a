package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/ssh"
	"github.com/charmbracelet/colorprofile"
)

// remote is the terminal at the other end of a connection.
type remote struct {
	sess    ssh.Session
	mu      sync.Mutex
	size    ssh.Window
	resized <-chan ssh.Window
	env     []string
	idle    time.Duration // 0: no limit
	typed   chan []byte
	inlet   *inlet // of the program that is shown
}

func newRemote(sess ssh.Session, pty ssh.Pty, resized <-chan ssh.Window, idle time.Duration) *remote {
	return &remote{sess: sess, size: pty.Window, resized: resized, env: append(sess.Environ(), "TERM="+pty.Term), idle: idle, typed: make(chan []byte)}
}

// getenv is os.Getenv of the other end.
func (r *remote) getenv(name string) string {
	for i := len(r.env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(r.env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// read passes on what is typed, and ends the connection where nothing is for too long.
func (r *remote) read(ctx context.Context, cancel context.CancelCauseFunc) {
	var idle *time.Timer
	if r.idle > 0 {
		idle = time.AfterFunc(r.idle, func() { cancel(fmt.Errorf("no key for %s", r.idle)) })
		defer idle.Stop()
	}
	for {
		b := make([]byte, 1024)
		n, err := r.sess.Read(b)
		if idle != nil && n > 0 {
			idle.Reset(r.idle)
		}
		if n > 0 {
			select {
			case r.typed <- b[:n]:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			cancel(context.Canceled)
			return
		}
	}
}

// inlet is what one program reads of what is typed: nothing any more once another program is shown.
type inlet struct {
	typed <-chan []byte
	rest  []byte
	over  chan struct{}
}

// Read implements io.Reader.
func (i *inlet) Read(b []byte) (int, error) {
	if len(i.rest) == 0 {
		select {
		case i.rest = <-i.typed:
		case <-i.over:
			return 0, io.EOF
		}
	}
	n := copy(b, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// program returns the options of the next program.
func (r *remote) program() []tea.ProgramOption {
	r.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inlet = &inlet{typed: r.typed, over: make(chan struct{})}
	return []tea.ProgramOption{
		tea.WithInput(r.inlet), tea.WithOutput(r.sess), tea.WithEnvironment(r.env), tea.WithColorProfile(colorprofile.Env(r.env)),
		tea.WithWindowSize(r.size.Width, r.size.Height), tea.WithoutSignals(),
	}
}

// close ends what the program before reads.
func (r *remote) close() {
	if r.inlet != nil {
		close(r.inlet.over)
		r.inlet = nil
	}
}

// follow tells a program of other sizes of the terminal until it is over.
func (r *remote) follow(p *tea.Program, over <-chan struct{}) {
	for {
		select {
		case size, ok := <-r.resized:
			if !ok {
				return
			}
			r.mu.Lock()
			r.size = size
			r.mu.Unlock()
			p.Send(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		case <-over:
			return
		}
	}
}

// filter has no program suspended: there is no shell to go back to.
func (r *remote) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		return nil
	}
	return msg
}
