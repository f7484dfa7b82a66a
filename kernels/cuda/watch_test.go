package cuda

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
)

// An inference on the simulator tells how far it is, launch by launch and block by block, without falling back; it is ended
// within a launch, and the next one is right again.
func TestWatch(t *testing.T) {
	b := simulated(t)
	p := planned(t, b)
	want, err := once(ready(t, b, p))
	if err != nil {
		t.Fatal(err)
	}
	x := ready(t, b, p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last run.Progress
	blocks, stopAt := 0, 0
	tell := func(p run.Progress) {
		if p.Launch < last.Launch || p.Share < last.Share || p.Share > 1 || p.Layer == "" {
			t.Errorf("%+v after %+v", p, last)
		}
		if p.Blocks > 0 {
			blocks++
		}
		if last = p; stopAt > 0 && p.Launch == stopAt && p.Blocks > 0 {
			cancel()
		}
	}
	if !x.Watch(ctx, tell) {
		t.Fatal("the simulator cannot be watched")
	}
	if _, err := once(x); err != nil {
		t.Fatal(err)
	}
	if last.Launch != last.Launches || last.Launches < 3 || blocks < last.Launches {
		t.Errorf("the last word is %+v after %d about blocks", last, blocks)
	}
	stopAt, last = 2, run.Progress{}
	began := time.Now()
	if err := x.Execute(); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	if last.Launch != stopAt || time.Since(began) > 5*time.Second {
		t.Errorf("it went on to %+v for %v", last, time.Since(began))
	}
	stopAt, last = 0, run.Progress{}
	x.Watch(t.Context(), tell)
	if got, err := once(x); err != nil || !bytes.Equal(got.Data, want.Data) {
		t.Errorf("an inference after one that was ended gives %v, %v, not %v", got, err, want)
	}
}
