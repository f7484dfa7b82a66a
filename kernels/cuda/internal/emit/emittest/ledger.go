package emittest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
)

// Ledger assembles texts and remembers those that the assembler had no complaint of, so that only kernels that changed are
// assembled again. It is a file beside an assembler that make ptxas installed, a line for each text and target; another
// assembler's is kept nowhere. Several goroutines may use it.
type Ledger struct {
	tool *ptxas.Tool

	mu    sync.Mutex
	file  *os.File // nil: nowhere
	known map[string]ptxas.Assembled
}

// OpenLedger reads what is known of an assembler's release.
func OpenLedger(tool *ptxas.Tool) (*Ledger, error) {
	l := &Ledger{tool: tool, known: map[string]ptxas.Assembled{}}
	dir := filepath.Dir(tool.Path)
	if filepath.Base(dir) != ptxas.Folder {
		return l, nil
	}
	path := filepath.Join(dir, "assembled-"+tool.Release+".txt")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if key, a, ok := parseEntry(line); ok {
			l.known[key] = a
		}
	}
	if l.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return nil, err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' { // a line that was cut short ends here
		_, err = l.file.WriteString("\n")
	}
	return l, err
}

// Close closes the file.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Assemble returns what the assembler says of a text for a target.
func (l *Ledger) Assemble(ctx context.Context, target, text string) (ptxas.Assembled, error) {
	sum := sha256.Sum256([]byte(target + "\n" + text))
	key := hex.EncodeToString(sum[:])
	l.mu.Lock()
	a, ok := l.known[key]
	l.mu.Unlock()
	if ok {
		return a, nil
	}
	a, err := l.tool.Assemble(ctx, target, text)
	if err != nil {
		return a, err
	}
	entry := key
	for _, k := range a.Kernels {
		if k.SpillStores+k.SpillLoads > 0 || len(a.Warnings) > 0 {
			return a, nil
		}
		entry += fmt.Sprintf(" %s %d %d", k.Name, k.Registers, k.Stack)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[key] = a; l.file == nil {
		return a, nil
	}
	_, err = l.file.WriteString(entry + " .\n")
	return a, err
}

// parseEntry reads a line; one that was not written to its end is none.
func parseEntry(line string) (key string, a ptxas.Assembled, ok bool) {
	f := strings.Fields(line)
	if len(f) < 2 || len(f)%3 != 2 || f[len(f)-1] != "." || len(f[0]) != 2*sha256.Size {
		return "", a, false
	}
	for i := 1; i+2 < len(f); i += 3 {
		k := ptxas.Kernel{Name: f[i]}
		if _, err := fmt.Sscan(f[i+1]+" "+f[i+2], &k.Registers, &k.Stack); err != nil {
			return "", a, false
		}
		a.Kernels = append(a.Kernels, k)
	}
	return f[0], a, true
}
