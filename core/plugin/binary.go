package plugin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds of a module's parts. wazero allocates what a module says that it has before it is read, and leaves the size of tables to it.
const (
	maxTables  = 16
	maxEntries = 1 << 16 // of a table
	maxItems   = 1 << 17 // of a section
	maxValues  = 1000    // arguments, and results, of a function
	maxBody    = 1 << 20 // bytes of a function
	maxLocals  = 1 << 20 // of all functions
)

var errNotModule = errors.New("it is no WebAssembly module")

// cursor reads a module, or a part of one. What is not there, or is of a form that is not known, ends by a panic, for [bounded].
type cursor struct {
	rest   []byte
	locals uint64
}

// fail ends the reading of a module.
func fail(format string, args ...any) { panic(fmt.Errorf(format, args...)) }

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		panic(errNotModule)
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) byte() byte { return c.take(1)[0] }

// number reads an unsigned number of 32 bits.
func (c *cursor) number() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || n > 5 || v > 1<<32-1 {
		panic(errNotModule)
	}
	c.rest = c.rest[n:]
	return v
}

// signed skips a signed number.
func (c *cursor) signed() {
	for c.byte()&0x80 != 0 {
		continue
	}
}

func (c *cursor) text() { c.take(c.number()) }

// list calls f for each of as many items as are there, of which there may be most.
func (c *cursor) list(what string, most uint64, f func()) {
	n := c.number()
	if n > most {
		fail("it has %d %s, more than %d", n, what, most)
	}
	if n > uint64(len(c.rest)) {
		panic(errNotModule)
	}
	for range n {
		f()
	}
}

// bounded returns a module as it may be compiled: without what it says of itself for people, with all that it has within bounds, and
// with a bound for every table, which keeps to it.
func bounded(module []byte) (out []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			var ok bool
			if err, ok = v.(error); !ok {
				panic(v)
			}
			out = nil
		}
	}()
	if len(module) < 8 || !bytes.Equal(module[:8], []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errNotModule
	}
	out = bytes.Clone(module[:8])
	c := &cursor{rest: module[8:]}
	for len(c.rest) > 0 {
		id := c.byte()
		body := c.take(c.number())
		if id == 0 {
			continue
		}
		part := &cursor{rest: body}
		if id == 4 {
			body = part.tables()
		} else {
			part.section(id)
		}
		if c.locals += part.locals; c.locals > maxLocals {
			fail("its functions have %d variables, more than %d", c.locals, maxLocals)
		}
		if len(part.rest) > 0 {
			return nil, errNotModule
		}
		out = append(binary.AppendUvarint(append(out, id), uint64(len(body))), body...)
	}
	return out, nil
}

// section reads a section; the numbers are those of the binary format of WebAssembly 2.0.
func (c *cursor) section(id byte) {
	switch id {
	case 1:
		c.list("types", maxItems, c.functionType)
	case 2:
		c.list("imports", maxItems, c.imported)
	case 3:
		c.list("functions", maxItems, func() { c.number() })
	case 5:
		c.list("memories", 1, c.limits)
	case 6:
		c.list("globals", maxItems, func() { c.take(2); c.constant() })
	case 7:
		c.list("exports", maxItems, func() { c.text(); c.byte(); c.number() })
	case 8, 12:
		c.number()
	case 9:
		c.list("element segments", maxItems, c.elements)
	case 10:
		c.list("functions", maxItems, c.function)
	case 11:
		c.list("data segments", maxItems, c.data)
	default:
		fail("it has a section of kind %d, which is not of WebAssembly 2.0", id)
	}
}

func (c *cursor) functionType() {
	if c.byte() != 0x60 {
		fail("it has a type that is not of WebAssembly 2.0")
	}
	for range 2 {
		c.list("arguments or results of a function", maxValues, func() { c.byte() })
	}
}

func (c *cursor) imported() {
	c.text()
	c.text()
	switch c.byte() {
	case 0:
		c.number()
	case 2:
		fail("it imports a memory: a plugin has its own, and exports it")
	default:
		fail("it imports a table or a global, of which there are none for plugins")
	}
}

// limits reads the least and the largest size of a memory.
func (c *cursor) limits() {
	switch c.byte() {
	case 0:
		c.number()
	case 1:
		c.number()
		c.number()
	default:
		fail("it has a memory of a form that is not of WebAssembly 2.0")
	}
}

// tables reads the section of tables, and returns it with a bound for each.
func (c *cursor) tables() (out []byte) {
	count := 0
	c.list("tables", maxTables, func() {
		kind, flags := c.byte(), c.byte()
		if kind != 0x70 && kind != 0x6f || flags > 1 {
			fail("it has a table of a form that is not of WebAssembly 2.0")
		}
		least, most := c.number(), uint64(maxEntries)
		if flags == 1 {
			most = c.number()
		}
		if least > maxEntries {
			fail("it has a table of %d entries, more than %d", least, maxEntries)
		}
		out = binary.AppendUvarint(append(out, kind, 1), least)
		out = binary.AppendUvarint(out, min(most, maxEntries))
		count++
	})
	return append(binary.AppendUvarint(nil, uint64(count)), out...)
}

// constant reads an expression that is known before the module runs.
func (c *cursor) constant() {
	for {
		switch op := c.byte(); op {
		case 0x0b: // end
			return
		case 0x41, 0x42:
			c.signed()
		case 0x43:
			c.take(4)
		case 0x44:
			c.take(8)
		case 0x23, 0xd2: // of a global, of a function
			c.number()
		case 0xd0:
			c.byte()
		case 0xfd:
			if c.number() != 12 {
				fail("it has a constant of a form that is not of WebAssembly 2.0")
			}
			c.take(16)
		default:
			fail("it has a constant of a form that is not of WebAssembly 2.0")
		}
	}
}

// elements reads what a table begins with.
func (c *cursor) elements() {
	form := c.number()
	if form > 7 {
		fail("it has elements of a form that is not of WebAssembly 2.0")
	}
	if form&1 == 0 { // put into a table
		if form&2 != 0 {
			c.number()
		}
		c.constant()
	}
	if form&3 != 0 {
		c.byte() // their kind
	}
	c.list("elements", maxEntries, func() {
		if form&4 != 0 {
			c.constant()
		} else {
			c.number()
		}
	})
}

// function reads the variables of a function, and skips its code, all of whose parts wazero reads before it believes in them.
func (c *cursor) function() {
	size := c.number()
	if size > maxBody {
		fail("it has a function of %d bytes, more than %d", size, maxBody)
	}
	body := &cursor{rest: c.take(size)}
	body.list("kinds of variables of a function", maxItems, func() {
		c.locals += body.number()
		body.byte()
	})
}

// data reads what the memory begins with.
func (c *cursor) data() {
	switch c.number() {
	case 0:
		c.constant()
	case 1:
	case 2:
		c.number()
		c.constant()
	default:
		fail("it has data of a form that is not of WebAssembly 2.0")
	}
	c.text()
}
