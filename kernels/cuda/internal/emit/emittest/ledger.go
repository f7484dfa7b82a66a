package emittest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
)

// Ledger assembles texts and remembers those that the assembler had no complaint of, so that only kernels that changed are
// assembled again. What it knows comes from a record, which is kept with the tests and of which each run takes a share of
// recheckOf again, another each time; and from a file beside an assembler that make ptxas installed. Both are of one release
// of the assembler. Several goroutines may use it.
type Ledger struct {
	tool    *ptxas.Tool
	recheck byte // of the texts whose sum begins with this, modulo recheckOf, the record is not believed

	mu       sync.Mutex
	file     *os.File // nil: nowhere
	recorded map[string]string
	known    map[string]string
	asked    map[string]string // in this run
}

const recheckOf = 32

// whole ends a line that is appended: one that was cut short tells nothing.
const whole = " ."

// OpenLedger reads what is known of an assembler's release: the record, a file that need not be there ("" for none), and what is
// beside the assembler.
func OpenLedger(tool *ptxas.Tool, record string) (*Ledger, error) {
	l := &Ledger{tool: tool, recheck: byte(rand.IntN(recheckOf)), known: map[string]string{}, recorded: map[string]string{}, asked: map[string]string{}}
	if record != "" {
		text, err := os.ReadFile(record)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if first, rest, _ := strings.Cut(string(text), "\n"); first == l.title() {
			l.recorded = parseEntries(rest, "")
		}
	}
	dir := filepath.Dir(tool.Path)
	if filepath.Base(dir) != ptxas.Folder {
		return l, nil
	}
	path := filepath.Join(dir, "assembled-"+tool.Release+".txt")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l.known = parseEntries(string(text), whole)
	if l.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return nil, err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' { // a line that was cut short ends here
		_, err = l.file.WriteString("\n")
	}
	return l, err
}

// title is the first line of a record.
func (l *Ledger) title() string {
	return "ptxas " + l.tool.Release + ": sum of target and text, registers and stack of each kernel"
}

// Record returns what a record of this run's texts is to be.
func (l *Ledger) Record() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	fmt.Fprintln(&b, l.title())
	for _, key := range slices.Sorted(maps.Keys(l.asked)) {
		fmt.Fprintln(&b, key, l.asked[key])
	}
	return b.String()
}

// Close closes the file.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Assemble returns what the assembler says of a text for a target. It is an error if the record has something else of it.
func (l *Ledger) Assemble(ctx context.Context, target, text string) (ptxas.Assembled, error) {
	sum := sha256.Sum256([]byte(target + "\n" + text))
	key := fmt.Sprintf("%x", sum[:8])
	names := entryNames(text)
	l.mu.Lock()
	recorded, known := l.recorded[key], l.known[key]
	if known == "" && sum[0]%recheckOf != l.recheck {
		known = recorded
	}
	l.mu.Unlock()
	if kernels, err := parseKernels(known, names); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked[key] = known
		return ptxas.Assembled{Kernels: kernels}, nil
	}
	a, err := l.tool.Assemble(ctx, target, text)
	if err != nil {
		return a, err
	}
	entry := kernelsEntry(a, names)
	switch {
	case entry == "":
		return a, nil
	case recorded != "" && recorded != entry:
		return a, fmt.Errorf("%s takes %s, and the record has %s", target, entry, recorded)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked[key], l.known[key] = entry, entry; l.file != nil {
		_, err = l.file.WriteString(key + " " + entry + whole + "\n")
	}
	return a, err
}

// parseEntries reads lines that have an ending, by their keys.
func parseEntries(text, ending string) map[string]string {
	list := map[string]string{}
	for line := range strings.Lines(text) {
		if line, ok := strings.CutSuffix(line, ending+"\n"); ok {
			key, entry, _ := strings.Cut(line, " ")
			list[key] = entry
		}
	}
	return list
}

var entryPoint = regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`)

// entryNames returns the names of a module's kernels.
func entryNames(text string) []string {
	var names []string
	for _, m := range entryPoint.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// kernelsEntry returns registers and stack of kernels in the order of their names; "" where the assembler complains or tells of
// other kernels.
func kernelsEntry(a ptxas.Assembled, names []string) string {
	if len(a.Warnings) > 0 || len(a.Kernels) != len(names) {
		return ""
	}
	var list []string
	for _, name := range names {
		i := slices.IndexFunc(a.Kernels, func(k ptxas.Kernel) bool { return k.Name == name })
		if i < 0 || a.Kernels[i].SpillStores+a.Kernels[i].SpillLoads > 0 {
			return ""
		}
		list = append(list, fmt.Sprintf("%d/%d", a.Kernels[i].Registers, a.Kernels[i].Stack))
	}
	return strings.Join(list, " ")
}

// parseKernels is the reverse of kernelsEntry.
func parseKernels(entry string, names []string) ([]ptxas.Kernel, error) {
	list := strings.Fields(entry)
	if len(list) != len(names) {
		return nil, fmt.Errorf("%d kernels, and the text has %d", len(list), len(names))
	}
	var kernels []ptxas.Kernel
	for i, name := range names {
		registers, stack, _ := strings.Cut(list[i], "/")
		k := ptxas.Kernel{Name: name}
		var err1, err2 error
		k.Registers, err1 = strconv.Atoi(registers)
		k.Stack, err2 = strconv.Atoi(stack)
		if err := errors.Join(err1, err2); err != nil || k.Registers <= 0 {
			return nil, fmt.Errorf("%q are no registers and stack", list[i])
		}
		kernels = append(kernels, k)
	}
	return kernels, nil
}
