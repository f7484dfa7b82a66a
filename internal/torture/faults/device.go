package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// errFault is what every call that fails says; errLost says of a device that it is lost as well.
var (
	errFault = errors.New("injected fault")
	errLost  = errors.New("the device is lost")
)

// The calls that may fail.
const (
	alloc    = "alloc"
	bind     = "bind"
	launch   = "launch"
	open     = "stream"
	upload   = "upload"
	download = "download"
	wait     = "wait"
	all      = "all"
)

var calls = []string{alloc, bind, launch, open, upload, download, wait, all}

// faulty is a backend of which calls fail.
type faulty interface {
	run.Backend
	failures() int             // calls that failed so far
	mend()                     // nothing fails from now on
	left() string              // what was not given back; "" for nothing
	says(text string) bool     // an error's text has what failed in it
	ofKernel(text string) bool // what failed is about one kernel
	loses() bool               // what fails is lost with all that is on it
	panics() bool              // kernels panic
}

// schedule says which calls fail.
type schedule struct {
	Call   string  // the kind of call
	First  int     // the number of the first call of its kind that fails, from 0
	Often  bool    // those behind it fail, too, each with the chance
	Chance float64 // of those behind the first; 1: all
	Panics bool    // kernels panic, in place of an error
	Lost   bool    // the device says that it is lost

	Result driver.Result // of a driver's calls that fail
}

func (s schedule) String() string {
	text := fmt.Sprintf("call %d of %s", s.First, s.Call)
	if s.Often {
		text += fmt.Sprintf(" and %g of those behind it", s.Chance)
	}
	if s.Panics {
		text += ", kernels panic"
	}
	if s.Lost {
		text += ", the device is lost"
	}
	if s.Result != 0 {
		text += ", with " + s.Result.Name()
	}
	return text
}

// draw returns a random schedule: early calls fail as often as late ones.
func draw(rnd *rand.Rand) schedule {
	s := schedule{Call: calls[rnd.IntN(len(calls))], First: rnd.IntN(1 << rnd.IntN(12)), Panics: rnd.IntN(4) == 0, Lost: rnd.IntN(6) == 0}
	if rnd.IntN(3) > 0 {
		s.Often, s.Chance = true, []float64{1, 0.5, 0.1, 0.01}[rnd.IntN(4)]
	}
	if rnd.IntN(4) == 0 { // what tuning meets most often: a tactic that fails now and then
		s = schedule{Call: []string{bind, alloc, launch}[rnd.IntN(3)], First: rnd.IntN(64), Often: true, Chance: []float64{0.5, 0.1, 0.02}[rnd.IntN(3)]}
	}
	return s
}

// device is a backend that fails as its schedule says, and counts what it has given away.
type device struct {
	run.Backend
	schedule schedule

	mu      sync.Mutex
	rnd     *rand.Rand
	calls   int // of the schedule's kind
	failed  int
	sound   bool // nothing fails
	memory  map[*byte]int
	streams int
	kernels map[string]int // by layer and tactic
}

func newDevice(b run.Backend, s schedule, seed uint64) *device {
	return &device{Backend: b, schedule: s, rnd: rand.New(rand.NewPCG(seed, 41)), memory: map[*byte]int{}, kernels: map[string]int{}}
}

// fault returns the error of a call that fails.
func (d *device) fault(call string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.schedule
	if d.sound || s.Call != all && s.Call != call {
		return nil
	}
	n := d.calls
	d.calls++
	if n < s.First || n > s.First && !(s.Often && d.rnd.Float64() < s.Chance) {
		return nil
	}
	d.failed++
	if s.Lost {
		return fmt.Errorf("%s: %w: %w", call, errFault, errLost)
	}
	return fmt.Errorf("%s: %w", call, errFault)
}

func (d *device) count(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// left says what was not given back; "" for nothing.
func (d *device) left() (text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.memory); n > 0 {
		text += fmt.Sprintf(" %d allocations", n)
	}
	if d.streams != 0 {
		text += fmt.Sprintf(" %d streams", d.streams)
	}
	for name, n := range d.kernels {
		if n != 0 {
			text += fmt.Sprintf(" %d of %s", n, name)
		}
	}
	return text
}

func (d *device) Lost(err error) bool { return errors.Is(err, errLost) }

// Recover lets nothing fail any more.
func (d *device) Recover() error {
	d.mend()
	return nil
}

