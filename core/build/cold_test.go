package build

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// cachedDevice has memory of its own and a cache before it. Each launch is told from which copy of its constants it reads.
type cachedDevice struct {
	run.Backend
	cache int
	room  int // bytes that can be allocated
	lost  error
	next  uint64
	held  map[uint64][]byte // what is allocated
	peak  int

	clock   time.Duration
	launch  time.Duration // what a launch takes
	marks   int
	cleared []int    // the number of launches before each Clear
	read    []uint64 // the constants of each launch
}

func (d *cachedDevice) used() (n int) {
	for _, m := range d.held {
		n += len(m)
	}
	return n
}

func (d *cachedDevice) Alloc(n int) (kernels.Mem, error) {
	if d.lost != nil {
		return kernels.Mem{}, d.lost
	}
	if d.used()+n > d.room {
		return kernels.Mem{}, errors.New("out of memory")
	}
	d.next += 1 << 40
	d.held[d.next] = make([]byte, n)
	d.peak = max(d.peak, d.used())
	return kernels.Mem{Addr: d.next}, nil
}

func (d *cachedDevice) Free(m kernels.Mem)   { delete(d.held, m.Addr) }
func (d *cachedDevice) Lost(err error) bool  { return d.lost != nil && errors.Is(err, d.lost) }
func (d *cachedDevice) Recover() error       { return nil }
func (d *cachedDevice) CacheBytes() int      { return d.cache }
func (d *cachedDevice) Record() kernels.Mark { d.marks++; return d.clock }
func (d *cachedDevice) Wait() error          { return nil }
func (d *cachedDevice) Close() error         { return nil }

func (d *cachedDevice) Slice(m kernels.Mem, offset, _ int) kernels.Mem {
	return kernels.Mem{Addr: m.Addr + uint64(offset)}
}

func (d *cachedDevice) Elapsed(a, b kernels.Mark) time.Duration {
	return b.(time.Duration) - a.(time.Duration)
}

// at returns n bytes from an address on.
func (d *cachedDevice) at(m kernels.Mem, n int) []byte {
	offset := int(m.Addr & (1<<40 - 1))
	return d.held[m.Addr-uint64(offset)][offset : offset+n]
}

func (d *cachedDevice) Copy(dst, src kernels.Mem, n int) error {
	copy(d.at(dst, n), d.at(src, n))
	return nil
}

func (d *cachedDevice) Clear(m kernels.Mem, n int) error {
	clear(d.at(m, n))
	d.cleared = append(d.cleared, len(d.read))
	d.clock += time.Millisecond
	return nil
}

// constant is a kernel that reads constants.
type constant struct {
	device *cachedDevice
	data   []byte
	place  kernels.Mem
}

func (k *constant) Constants() []byte   { return k.data }
func (k *constant) Place(m kernels.Mem) { k.place = m }
func (k *constant) Launch(kernels.Stream, []kernels.Mem, []kernels.Mem, kernels.Mem) error {
	d := k.device
	if !bytes.Equal(d.at(k.place, len(k.data)), k.data) {
		return errors.New("the constants are not those of the kernel")
	}
	d.read = append(d.read, k.place.Addr)
	d.clock += d.launch
	return nil
}

// clocked times a kernel with so many bytes of constants on the device.
func (d *cachedDevice) clocked(t *testing.T, constants int) (time.Duration, error) {
	t.Helper()
	d.held = map[uint64][]byte{}
	k := &constant{device: d, data: bytes.Repeat([]byte{7}, constants)}
	u := &tuner{ctx: t.Context(), backend: d, stream: d}
	room := d.room
	d.room = 1 << 40
	own, err := d.Alloc(constants)
	if err != nil {
		t.Fatal(err)
	}
	d.room = room + constants
	copy(d.at(own, constants), k.data)
	k.Place(own)
	launch := func() error { return k.Launch(d, nil, nil, kernels.Mem{}) }
	if room == 0 {
		d.lost = errors.New("lost")
	}
	took, _, err := u.clock(launch, u.cold(k, own))
	u.close()
	if d.Free(own); len(d.held) > 0 {
		t.Errorf("%d allocations are left", len(d.held))
	}
	return took, err
}

// TestConstantsAreCold: the launches of a timed round read one copy of the constants after the other, so that twice the cache
// has passed, or the cache was emptied, before one is read again; the launch before a round, which is not timed, reads none of
// them. The copies take no more than twice the cache and one of them, and where there is no memory there are fewer.
func TestConstantsAreCold(t *testing.T) {
	const cache, much = 1 << 20, 1 << 30
	for _, c := range []struct {
		name            string
		constants, room int
		copies          int // in a round of 100 launches
		empties         bool
	}{
		{"small", 1000, much, 100, true},
		{"a tenth of the cache", cache / 10, much, 22, true},
		{"as large as the cache", cache, much, 3, true},
		{"twice the cache", 2 * cache, much, 0, true},
		{"larger", 3 * cache, much, 0, true},
		{"no room to empty the cache", cache / 10, 3 * cache / 2, 11, false},
		{"no room for copies", cache, cache / 2, 0, false},
	} {
		d := &cachedDevice{cache: cache, room: c.room, launch: time.Microsecond}
		took, err := d.clocked(t, c.constants)
		if err != nil || took != d.launch {
			t.Errorf("%s: %v, %v, want %v", c.name, took, err, d.launch)
		}
		if most := c.constants + 2*(passing*cache+c.constants) + 1<<20; d.peak > most {
			t.Errorf("%s: %d bytes were allocated at a time, want %d at most", c.name, d.peak, most)
		}
		if (len(d.cleared) == rounds) != c.empties {
			t.Errorf("%s: the cache was emptied %d times in %d rounds", c.name, len(d.cleared), rounds)
		}
		n := int(roundTime / d.launch)
		timed := d.read[len(d.read)-n:]
		last := map[uint64]int{}
		for i, at := range timed {
			if before, again := last[at]; again && c.copies > 0 && i-before != c.copies {
				t.Fatalf("%s: launches %d and %d read one copy, of %d", c.name, before, i, c.copies)
			}
			last[at] = i
		}
		if len(last) != max(1, c.copies) {
			t.Errorf("%s: %d copies, want %d", c.name, len(last), c.copies)
		}
		own := d.read[0]
		if _, ok := last[own]; ok != (c.copies == 0) {
			t.Errorf("%s: the constants themselves are among the copies: %v", c.name, ok)
		}
		for _, at := range d.cleared {
			if d.read[at] != own {
				t.Errorf("%s: the launch after the cache was emptied reads a copy", c.name)
			}
		}
	}
}

// TestNothingToKeepCold: a kernel without constants, or a device that tells of no cache, is timed as it is; a device that is lost
// while copies are made is an error.
func TestNothingToKeepCold(t *testing.T) {
	for _, d := range []*cachedDevice{{cache: 1 << 20, room: 1 << 30}, {room: 1 << 30}} {
		d.launch = time.Microsecond
		constants := 0
		if d.cache == 0 {
			constants = 100
		}
		if _, err := d.clocked(t, constants); err != nil || len(d.cleared) > 0 || d.next > 1<<40 {
			t.Errorf("a cache of %d bytes, %d bytes of constants: %v, emptied %d times", d.cache, constants, err, len(d.cleared))
		}
	}
	d := &cachedDevice{cache: 1 << 20, launch: time.Microsecond}
	if _, err := d.clocked(t, 100); d.lost == nil || !errors.Is(err, d.lost) {
		t.Errorf("%v of a lost device", err)
	}
}
