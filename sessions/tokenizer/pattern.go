package tokenizer

import (
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// patience is how long a regular expression of a file's may take to find one match.
const patience = 2 * time.Second

// pattern is a text or a regular expression with lookahead, as the published ones have.
type pattern struct {
	text string
	expr *regexp2.Regexp
}

func compile(expr string) (*pattern, error) {
	re, err := regexp2.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", expr, err)
	}
	re.MatchTimeout = patience
	return &pattern{expr: re}, nil
}

func mustCompile(expr string) *pattern {
	p, err := compile(expr)
	if err != nil {
		panic("tokenizer: " + err.Error())
	}
	return p
}

// find returns where the matches begin and end.
func (p *pattern) find(text string) ([][]int, error) {
	if p.expr != nil {
		found, err := p.expr.FindAllStringIndex(text, -1)
		if err != nil {
			return nil, fmt.Errorf("regular expression %q: %w", p.expr, err)
		}
		return found, nil
	}
	var found [][]int
	for from := 0; p.text != ""; {
		k := strings.Index(text[from:], p.text)
		if k < 0 {
			break
		}
		found = append(found, []int{from + k, from + k + len(p.text)})
		from += k + len(p.text)
	}
	return found, nil
}

// replace writes content, as it is, where the pattern matches.
func (p *pattern) replace(text, content string) (string, error) {
	found, err := p.find(text)
	if err != nil || len(found) == 0 {
		return text, err
	}
	var b strings.Builder
	from := 0
	for _, at := range found {
		b.WriteString(text[from:at[0]])
		b.WriteString(content)
		from = at[1]
	}
	b.WriteString(text[from:])
	return b.String(), nil
}
