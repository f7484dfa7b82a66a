package rules

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// parser reads a file line by line.
type parser struct {
	file    string
	tokens  []token // of the line
	next    int
	line    int
	nesting int
	doc     string // behind the first line of a rule
	layers  int    // of the section
}

// Parse reads the rules of a file, whose name errors and the pass have; ops are those that rules may be about. The error is an
// [*Error].
func Parse(file string, text []byte, ops graph.OpSet) (f *File, err error) {
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(*Error)
			if !ok {
				panic(v)
			}
			f, err = nil, e
		}
	}()
	p := &parser{file: file}
	if len(text) > MaxBytes {
		p.fail(Position{1, 1}, "more than %d KiB", MaxBytes>>10)
	}
	f = &File{Name: passName(file)}
	section := ""
	for i, line := range strings.Split(string(text), "\n") {
		line, p.doc = cutDoc(line)
		p.begin(i+1, line)
		if !p.is('e') {
			section = p.statement(f, section)
		}
	}
	if len(f.Rules) == 0 {
		p.fail(Position{1, 1}, "there is no rule in it; one begins with a line as rule NAME: what it is")
	}
	(&checker{parser: p, ops: ops}).file(f)
	return f, nil
}

// passName makes of a file's name that of its pass.
func passName(file string) string {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	return "rules-" + clean[:min(len(clean), MaxName)]
}

func (p *parser) fail(at Position, format string, args ...any) {
	panic(&Error{p.file, at, fmt.Sprintf(format, args...)})
}

func (p *parser) begin(line int, text string) {
	p.line, p.next = line, 0
	tokens, column, err := lex(text)
	if err != nil {
		p.fail(Position{line, column}, "%v", err)
	}
	p.tokens = tokens
}

func (p *parser) peek() token       { return p.tokens[p.next] }
func (p *parser) at() Position      { return Position{p.line, p.peek().column} }
func (p *parser) is(kind byte) bool { return p.peek().kind == kind }
func (p *parser) sign(s string) bool {
	return p.is('s') && p.peek().text == s
}

func (p *parser) take() token {
	t := p.peek()
	if t.kind != 'e' {
		p.next++
	}
	return t
}

// skip takes a sign where it is the next one.
func (p *parser) skip(s string) bool {
	if p.sign(s) {
		p.next++
		return true
	}
	return false
}

// found is the next token as an error names it.
func (p *parser) found() string {
	if p.is('e') {
		return "the end of the line"
	}
	return fmt.Sprintf("%q", clip(p.peek().text))
}

func (p *parser) want(s string) {
	if !p.skip(s) {
		p.fail(p.at(), "want %q, not %s", s, p.found())
	}
}

func (p *parser) word(what string) string {
	if !p.is('a') {
		p.fail(p.at(), "want %s, not %s", what, p.found())
	}
	return p.take().text
}

func (p *parser) end() {
	if !p.is('e') {
		p.fail(p.at(), "%s is one thing too many", p.found())
	}
}

// statement reads a line, and returns the section that the next one is in.
func (p *parser) statement(f *File, section string) string {
	t := p.peek()
	single := len(p.tokens) == 2
	switch {
	case t.kind == 'a' && t.text == "before" && len(p.tokens) > 2 && p.tokens[1].kind == 'a' && len(f.Rules) == 0:
		p.next++
		f.Before = p.dashed()
		p.end()
		return ""
	case t.kind == 'a' && t.text == "rule" && len(p.tokens) > 2 && p.tokens[1].kind == 'a':
		p.rule(f)
		return "rule"
	case section == "":
		p.fail(p.at(), "want a line as rule NAME: what it is, not %s", p.found())
	case t.kind == 'a' && single && (t.text == "match" || t.text == "where" || t.text == "replace"):
		p.layers = 0
		return p.section(f.Rules[len(f.Rules)-1], section, t.text)
	}
	r := f.Rules[len(f.Rules)-1]
	switch section {
	case "rule":
		p.fail(p.at(), "want the line match, not %s", p.found())
	case "match":
		r.Match = append(r.Match, p.assignment(len(r.Match)))
	case "where":
		if len(r.Where) == MaxStatements {
			p.fail(p.at(), "more than %d conditions", MaxStatements)
		}
		r.Where = append(r.Where, p.condition())
	case "replace":
		r.Replace = append(r.Replace, p.assignment(len(r.Replace)))
	}
	p.end()
	return section
}

// section checks that sections come in their order.
func (p *parser) section(r *Rule, from, to string) string {
	order := map[string]int{"rule": 0, "match": 1, "where": 2, "replace": 3}
	if order[to] <= order[from] || to != "match" && len(r.Match) == 0 {
		p.fail(p.at(), "a rule has match, where and replace, in this order")
	}
	p.next++
	return to
}

// dashed reads a name of words with dashes.
func (p *parser) dashed() string {
	name := p.word("a name")
	for p.sign("-") && !p.peek().space {
		p.next++
		if t := p.peek(); t.space || t.kind != 'a' && t.kind != '0' {
			p.fail(p.at(), "want the rest of a name, not %s", p.found())
		}
		name += "-" + p.take().text
	}
	return name
}

// rule reads the first line of a rule.
func (p *parser) rule(f *File) {
	if len(f.Rules) == MaxRules {
		p.fail(p.at(), "more than %d rules", MaxRules)
	}
	p.next++
	r := &Rule{Line: p.line, Name: p.dashed()}
	f.Rules = append(f.Rules, r)
	r.Doc = p.doc
	p.end()
}

// cutDoc takes from the first line of a rule what is behind its colon, which may be anything.
func cutDoc(line string) (rest, doc string) {
	if rest, doc, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(strings.TrimSpace(rest), "rule ") {
		return rest, strings.Join(strings.Fields(strings.ToValidUTF8(doc[:min(len(doc), 4*MaxName)], "?")), " ")
	}
	return line, ""
}

// assignment reads a, b = term.
func (p *parser) assignment(before int) Statement {
	if before == MaxStatements {
		p.fail(p.at(), "more than %d lines", MaxStatements)
	}
	s := Statement{At: p.at()}
	for {
		s.Names = append(s.Names, p.word("the name of a tensor"))
		if len(s.Names) > MaxList {
			p.fail(s.At, "more than %d outputs", MaxList)
		}
		if !p.skip(",") {
			break
		}
	}
	p.want("=")
	s.Value = p.term()
	return s
}
