package cmd

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
)

// screen is the output of programs, which a test looks at while they run.
type screen struct {
	sync.Mutex
	bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.Write(b)
}

// WriteString is there since that of the buffer locks nothing.
func (s *screen) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

// await waits until a text has been drawn, and forgets what was drawn until then.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.Lock()
		drawn := ansi.Strip(s.String())
		if strings.Contains(drawn, text) {
			s.Reset()
			s.Unlock()
			return
		}
		s.Unlock()
	}
	t.Fatalf("%q is not drawn:\n%s", text, ansi.Strip(s.String()))
}

// TestReplayLeadsBack opens a recording in front of a session, leaves it, and finds the session as it was: on its screen, at
// work, with its past.
func TestReplayLeadsBack(t *testing.T) {
	dir := t.TempDir()
	command(t, 0, append(rough(t), "record", "--precision", "fp32", "-o", filepath.Join(dir, "old.trtui"))...)
	o := onBackends(quick)
	o.register(&cobra.Command{}, takeAll)
	p, err := o.open("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	first := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1}
	session := sessions.Open(p.model, p.work, first)
	defer session.Close()
	out, keyboards := &screen{}, make(chan *io.PipeWriter, 1)
	program := func() []tea.ProgramOption { // what reads a pipe cannot leave it to the next program
		keys, press := io.Pipe()
		keyboards <- press
		return []tea.ProgramOption{tea.WithInput(keys), tea.WithOutput(out), tea.WithWindowSize(120, 40), tea.WithoutSignals()}
	}
	term := terminal{look: ui.Options{NoColor: true, Theme: "dark"}, recordings: dir, configs: config.NewSaver(dir, "digits"),
		program: program}
	done := make(chan error, 1)
	go func() { done <- term.show(t.Context(), session, session) }()
	press := <-keyboards
	write := func(text string) {
		t.Helper()
		if _, err := io.WriteString(press, text); err != nil {
			t.Fatal(err)
		}
	}
	switching := func(text string) { // to another program
		t.Helper()
		write(text)
		press = <-keyboards
	}
	out.await(t, "Overview")
	write("f")
	awaitPrecision(t, session, config.FP16)
	write("9")
	out.await(t, "old.trtui")
	switching("\r")
	out.await(t, "REPLAY")
	switching("\x1b")
	out.await(t, "old.trtui") // still on screen 9
	write("u")
	awaitPrecision(t, session, config.FP32) // the configuration before is still known
	switching("\r")
	out.await(t, "REPLAY")
	write("\x03") // ctrl+c ends both
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("ctrl+c in a replay does not end the program")
	}
}

func awaitPrecision(t *testing.T, s *sessions.Session, p config.Precision) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for s.Snapshot().Config.Precision != p {
		if ctx.Err() != nil {
			t.Fatalf("the session stays in %s", s.Snapshot().Config.Precision)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
