package main

import (
	"context"
	"errors"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views"
)

// terminal is where the workbench is shown.
type terminal struct {
	look       ui.Options
	recordings string // folder
	configs    *sessions.ConfigSaver
}

// show shows the workbench on a session or a replay until a person quits it. A recording that is opened meanwhile is
// shown in front of it; quitting that one leads back. rec is nil where nothing can be recorded; what it records ends here.
func (t terminal) show(ctx context.Context, ctl views.Controller, rec views.Recorder) (err error) {
	if rec != nil {
		defer func() {
			if ctl.Snapshot().Recording != "" {
				err = errors.Join(err, rec.StopRecording())
			}
		}()
	}
	for {
		opened, err := t.run(ctx, ctl, rec)
		if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
			return nil
		}
		if err != nil || opened == nil {
			return err
		}
		replay := t
		replay.configs = replayConfigs(opened)
		err = errors.Join(replay.show(ctx, opened, nil), opened.Close())
		if err != nil {
			return err
		}
	}
}

// replayConfigs saves configurations beside the recording that they are in.
func replayConfigs(r *sessions.Replay) *sessions.ConfigSaver {
	return sessions.NewConfigSaver(filepath.Dir(r.Path()), r.Path())
}

// run runs the program once; it returns the recording that is to be shown next, if there is one.
func (t terminal) run(ctx context.Context, ctl views.Controller, rec views.Recorder) (*sessions.Replay, error) {
	events := newRelay(ctl)
	defer events.stop()
	next := make(chan *sessions.Replay, 1)
	open := func(path string) tea.Cmd {
		return func() tea.Msg {
			r, err := sessions.OpenRecording(path)
			if err != nil {
				return ui.StatusMsg{Text: err.Error(), Style: ui.Bad}
			}
			select {
			case next <- r:
				return tea.Quit()
			default: // another one is being opened
				r.Close()
				return nil
			}
		}
	}
	timeline, _ := ctl.(views.Timeline) // nil for a session
	app, err := views.NewWorkbench(events, views.Options{
		Look: ui.NewLook(t.look), Recorder: rec, Recordings: t.recordings, Open: open, Timeline: timeline,
		SaveConfig: t.configs.Save,
	})
	if err != nil {
		return nil, err
	}
	jobs := newJobs()
	defer jobs.end()
	program := tea.NewProgram(app, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFilter(jobs.filter))
	go jobs.forward(program)
	_, err = program.Run()
	select {
	case r := <-next:
		return r, err
	default:
		return nil, err
	}
}

// relay passes a controller's events on to one program: what still listens when that has ended takes none from the next.
type relay struct {
	views.Controller
	events chan *sessions.Snapshot
	quit   chan struct{}
	done   chan struct{}
}

func newRelay(c views.Controller) *relay {
	r := &relay{c, make(chan *sessions.Snapshot, 1), make(chan struct{}), make(chan struct{})}
	go r.forward()
	return r
}

func (r *relay) Events() <-chan *sessions.Snapshot { return r.events }

// forward keeps the newest event for a program that is slow.
func (r *relay) forward() {
	defer close(r.done)
	for {
		select {
		case <-r.quit:
			return
		case s := <-r.Controller.Events():
			select {
			case <-r.events:
			default:
			}
			r.events <- s
		}
	}
}

func (r *relay) stop() {
	close(r.quit)
	<-r.done
}
