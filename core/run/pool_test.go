package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/run"
)

// held is a pool of one worker that is busy until leave is closed.
func held(t *testing.T, depth int) (p *run.Pool, leave chan struct{}) {
	t.Helper()
	p, leave = run.NewPool(1, depth), make(chan struct{})
	inside := make(chan struct{})
	if _, err := p.Submit(t.Context(), run.Job{Do: func(context.Context, int) error { close(inside); <-leave; return nil }}); err != nil {
		t.Fatal(err)
	}
	<-inside
	return p, leave
}

// TestPoolOrder has jobs run by priority, and those of one priority as they came.
func TestPoolOrder(t *testing.T) {
	p, leave := held(t, 16)
	defer p.Close()
	var order []string
	var last *run.Ticket
	for i, priority := range []int{0, 5, -1, 5, 0, 9} {
		ticket, err := p.Submit(t.Context(), run.Job{Priority: priority, Do: func(context.Context, int) error {
			order = append(order, fmt.Sprintf("%d:%d", priority, i))
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if priority == -1 {
			last = ticket
		}
	}
	close(leave)
	if err := last.Wait(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"9:5", "5:1", "5:3", "0:0", "0:4", "-1:2"}; !slices.Equal(order, want) {
		t.Errorf("they run as %v, want %v", order, want)
	}
}

// TestPoolEnds has jobs end that never run: by their context, by a queue that is full, by the pool's end; and one that panics.
func TestPoolEnds(t *testing.T) {
	p, leave := held(t, 2)
	never := func(context.Context, int) error { t.Error("it runs"); return nil }
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan error, 1)
	given, err := p.Submit(ctx, run.Job{Do: never, Done: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := p.Submit(t.Context(), run.Job{Priority: -1, Do: func(context.Context, int) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Submit(t.Context(), run.Job{Do: never}); !errors.Is(err, run.ErrFull) {
		t.Errorf("a third one: %v", err)
	}
	cancel()
	if err := given.Wait(); !errors.Is(err, context.Canceled) || !errors.Is(<-told, context.Canceled) || p.Waiting() != 1 {
		t.Errorf("cancelled: %v, %d wait", err, p.Waiting())
	}
	fails, err := p.Submit(t.Context(), run.Job{Do: func(context.Context, int) error { panic("out of paper") }})
	if err != nil {
		t.Fatal(err)
	}
	close(leave)
	if err := fails.Wait(); err == nil || !strings.Contains(err.Error(), "out of paper") {
		t.Errorf("a panic: %v", err)
	}
	if err := kept.Wait(); err != nil {
		t.Error(err)
	}
	p.Close()
	if _, err := p.Submit(t.Context(), run.Job{Do: never}); !errors.Is(err, run.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// TestPoolClose has those that wait end with the pool, and Close wait for the one that runs.
func TestPoolClose(t *testing.T) {
	p, leave := held(t, 2)
	waits, err := p.Submit(t.Context(), run.Job{Do: func(context.Context, int) error { t.Error("it runs"); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { p.Close(); close(closed) }()
	if err := waits.Wait(); !errors.Is(err, run.ErrClosed) {
		t.Error(err)
	}
	select {
	case <-closed:
		t.Error("Close does not wait")
	default:
	}
	close(leave)
	<-closed
}
