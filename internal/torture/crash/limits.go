//go:build linux

package crash

import (
	"fmt"
	"strings"
)

// Limits of memory that are tried, in MiB; what the program itself takes whatever it does: its own pages, threads, the model; and by
// how much it may be over a limit before it sees that and ends.
const (
	leastLimit = 30
	mostLimit  = 400
	ownMemory  = 64
	slack      = 8
)

// littleMemory: within a limit the program does what it is to, or says that it cannot, and in either case it keeps to the
// limit, as nearly as it can see.
func littleMemory(t *test) {
	limit := leastLimit + t.rnd.IntN(mostLimit-leastLimit)
	if t.rnd.IntN(2) == 0 {
		limit = leastLimit + t.rnd.IntN(mostLimit-leastLimit)/4
	}
	precision := []string{"fp32", "fp16", "int8"}[t.rnd.IntN(3)]
	args := [][]string{
		{"run", t.model, "--items", "2", "--precision", precision, "--timing-cache", "none"},
		{"build", t.model, "-o", t.path("out.engine"), "--precision", precision, "--timing-cache", "none"},
		{"bench", t.model, "--precision", precision, "--duration", "200ms", "--timing-cache", "none"},
		{"calibrate", t.model, "-o", t.path("out.json")},
		{"eval", t.model, "--random-items", "8", "--timing-cache", "none"},
		{"record", t.model, "-o", t.path("out.trtui"), "--random-items", "8", "--timing-cache", "none"},
		{"run", "--items", "20", "--precision", precision, "--timing-cache", "none"}, // the built-in model
		{"calibrate", "-o", t.path("out.json")},
	}
	words := append(args[t.rnd.IntN(len(args))], "-q", "--max-memory", fmt.Sprintf("%dMiB", limit))
	c := t.run(t.command(words...))
	switch {
	case t.ctx.Err() != nil:
	case c.Code == 2 && !strings.Contains(c.Stderr, "limit"):
		t.errorf(c, "%s does not tell of the limit: %s", words[0], general(c.Stderr))
	case c.Code != 0 && c.Code != 2:
		t.errorf(c, "%s ends with %d", words[0], c.Code)
	case c.Resident>>20 > int64(max(limit+slack, ownMemory)):
		t.errorf(c, "%s takes more than its limit", words[0])
	}
}
