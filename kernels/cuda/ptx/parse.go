package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of what Parse takes, so that no text makes it use much more memory than its own length.
const (
	maxText      = 64 << 20 // bytes of a module
	maxRegisters = 1 << 16  // of a module
	maxVarBytes  = 1 << 32  // of one variable
)

// SyntaxError is a fault of a text that Parse met.
type SyntaxError struct {
	Line int
	Err  error
}

// Error names the line.
func (e *SyntaxError) Error() string { return fmt.Sprintf("ptx line %d: %v", e.Line, e.Err) }

// Unwrap is the fault without the line.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Parse reads a module: entry functions, variables, and instructions that the table has. Debugging directives are passed
// over. Device functions, textures and calls are not supported. Registers, variables and labels of nested blocks get names
// that are unique in their kernel. An error is a *SyntaxError.
func Parse(src string) (*Module, error) {
	if len(src) > maxText {
		return nil, &SyntaxError{1, fmt.Errorf("the text has %d bytes and at most %d are read", len(src), maxText)}
	}
	p := &parser{lex: lexer{src: src, line: 1}, m: &Module{}, vars: map[string]bool{}}
	p.advance()
	p.module()
	if p.m.Version == 0 || p.m.Target.SM == 0 {
		p.fail("a module says its .version and its .target")
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.m, nil
}

// parser reads a module by recursive descent, one token ahead. At the first fault it goes to the end of the text, where all
// loops end.
type parser struct {
	lex  lexer
	tok  token
	err  error
	m    *Module
	vars map[string]bool // names of the module's variables and kernels
	regs int             // declared so far

	// Of the kernel being read.
	k     *Kernel
	scope *scope
	names map[string]int // of registers, variables and labels, unique in the kernel; how often one was asked for again
	jumps []jump
}

// scope is a block and what it declares: the names in the text, and the unique ones for variables and labels.
type scope struct {
	outer  *scope
	regs   map[string]Reg
	vars   map[string]string
	labels map[string]string
}

// jump is a use of a label, which may be declared later.
type jump struct {
	inst, arg int
	line      int
	scope     *scope
}

func (p *parser) advance() {
	if p.err == nil {
		p.tok = p.lex.next()
	}
}

// fail notes the first fault.
func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &SyntaxError{p.tok.line, fmt.Errorf(format, args...)}
		p.lex.at = len(p.lex.src)
		p.tok = token{line: p.tok.line}
	}
}

func (p *parser) done() bool { return p.tok.kind == eof }

// is reports whether the token is the text.
func (p *parser) is(text string) bool { return p.tok.text == text && p.tok.kind != eof }

// accept passes over the token if it is the text.
func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail("%q is wanted, not %q", text, p.tok.text)
	}
}

// identifier reads a name: a register's where percent is set, another otherwise.
func (p *parser) identifier() string {
	name := p.tok.text
	if p.tok.kind != word || strings.ContainsAny(name, ".:") {
		p.fail("a name is wanted, not %q", name)
		return ""
	}
	p.advance()
	return name
}

// integer reads a constant within bounds.
func (p *parser) integer(low, high int64) int64 {
	o, ok := parseNumber(p.tok.text)
	if p.tok.kind != number || !ok || o.Float != 0 || o.Imm < low || o.Imm > high {
		p.fail("a number between %d and %d is wanted, not %q", low, high, p.tok.text)
		return low
	}
	p.advance()
	return o.Imm
}

// module reads the directives of the module's level.
func (p *parser) module() {
	for !p.done() {
		switch p.tok.text {
		case ".version":
			p.version()
		case ".target":
			p.target()
		case ".address_size":
			p.advance()
			if p.integer(32, 64) != 64 {
				p.fail("only 64-bit addresses are supported")
			}
		case ".loc", ".file":
			p.skipLine()
		case ".pragma":
			p.skipTo(";")
		case ".section":
			p.skipSection()
		case ".func":
			p.function()
		case ".entry":
			p.entry()
		case ".visible", ".weak", ".common", ".extern":
			extern := p.accept(".extern")
			if !extern {
				p.advance()
			}
			if !p.is(".entry") && !p.is(".func") {
				p.moduleVar(extern)
			}
		case ";":
			p.advance()
		default:
			p.moduleVar(false)
		}
	}
}

func (p *parser) version() {
	p.advance()
	major, minor, ok := strings.Cut(p.tok.text, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if !ok || err1 != nil || err2 != nil || a < 1 || a > 99 || b < 0 || b > 9 {
		p.fail("a version is wanted, not %q", p.tok.text)
		return
	}
	p.m.Version = Version(10*a + b)
	p.advance()
}

// target reads ".target sm_80, debug"; what follows the architecture is passed over.
func (p *parser) target() {
	p.advance()
	t, err := ParseTarget(p.identifier())
	if err != nil {
		p.fail("%w", err)
	}
	p.m.Target = t
	for p.accept(",") {
		p.identifier()
	}
}

// ParseTarget reads a target's name, as in "sm_80" or "sm_90a".
func ParseTarget(name string) (Target, error) {
	digits, ok := strings.CutPrefix(name, "sm_")
	digits, arch := strings.CutSuffix(digits, "a")
	sm, err := strconv.Atoi(digits)
	if !ok || err != nil || sm < 10 || sm > 999 {
		return Target{}, fmt.Errorf("%q is no target: it is written like sm_80 or sm_90a", name)
	}
	return Target{SM: sm, Arch: arch}, nil
}

func (p *parser) skipLine() {
	for line := p.tok.line; !p.done() && p.tok.line == line; {
		p.advance()
	}
}

func (p *parser) skipTo(end string) {
	for !p.done() && !p.is(end) {
		p.advance()
	}
	p.expect(end)
}

// skipSection passes over a section of debugging data.
func (p *parser) skipSection() {
	for !p.done() && !p.is("{") {
		p.advance()
	}
	p.skipTo("}")
}

// function passes over the declaration of a device function; a definition is an error.
func (p *parser) function() {
	for !p.done() && !p.is(";") {
		if p.is("{") {
			p.fail("device functions are not supported: inline them")
		}
		p.advance()
	}
	p.expect(";")
}

// moduleVar reads a variable of the module.
func (p *parser) moduleVar(extern bool) {
	v := p.variable()
	v.Extern = extern && v.Space == Shared
	if p.err == nil && v.Space != Global && v.Space != Const && v.Space != Shared {
		p.fail("a module has no %s variables", v.Space)
	}
	if p.vars[v.Name] {
		p.fail("%s is declared twice", v.Name)
	}
	p.vars[v.Name] = true
	p.m.Vars = append(p.m.Vars, v)
	p.expect(";")
}
