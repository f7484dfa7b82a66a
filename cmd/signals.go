package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/trtui/trtui/internal/host"
)

const (
	// endGrace is how long the workbench may take to end after a signal before it is ended.
	endGrace = time.Second
	// abandonGrace is how long anything may take to end after its context has ended.
	abandonGrace = 5 * time.Second
	// writeGrace is how long the terminal may take to read that it is left: one behind a slow connection, or on a machine that is
	// overloaded, reads late.
	writeGrace = 750 * time.Millisecond
	// oneRequest is how far apart signals may lie that are one request to end: who closes a window or stops a service
	// sends several.
	oneRequest = 100 * time.Millisecond
)

// leaveScreen undoes every mode of the terminal that the workbench sets.
const leaveScreen = ansi.ResetModeSynchronizedOutput + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent +
	ansi.ResetModeMouseExtSgr + ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste + ansi.ResetModifyOtherKeys +
	"\x1b[<1u" + ansi.ResetStyle + ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable

// heeded returns those signals that were not ignored when the program was started, as nohup has SIGHUP.
func heeded(list []os.Signal) []os.Signal {
	var kept []os.Signal
	for _, s := range list {
		if !signal.Ignored(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// untilSignal returns a context that ends at the first signal that asks the program to end. The second one ends the program
// as if none had been caught.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, heeded(endSignals)...)
	context.AfterFunc(ctx, func() { time.AfterFunc(oneRequest, stop) })
	return ctx, stop
}

// endAfter ends the program where it has not ended some time after its context has: what waits for somebody to read a pipe, or
// computes without looking up, would go on for ever.
func endAfter(ctx context.Context) {
	context.AfterFunc(ctx, func() {
		time.Sleep(abandonGrace)
		note := "trtui: stopped"
		if short := new(host.Shortage); errors.As(context.Cause(ctx), &short) {
			note = "trtui: " + short.Error()
		}
		fmt.Fprintln(os.Stderr, note)
		os.Exit(exitFailure)
	})
}

// guardTerminal returns a context that ends at the first signal, or when the terminal is gone. Where the program has not ended endGrace later, or a second
// signal comes, it restores the terminal and ends the program. It is for as long as the workbench may own the terminal: call
// stop after that.
func guardTerminal(ctx context.Context) (guarded context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	state, err := term.GetState(os.Stdin.Fd())
	if err != nil || !term.IsTerminal(os.Stdout.Fd()) { // the workbench does not open
		return ctx, cancel
	}
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, heeded(append(slices.Clone(endSignals), quitSignals...))...)
	stopped := make(chan struct{})
	gone := hungUp(os.Stdin.Fd(), stopped)
	go func() {
		select {
		case <-caught:
		case <-gone:
		case <-stopped:
			return
		}
		cancel()
		first, late := time.Now(), time.After(endGrace)
		for again := false; !again; {
			select {
			case <-caught:
				again = time.Since(first) > oneRequest
			case <-late:
				again = true
			case <-stopped:
				return
			}
		}
		restoreTerminal(state)
		os.Exit(exitFailure)
	}()
	return ctx, func() {
		cancel()
		signal.Stop(caught)
		close(stopped)
	}
}

// restoreTerminal leaves the terminal as it was found; a terminal that takes no output does not hold it up.
func restoreTerminal(state *term.State) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = os.Stdout.WriteString(leaveScreen) // the terminal may be gone
	}()
	select {
	case <-written:
	case <-time.After(writeGrace):
	}
	_ = term.Restore(os.Stdin.Fd(), state) // likewise
}
