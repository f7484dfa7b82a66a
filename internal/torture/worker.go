package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
)

// result is what a worker says of one try.
type result struct {
	Findings []Finding      `json:",omitempty"`
	Count    map[string]int `json:",omitempty"` // since the worker began
}

// Serve tries the numbers that it reads, one a line, and answers each with a line of JSON.
func (h Hunt) Serve(ctx context.Context, p Place, in io.Reader, out io.Writer) error {
	w, err := h.Start(p)
	if err != nil {
		return err
	}
	if w.Close != nil {
		defer w.Close()
	}
	enc := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		seed, err := strconv.ParseUint(strings.TrimSpace(lines.Text()), 10, 64)
		if err != nil {
			return fmt.Errorf("asked to try %q, which is no number", lines.Text())
		}
		r := result{Findings: w.try(ctx, seed)}
		if w.Count != nil {
			r.Count = w.Count()
		}
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// try is Try, of which a panic is a finding.
func (w *Worker) try(ctx context.Context, seed uint64) (found []Finding) {
	defer func() {
		if p := recover(); p != nil {
			stack := string(debug.Stack())
			found = append(found, Finding{Kind: fmt.Sprintf("panic: %v at %s", p, culprit(stack)), Text: fmt.Sprintf("panic: %v\n%s", p, stack)})
		}
	}()
	return w.Try(ctx, seed)
}

// culprit returns the first function of ours on a stack below the panic.
func culprit(stack string) string {
	_, below, _ := strings.Cut(stack, "panic(")
	for _, line := range strings.Split(below, "\n") {
		if name, ok := strings.CutPrefix(line, "github.com/trtui/trtui/"); ok {
			name, _, _ = strings.Cut(name, "(0x")
			return name
		}
	}
	return "?"
}
