package ptx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What a text may ask for: far above what kernels have, low enough for any machine.
const (
	maxText     = 64 << 20 // bytes of text
	maxScopes   = 64       // scopes within each other
	maxVarBytes = 1 << 30  // bytes of a variable
	maxOperands = 256      // operands of an instruction, and elements of a vector
)

// Parse reads a module from its text: entry functions, variables and directives as compilers write them, for 64-bit
// addresses. Every instruction must match a form of the table in its modifiers and the kinds of its operands; Check looks
// at their types. Scopes are flattened: a register, variable or label whose name is taken gets a new one. Registers that
// no instruction names are left out. Debug information is skipped. The first error is reported, with its line.
//
// Functions and calls, textures, vector registers and addresses in initialisers are not read.
func Parse(text string) (*Module, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("ptx: %d bytes of text, at most %d are read", len(text), maxText)
	}
	p := &parser{lexer: lexer{text: text, line: 1}, module: &Module{}, symbols: map[string]bool{}}
	p.next()
	for p.token.kind != tokenEnd {
		p.topLevel()
	}
	if p.err == nil && p.module.Version == 0 {
		p.err = errors.New("ptx: no .version directive")
	}
	if p.err == nil && p.module.Target.SM == 0 {
		p.err = errors.New("ptx: no .target directive")
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.module, nil
}

// parser reads a module. After the first error it sees the end of the text, so that every loop ends.
type parser struct {
	lexer   lexer
	token   token // the one to be read next
	module  *Module
	symbols map[string]bool // kernels and variables of the module
	err     error
}

// next passes a token.
func (p *parser) next() token {
	t := p.token
	if p.err != nil {
		p.token = token{line: t.line}
		return t
	}
	p.token = p.lexer.next()
	return t
}

// fail records an error at a line, unless there is one.
func (p *parser) fail(line int, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("ptx: line %d: %w", line, fmt.Errorf(format, args...))
	}
	p.token = token{line: p.token.line}
}

// accept passes a punctuation mark or directive if it is next.
func (p *parser) accept(s string) bool {
	if !p.token.is(s) {
		return false
	}
	p.next()
	return true
}

// expect passes a punctuation mark that must be next.
func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.fail(p.token.line, "%q expected, found %s", s, p.token)
	}
}

// name passes an identifier.
func (p *parser) name(what string) string {
	t := p.token
	if t.kind != tokenWord || t.text == "_" || strings.ContainsAny(t.text, ".:") {
		p.fail(t.line, "name of a %s expected, found %s", what, t)
		return ""
	}
	p.next()
	return t.text
}

// count passes a number from low to high.
func (p *parser) count(what string, low, high int) int {
	t := p.token
	if t.kind == tokenNumber {
		if n, float, err := parseNumber(t.text); err == nil && float == 0 && int64(low) <= n && n <= int64(high) {
			p.next()
			return int(n)
		}
	}
	p.fail(t.line, "%s: a number from %d to %d expected, found %s", what, low, high, t)
	return low
}

// topLevel reads a directive of the module.
func (p *parser) topLevel() {
	t := p.next()
	if p.skipped(t) {
		return
	}
	if t.kind != tokenDirective {
		p.fail(t.line, "directive expected, found %s", t)
		return
	}
	switch t.text {
	case ".version":
		p.version()
	case ".target":
		p.target()
	case ".address_size":
		if n := p.token; n.text != "64" {
			p.fail(n.line, ".address_size %s: only 64-bit addresses are supported", n)
		}
		p.next()
	case ".visible", ".weak", ".common":
		if p.token.kind != tokenDirective {
			p.fail(p.token.line, "directive expected after %s, found %s", t.text, p.token)
		}
	case ".extern":
		p.moduleVar(p.next(), true)
	case ".global", ".const", ".shared":
		p.moduleVar(t, false)
	case ".entry":
		p.kernel()
	case ".func":
		p.fail(t.line, "functions are not supported: inline what the kernels call")
	default:
		p.fail(t.line, "unknown directive %s", t)
	}
}

// skipped passes a directive that says nothing about what the kernels compute, if t begins one.
func (p *parser) skipped(t token) bool {
	switch {
	case t.is(".file") || t.is(".loc") || t.is("@") && p.token.is("@"):
		for p.token.kind != tokenEnd && p.token.line == t.line {
			p.next()
		}
	case t.is(".pragma"):
		p.pragmas()
	case t.is(".section"):
		for p.token.kind != tokenEnd && !p.token.is("{") {
			p.next()
		}
		for p.token.kind != tokenEnd && !p.token.is("}") {
			p.next()
		}
		p.expect("}")
	default:
		return false
	}
	return true
}

// pragmas reads what follows .pragma, and reports whether one of them is noUnroll.
func (p *parser) pragmas() (rolled bool) {
	for p.token.kind == tokenString || p.token.is(",") {
		rolled = p.next().text == noUnroll || rolled
	}
	p.expect(";")
	return rolled
}

// version reads what follows .version.
func (p *parser) version() {
	t := p.next()
	major, minor, ok := strings.Cut(t.text, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if t.kind != tokenNumber || !ok || err1 != nil || err2 != nil || a > 99 || b > 9 || a < 1 {
		p.fail(t.line, ".version %s: a number such as 7.0 expected", t)
		return
	}
	p.module.Version = Version(10*a + b)
}

// target reads what follows .target: the first name counts.
func (p *parser) target() {
	t := p.next()
	digits, ok := strings.CutPrefix(t.text, "sm_")
	digits, arch := strings.CutSuffix(digits, "a")
	sm, err := strconv.Atoi(digits)
	if !ok || err != nil || sm < 10 || sm > 999 {
		p.fail(t.line, ".target %s: a target such as sm_80 or sm_90a expected", t)
		return
	}
	p.module.Target = Target{SM: sm, Arch: arch}
	for p.accept(",") {
		p.name("target option")
	}
}

// declare makes a name known to the module.
func (p *parser) declare(line int, name string) {
	if p.symbols[name] {
		p.fail(line, "%s is declared twice", name)
	}
	p.symbols[name] = true
}

// moduleVar reads a variable of the module after the directive of its space.
func (p *parser) moduleVar(t token, extern bool) {
	space := Space(strings.TrimPrefix(t.text, "."))
	if extern && !t.is(".shared") {
		p.fail(t.line, ".extern %s: only shared memory may be external", t)
		return
	}
	for _, v := range p.variables(space, extern) {
		p.declare(t.line, v.Name)
		p.module.Vars = append(p.module.Vars, v)
	}
}
