package ptxsim

import (
	"fmt"
	"sync"
)

// Addresses. Every allocation has 4 GiB of addresses of its own and begins 256 bytes into them, so that an access just
// outside it, an address cut to 32 bits, and a shared address used as a global one all hit nothing. Generic addresses
// of shared and local memory lie in windows above.
const (
	slotShift    = 32
	slotStart    = 256
	firstSlot    = 16
	maxSlots     = 0x7e00
	maxAlloc     = 1<<slotShift - 2*slotStart
	sharedWindow = 0x7f00_0000_0000
	paramWindow  = 0x7f40_0000_0000
	localWindow  = 0x7f80_0000_0000
	windowSize   = 1 << 32
	poison       = 0xff // fresh memory: NaN as a float, -1 as an integer
)

// Memory is the memory of a simulated device. Its methods may be called from several goroutines; whether the host and a
// running kernel touch the same bytes is up to the caller, as on a device.
type Memory struct {
	mu    sync.Mutex
	table []*allocation // by slot; replaced, never changed, by Alloc and Free
	next  int           // the slot to try first
	used  int64
	limit int64

	locks [64]sync.Mutex // of atomics, by address
}

// allocation is one piece of memory. A freed one stays in the table, empty, until its slot is taken again.
type allocation struct {
	base    uint64
	data    []byte
	written []byte // 1 for each byte that holds a value
	freed   bool
	shadow  *globalShadow // who accessed what; nil unless the launch looks for races
}

// NewMemory returns an empty memory of at most limit bytes; 0 means 16 GiB.
func NewMemory(limit int64) *Memory {
	if limit <= 0 {
		limit = 16 << 30
	}
	return &Memory{next: firstSlot, limit: limit, table: make([]*allocation, firstSlot)}
}