func (d *device) failures() int { return d.failed }

func (d *device) mend() { d.count(func() { d.sound = true }) }

func (d *device) says(text string) bool { return strings.Contains(text, errFault.Error()) }

func (d *device) ofKernel(text string) bool { return ofFault.MatchString(text) }

// ofFault is an error of a kernel.
var ofFault = regexp.MustCompile("(" + bind + "|" + launch + "): " + errFault.Error())

func (d *device) loses() bool  { return d.schedule.Lost }
func (d *device) panics() bool { return d.schedule.Panics }

func (d *device) Alloc(n int) (kernels.Mem, error) {
	if err := d.fault(alloc); err != nil {
		return kernels.Mem{}, err
	}
	m, err := d.Backend.Alloc(n)
	if err == nil && len(m.Host) > 0 {
		d.count(func() { d.memory[&m.Host[0]] = n })
	}
	return m, err
}

func (d *device) Free(m kernels.Mem) {
	if len(m.Host) > 0 {
		d.count(func() {
			if _, ok := d.memory[&m.Host[0]]; !ok {
				panic("memory is freed that was not allocated, or twice")
			}
			delete(d.memory, &m.Host[0])
		})
	}
	d.Backend.Free(m)
}

func (d *device) Upload(s kernels.Stream, to kernels.Mem, from []byte) error {
	if err := d.fault(upload); err != nil {
		return err
	}
	return d.Backend.Upload(s.(*stream).Stream, to, from)
}

func (d *device) Download(s kernels.Stream, to []byte, from kernels.Mem) error {
	if err := d.fault(download); err != nil {
		return err
	}
	return d.Backend.Download(s.(*stream).Stream, to, from)
}

func (d *device) NewStream() (kernels.Stream, error) {
	if err := d.fault(open); err != nil {
		return nil, err
	}
	s, err := d.Backend.NewStream()
	return d.opened(s, err)
}

func (d *device) NewStreamOf(threads int) (kernels.Stream, error) {
	if err := d.fault(open); err != nil {
		return nil, err
	}
	s, err := d.Backend.(run.Threaded).NewStreamOf(threads)
	return d.opened(s, err)
}

func (d *device) opened(s kernels.Stream, err error) (kernels.Stream, error) {
	if err != nil {
		return nil, err
	}
	d.count(func() { d.streams++ })
	return &stream{s, d}, nil
}

// stream is a stream of the device.
type stream struct {
	kernels.Stream
	of *device
}

func (s *stream) Wait() error {
	if err := s.of.fault(wait); err != nil {
		return err
	}
	return s.Stream.Wait()
}

func (s *stream) Close() error {
	s.of.count(func() { s.of.streams-- })
	return s.Stream.Close()
}

func (s *stream) Strings() *numeric.StringTable { return s.Stream.(kernels.Worded).Strings() }

func (s *stream) Lanes() int { return s.Stream.(kernels.Forker).Lanes() }

func (s *stream) Fork(n int, run func(lane int, s kernels.Stream)) {
	s.Stream.(kernels.Forker).Fork(n, func(lane int, inner kernels.Stream) { run(lane, &stream{inner, s.of}) })
}

func (d *device) Tactics(op *graph.Op) []kernels.Tactic {
	list := append([]kernels.Tactic(nil), d.Backend.Tactics(op)...)
	for i, t := range list {
		list[i].Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			if err := d.fault(bind); err != nil {
				d.panic(err)
				return nil, err
			}
			k, err := t.Bind(b)
			if err != nil {
				return nil, err
			}
			name := b.Layer.Name + " by " + t.Name
			d.count(func() { d.kernels[name]++ })
			return &kernel{k, d, name}, nil
		}
	}
	return list
}

func (d *device) panic(err error) {
	if d.schedule.Panics {
		panic(err)
	}
}

// kernel is a kernel of the device, which is to be closed.
type kernel struct {
	kernels.Kernel
	of   *device
	name string
}

func (k *kernel) Note() string { return kernels.Note(k.Kernel) }

func (k *kernel) Close() error {
	k.of.count(func() { k.of.kernels[k.name]-- })
	return kernels.Close(k.Kernel)
}

func (k *kernel) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	if err := k.of.fault(launch); err != nil {
		k.of.panic(err)
		return err
	}
	return k.Kernel.Launch(s.(*stream).Stream, in, out, workspace)
}
