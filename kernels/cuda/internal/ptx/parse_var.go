package ptx

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"
)

// variables reads one or more variables of a space, after the directive that names it, up to the semicolon.
func (p *parser) variables(space Space, extern bool) []Var {
	v := Var{Space: space, Extern: extern}
	lanes := p.varType(&v)
	var all []Var
	for {
		v.Name = p.name("variable")
		v.Count, v.Init = 0, nil
		open := p.dims(&v, lanes)
		line := p.token.line
		if p.accept("=") {
			p.initialise(&v, open)
		} else if open && !extern {
			p.fail(line, "%s: an array without a size must be external or initialised", v.Name)
		}
		all = append(all, v)
		if p.err != nil || !p.accept(",") {
			break
		}
	}
	p.expect(";")
	return all
}

// varType reads the alignment and the type of a variable and says how many elements a vector of it has.
func (p *parser) varType(v *Var) (lanes int) {
	lanes = 1
	for p.token.kind == tokenDirective {
		t := p.next()
		switch t.text {
		case ".align":
			v.Align = p.count(".align", 1, 1<<20)
			if v.Align&(v.Align-1) != 0 {
				p.fail(t.line, ".align %d: a power of two expected", v.Align)
			}
		case ".attribute":
			p.expect("(")
			for p.token.kind != tokenEnd && !p.token.is(")") {
				p.next()
			}
			p.expect(")")
		case ".v2", ".v4":
			lanes = int(t.text[2] - '0')
		default:
			v.Type = Type(t.text[1:])
			if !v.Type.variable() {
				p.fail(t.line, "no variable can be of type %s", t)
			}
			if lanes > 1 && v.Align == 0 {
				v.Align = lanes * v.Type.Bits() / 8
			}
			return lanes
		}
	}
	p.fail(p.token.line, "type of a variable expected, found %s", p.token)
	return lanes
}

// variable reports whether variables may be of type t.
func (t Type) variable() bool {
	switch t {
	case B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16X2, F32, F64:
		return true
	}
	return false
}

// dims reads the dimensions of an array and reports whether the first is left open.
func (p *parser) dims(v *Var, lanes int) (open bool) {
	line := p.token.line
	if lanes > 1 {
		v.Count = lanes
	}
	most := maxVarBytes / (max(v.Type.Bits(), 8) / 8)
	for first := true; p.accept("["); first = false {
		n := 0
		if first && p.token.is("]") {
			open = true
		} else {
			n = p.count("size of "+v.Name, 0, most)
		}
		p.expect("]")
		if first && n > 0 {
			n *= lanes
		} else if !first {
			n *= v.Count
		}
		if n > most {
			p.fail(line, "%s has more than %d bytes", v.Name, maxVarBytes)
		}
		if v.Count = n; n == 0 && !open {
			p.fail(line, "%s is an array of nothing", v.Name)
		}
	}
	return open
}

// initialise reads the initial value of a variable.
func (p *parser) initialise(v *Var, open bool) {
	line := p.token.line
	if v.Space != Global && v.Space != Const {
		p.fail(line, "%s: a %s variable cannot be initialised", v.Name, v.Space)
		return
	}
	if v.Count == 0 && !open {
		p.initialValue(v)
		return
	}
	p.expect("{")
	n := 0
	for p.err == nil && !p.token.is("}") {
		if n++; !open && n > v.Count {
			p.fail(line, "%s: more than %d initial values", v.Name, v.Count)
			return
		}
		p.initialValue(v)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	if open {
		v.Count = n
	}
}

// initialValue reads an element of an initial value.
func (p *parser) initialValue(v *Var) {
	t := p.next()
	n, float := p.number(t)
	n, err := v.Type.constant(n, float)
	if err != nil {
		p.fail(t.line, "%s: initial value %s: %w", v.Name, t, err)
		return
	}
	var word [16]byte
	binary.LittleEndian.PutUint64(word[:], uint64(n))
	v.Init = append(v.Init, word[:v.Type.Bits()/8]...)
}

// constant is the bits of a constant in a variable of type t.
func (t Type) constant(n int64, float int) (int64, error) {
	switch {
	case t == F32 && float == 64:
		return int64(math.Float32bits(float32(math.Float64frombits(uint64(n))))), nil
	case t == F64 && float == 32:
		return int64(math.Float64bits(float64(math.Float32frombits(uint32(n))))), nil
	case t == F32 && float == 32, t == F64 && float == 64, !t.isFloat() && float == 0:
		return n, nil
	}
	return 0, errors.New("not a constant of type " + string(t))
}

// number reads a constant that begins with t, perhaps a minus sign.
func (p *parser) number(t token) (n int64, float int) {
	minus := t.is("-")
	if minus {
		t = p.next()
	}
	n, float, err := parseNumber(t.text)
	bits := float != 0 && strings.ContainsAny(t.text[:2], "fFdD") // a 0f constant has no sign but its own
	switch {
	case t.kind != tokenNumber || err != nil || minus && bits:
		p.fail(t.line, "number expected, found %s", t)
	case minus && float != 0:
		n ^= 1 << (float - 1)
	case minus:
		n = -n
	}
	return n, float
}

// parseNumber reads an unsigned constant: an integer, or the bits of a float and their number. Decimal floats have 64.
func parseNumber(text string) (n int64, float int, err error) {
	bad := errors.New(clip(text) + " is not a number")
	if len(text) > 2 && text[0] == '0' {
		bits := map[byte]int{'f': 32, 'd': 64}[text[1]|0x20]
		if bits > 0 {
			if len(text) != 2+bits/4 {
				return 0, 0, bad
			}
			u, err := strconv.ParseUint(text[2:], 16, 64)
			if err != nil {
				return 0, 0, bad
			}
			return int64(u), bits, nil
		}
	}
	if strings.Contains(text, "_") {
		return 0, 0, bad
	}
	if u, err := strconv.ParseUint(strings.TrimSuffix(text, "U"), 0, 64); err == nil {
		return int64(u), 0, nil
	}
	if len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x' || len(text) > maxOperands {
		return 0, 0, bad
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return 0, 0, bad
	}
	return int64(math.Float64bits(f)), 64, nil
}