// Alloc returns the address of n fresh bytes, aligned to 256 and not more. The same sequence of calls gives the same
// addresses. The bytes are poisoned, and a kernel that reads them before they are written is at fault.
func (m *Memory) Alloc(n int64) (uint64, error) {
	if n <= 0 || n > maxAlloc {
		return 0, fmt.Errorf("allocate %d bytes: an allocation has 1 to %d bytes", n, int64(maxAlloc))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used+n > m.limit {
		return 0, fmt.Errorf("allocate %d bytes: out of memory: %d of %d bytes are in use", n, m.used, m.limit)
	}
	slot := m.freeSlot()
	if slot < 0 {
		return 0, fmt.Errorf("allocate %d bytes: more than %d allocations", n, maxSlots-firstSlot)
	}
	a := &allocation{base: uint64(slot)<<slotShift + slotStart, data: make([]byte, n), written: make([]byte, n)}
	fill(a.data, poison)
	table := append([]*allocation(nil), m.table...)
	for len(table) <= slot {
		table = append(table, nil)
	}
	table[slot] = a
	m.table, m.next, m.used = table, slot+1, m.used+n
	return a.base, nil
}

// freeSlot finds a slot, the ones freed last being taken last.
func (m *Memory) freeSlot() int {
	for i := range maxSlots - firstSlot {
		slot := firstSlot + (m.next-firstSlot+i)%(maxSlots-firstSlot)
		if slot >= len(m.table) || m.table[slot] == nil || m.table[slot].freed {
			return slot
		}
	}
	return -1
}

// Free releases what Alloc returned. Accesses to it are faults from now on.
func (m *Memory) Free(addr uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	slot := addr >> slotShift
	if slot >= uint64(len(m.table)) || m.table[slot] == nil || m.table[slot].base != addr {
		return fmt.Errorf("free %#x: not the address of an allocation", addr)
	}
	a := m.table[slot]
	if a.freed {
		return fmt.Errorf("free %#x: already freed", addr)
	}
	m.used -= int64(len(a.data))
	table := append([]*allocation(nil), m.table...)
	table[slot] = &allocation{base: a.base, freed: true}
	m.table = table
	return nil
}

// Used returns the number of bytes allocated.
func (m *Memory) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Write copies p to device address addr.
func (m *Memory) Write(addr uint64, p []byte) error {
	a, off, err := m.span("write", addr, int64(len(p)))
	if err != nil || len(p) == 0 {
		return err
	}
	copy(a.data[off:], p)
	fill(a.written[off:off+uint64(len(p))], 1)
	return nil
}

// Read copies from device address addr to p. Bytes that were never written read as 0xff.
func (m *Memory) Read(addr uint64, p []byte) error {
	a, off, err := m.span("read", addr, int64(len(p)))
	if err != nil || len(p) == 0 {
		return err
	}
	copy(p, a.data[off:])
	return nil
}

// Fill sets n bytes at addr to v.
func (m *Memory) Fill(addr uint64, v byte, n int64) error {
	a, off, err := m.span("fill", addr, n)
	if err != nil || n == 0 {
		return err
	}
	fill(a.data[off:off+uint64(n)], v)
	fill(a.written[off:off+uint64(n)], 1)
	return nil
}

// Copy copies n bytes from src to dst, both on the device; bytes never written stay so.
func (m *Memory) Copy(dst, src uint64, n int64) error {
	d, do, err := m.span("copy to", dst, n)
	if err != nil || n == 0 {
		return err
	}
	s, so, err := m.span("copy from", src, n)
	if err != nil {
		return err
	}
	copy(d.data[do:do+uint64(n)], s.data[so:])
	copy(d.written[do:do+uint64(n)], s.written[so:])
	return nil
}

// Poison makes n bytes at addr as if freshly allocated: an arena between two uses of it.
func (m *Memory) Poison(addr uint64, n int64) error {
	a, off, err := m.span("poison", addr, n)
	if err != nil || n == 0 {
		return err
	}
	fill(a.data[off:off+uint64(n)], poison)
	fill(a.written[off:off+uint64(n)], 0)
	return nil
}

// Written returns how many of the n bytes at addr hold a value.
func (m *Memory) Written(addr uint64, n int64) (int64, error) {
	a, off, err := m.span("look at", addr, n)
	if err != nil || n == 0 {
		return 0, err
	}
	var count int64
	for _, w := range a.written[off : off+uint64(n)] {
		count += int64(w)
	}
	return count, nil
}

// Range is the addresses from From up to To.
type Range struct{ From, To uint64 }

// Contains returns an error, which says where addr is, unless n bytes there lie within one allocation.
func (m *Memory) Contains(addr uint64, n int64) error {
	_, _, err := m.span("use", addr, n)
	return err
}

func (m *Memory) span(what string, addr uint64, n int64) (*allocation, uint64, error) {
	if n == 0 {
		return nil, 0, nil
	}
	m.mu.Lock()
	table := m.table
	m.mu.Unlock()
	a := find(table, addr)
	if a == nil || n < 0 || addr-a.base > uint64(len(a.data)) || uint64(len(a.data))-(addr-a.base) < uint64(n) {
		return nil, 0, fmt.Errorf("%s %d bytes at %#x: %s", what, n, addr, describe(table, addr))
	}
	return a, addr - a.base, nil
}

// find returns the allocation whose addresses addr belongs to; it may still lie outside it.
func find(table []*allocation, addr uint64) *allocation {
	slot := addr >> slotShift
	if slot >= uint64(len(table)) {
		return nil
	}
	return table[slot]
}

// describe says where addr is, for an access that is not within one allocation.
func describe(table []*allocation, addr uint64) string {
	a := find(table, addr)
	switch {
	case addr>>slotShift == 0:
		return fmt.Sprintf("%#x is in no allocation: it fits 32 bits, as a shared address or a cut one does", addr)
	case addr >= sharedWindow && addr < sharedWindow+windowSize:
		return fmt.Sprintf("%#x is a generic address of shared memory", addr)
	case addr >= localWindow && addr < localWindow+windowSize:
		return fmt.Sprintf("%#x is a generic address of local memory", addr)
	case a == nil:
		return fmt.Sprintf("%#x is in no allocation", addr)
	case a.freed:
		return fmt.Sprintf("%#x is in the freed allocation at %#x", addr, a.base)
	case addr < a.base:
		return fmt.Sprintf("%#x is %d bytes before the allocation at %#x of %d bytes", addr, a.base-addr, a.base, len(a.data))
	case addr >= a.base+uint64(len(a.data)):
		return fmt.Sprintf("%#x is %d bytes past the allocation at %#x of %d bytes", addr, addr-a.base-uint64(len(a.data)), a.base, len(a.data))
	}
	return fmt.Sprintf("%#x is %d bytes before the end of the allocation at %#x of %d bytes", addr, a.base+uint64(len(a.data))-addr, a.base, len(a.data))
}

func fill(p []byte, v byte) {
	if len(p) == 0 {
		return
	}
	p[0] = v
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}
