package simulator_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// streamCases enqueue two pieces of work in two streams, with do between them; says is what is wrong with nothing between
// them, "" if nothing.
var streamCases = []struct {
	name, says string
	first      func(r *rig) error // in the first stream
	second     func(r *rig) error // in the second one
}{
	{"a copy and a launch", `race: it (reads|writes) \d+ bytes of device memory at 0x\w+, which cuMemcpyHtoDAsync_v2 of 1024 bytes at \S+ in stream \S+ wrote|race: it writes 4 bytes of .*, which cuLaunchKernel of kernel add in stream \S+ (read|wrote)`,
		func(r *rig) error { return r.MemcpyHtoDAsync(r.p, r.h, r.s[0]) },
		func(r *rig) error { return r.launch(r.s[1], 1, 1) }},
	{"two launches", "of device memory", func(r *rig) error { return r.launch(r.s[0], 1, 256) }, func(r *rig) error { return r.launch(r.s[1], 1, 9) }},
	{"a launch and a copy back", "of device memory", func(r *rig) error { return r.launch(r.s[0], 1, 256) },
		func(r *rig) error { return r.MemcpyDtoHAsync(r.h, r.p, r.s[1]) }},
	{"two copies back", "of host memory", func(r *rig) error { return r.MemcpyDtoHAsync(r.h[:8], r.p, r.s[0]) },
		func(r *rig) error { return r.MemcpyDtoHAsync(r.h[4:12], r.p, r.s[1]) }},
	{"a copy within the device and a set", "which (cuMemsetD32Async|cuMemcpyDtoDAsync)", func(r *rig) error { return r.MemcpyDtoDAsync(r.p+512, r.p, 64, r.s[0]) },
		func(r *rig) error { return r.MemsetD32Async(r.p+60, 5, 2, r.s[1]) }},
	{"readers", "", func(r *rig) error { return r.MemcpyDtoHAsync(r.h[:8], r.p, r.s[0]) },
		func(r *rig) error { return r.MemcpyDtoHAsync(r.h[8:16], r.p, r.s[1]) }},
	{"neighbours", "", func(r *rig) error { return r.MemsetD8Async(r.p+4, 1, 1020, r.s[0]) }, func(r *rig) error { return r.launch(r.s[1], 1, 1) }},
}

// TestStreams orders work of two streams by nothing, by an event, by a wait of the host, and by a query that says that it is
// done; and the work of one stream by that.
func TestStreams(t *testing.T) {
	record := func(r *rig) error { return r.EventRecord(r.e, r.s[0]) }
	between := []struct {
		name string
		do   func(r *rig) error
	}{
		{"nothing", func(*rig) error { return nil }},
		{"an event", func(r *rig) error { return errors.Join(record(r), r.StreamWaitEvent(r.s[1], r.e)) }},
		{"an event, and a wait before it", func(r *rig) error { return errors.Join(r.StreamWaitEvent(r.s[1], r.e), record(r)) }},
		{"the host", func(r *rig) error { return errors.Join(record(r), r.EventSynchronize(r.e)) }},
		{"another stream", func(r *rig) error { return r.StreamSynchronize(r.s[1]) }},
		{"an allocation that is freed", func(r *rig) error {
			p, err := r.MemAlloc(8)
			return errors.Join(err, r.MemFree(p))
		}},
		{"a third stream", func(r *rig) error {
			return errors.Join(record(r), r.StreamWaitEvent(0, r.e), r.EventRecord(r.e, 0), r.StreamWaitEvent(r.s[1], r.e))
		}},
		{"queries", func(r *rig) error {
			for {
				if done, err := r.StreamQuery(r.s[0]); done || err != nil {
					return err
				}
			}
		}},
	}
	for _, c := range streamCases {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range append(lazy(), simulator.Options{}) {
				o.Streams = true
				for _, b := range between {
					r := newRig(t, o)
					err := errors.Join(c.first(r), b.do(r), c.second(r), r.Synchronize())
					ordered := b.name != "nothing" && b.name != "another stream" && b.name != "an event, and a wait before it"
					switch {
					case ordered || c.says == "":
						if err != nil {
							t.Errorf("%+v, %s between: %v", o, b.name, err)
						}
					case err == nil || !regexp.MustCompile(c.says).MatchString(err.Error()):
						t.Errorf("%+v, %s between: %v", o, b.name, err)
					}
				}
			}
		})
	}
}

// TestStreamsOfGraphs launches a graph in two streams: one launch waits for the other.
func TestStreamsOfGraphs(t *testing.T) {
	for _, o := range append(lazy(), simulator.Options{}) {
		o.Streams = true
		r := newRig(t, o)
		x, _ := r.graph(1)
		y, _ := r.graph(10)
		r.ok(r.GraphLaunch(x, r.s[0]), r.GraphLaunch(x, r.s[1]), r.GraphLaunch(y, r.s[1]), r.Synchronize())
		if v := r.word(); v != 12 {
			t.Errorf("the sum is %d", v)
		}
		err := errors.Join(r.GraphLaunch(x, r.s[0]), r.GraphLaunch(y, r.s[1]), r.Synchronize())
		if err == nil || !regexp.MustCompile(`race: it (reads|writes) 1000? bytes|race: it (reads|writes) 1024 bytes`).MatchString(err.Error()) {
			t.Errorf("two graphs: %v", err)
		}
	}
}

// TestForgets enqueues much without a wait, which must not take memory without end, and waits for streams that are gone.
func TestForgets(t *testing.T) {
	r := newRig(t, simulator.Options{Streams: true})
	for range 200 {
		s, err := r.StreamCreate(0)
		r.ok(err, r.launch(s, 1, 256), r.StreamSynchronize(s), r.StreamDestroy(s))
	}
	if v := r.word(); v != 200 {
		t.Errorf("the sum is %d", v)
	}
	var none driver.Stream
	r.ok(r.MemsetD8Async(r.p, 0, 8, none), r.StreamSynchronize(none), r.launch(r.s[0], 1, 2), r.Synchronize())
}
