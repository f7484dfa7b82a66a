package trtui_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui"
)

// waiting returns a network of one op, whose layer calls f while it runs.
func waiting(t *testing.T, f func()) *trtui.Network {
	t.Helper()
	op := trtui.NewOp("Wait",
		func(l *trtui.Layer) error {
			l.Outputs[0].Type, l.Outputs[0].Dims = l.Inputs[0].Type, l.Inputs[0].Dims
			return nil
		},
		func(_ *trtui.Layer, in, out []trtui.Value) error {
			f()
			copy(out[0].Data, in[0].Data)
			return nil
		})
	d := trtui.Define("waiting")
	d.Output("y", d.Layer(op, nil, d.Input("x", trtui.F32, trtui.Const(2))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSessionsAtOnce has two sessions of one thread meet within a layer: neither waits for the other to end.
func TestSessionsAtOnce(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	met := make(chan struct{})
	go func() { both.Wait(); close(met) }()
	e := built(t, waiting(t, func() {
		both.Done()
		select {
		case <-met:
		case <-time.After(20 * time.Second):
			t.Error("the other session does not run meanwhile")
		}
	}), trtui.Options{Threads: 1})
	in := trtui.Inputs{"x": trtui.ValueOf([]float32{1, 2})}
	var runs sync.WaitGroup
	for range 2 {
		s := session(t, e, trtui.SessionOptions{Threads: 1})
		runs.Go(func() {
			if _, err := s.Run(context.Background(), in); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
}

// TestBusy has a session refuse a second inference while one runs, and take it afterwards.
func TestBusy(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	e := built(t, waiting(t, func() { inside <- struct{}{}; <-leave }), trtui.Options{})
	s := session(t, e, trtui.SessionOptions{})
	in, out := trtui.Inputs{"x": trtui.ValueOf([]float32{3, 4})}, s.NewOutputs()
	for range 2 {
		if err := s.Start(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		<-inside
		if _, err := s.Run(t.Context(), in); !errors.Is(err, trtui.ErrBusy) {
			t.Errorf("Run meanwhile: %v", err)
		}
		if err := s.Start(t.Context(), in, out); !errors.Is(err, trtui.ErrBusy) {
			t.Errorf("Start meanwhile: %v", err)
		}
		leave <- struct{}{}
		if err := s.Wait(); err != nil || out["y"].F32()[1] != 4 {
			t.Errorf("%v, %v", out["y"].F32(), err)
		}
	}
}
