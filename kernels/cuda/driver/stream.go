//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"time"
	"unsafe"
)

func (g *gpu) StreamCreate(priority int) (Stream, error) {
	const nonBlocking = 1
	var s Stream
	least, most := g.device.StreamPriority[0], g.device.StreamPriority[1]
	priority = max(most, min(least, priority))
	err := g.doPointers(cuStreamCreateWithPriority, uintptr(unsafe.Pointer(&s)), nonBlocking, uintptr(priority))
	return s, err
}

func (g *gpu) StreamDestroy(s Stream) error     { return g.do(cuStreamDestroy, uintptr(s)) }
func (g *gpu) StreamSynchronize(s Stream) error { return g.do(cuStreamSynchronize, uintptr(s)) }

func (g *gpu) StreamQuery(s Stream) (bool, error) { return ready(g.do(cuStreamQuery, uintptr(s))) }

// ready tells "not done yet" from failure.
func ready(err error) (bool, error) {
	if e, ok := err.(*Error); ok && e.Result == NotReady {
		return false, nil
	}
	return err == nil, err
}

func (g *gpu) StreamWaitEvent(s Stream, e Event) error {
	return g.do(cuStreamWaitEvent, uintptr(s), uintptr(e), 0)
}

func (g *gpu) EventCreate(timing bool) (Event, error) {
	const disableTiming = 2
	var e Event
	flags := uintptr(disableTiming)
	if timing {
		flags = 0
	}
	err := g.doPointers(cuEventCreate, uintptr(unsafe.Pointer(&e)), flags)
	return e, err
}

func (g *gpu) EventDestroy(e Event) error { return g.do(cuEventDestroy, uintptr(e)) }

func (g *gpu) EventRecord(e Event, s Stream) error {
	return g.do(cuEventRecord, uintptr(e), uintptr(s))
}

func (g *gpu) EventRecordExternal(e Event, s Stream) error {
	const external = 1
	return g.do(cuEventRecordWithFlags, uintptr(e), uintptr(s), external)
}

func (g *gpu) EventSynchronize(e Event) error { return g.do(cuEventSynchronize, uintptr(e)) }

func (g *gpu) EventQuery(e Event) (bool, error) { return ready(g.do(cuEventQuery, uintptr(e))) }

func (g *gpu) EventElapsed(start, end Event) (time.Duration, error) {
	var ms float32
	if err := g.doPointers(cuEventElapsedTime, uintptr(unsafe.Pointer(&ms)), uintptr(start), uintptr(end)); err != nil {
		return 0, err
	}
	return milliseconds(ms), nil
}
