package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/trtui/trtui/internal/host"
)

// MaxBytes bounds the file of a module.
const MaxBytes = 16 << 20

// Limits bound what a module may take.
type Limits struct {
	Memory int           // bytes, of each instance
	Open   time.Duration // to be compiled, to begin, and to tell its manifest
	Infer  time.Duration // for the shapes of one layer
	Eval   time.Duration // to compute one layer
}

// DefaultLimits are those of programs.
func DefaultLimits() Limits {
	return Limits{Memory: 512 << 20, Open: 20 * time.Second, Infer: 5 * time.Second, Eval: time.Minute}
}

// Plugin is a module that was loaded. Its ops may be used by several goroutines, one of which runs in it at a time.
type Plugin struct {
	Manifest
	Path   string
	Bytes  int
	Hash   string // SHA-256 of the file
	Limits Limits

	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	log      *lines

	mu       sync.Mutex
	instance api.Module // nil: there is none, or the last one failed
}

// named returns the plugin's name and file, where it is of one.
func (p *Plugin) named() string {
	if p.Path == "" {
		return p.Name
	}
	return fmt.Sprintf("%s (%s)", p.Name, p.Path)
}

// Open loads the module of a file. log, if it is not nil, gets what it writes, line by line.
func Open(path string, limits Limits, log func(line string)) (*Plugin, error) {
	data, err := host.ReadUpTo(path, MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("plugin: %w", err)
	}
	p, err := Load(data, limits, log)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", path, err)
	}
	p.Path = path
	return p, nil
}

// Load loads a module that is in memory; see [Open].
func Load(data []byte, limits Limits, log func(line string)) (p *Plugin, err error) {
	defer caught(&err)
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxBytes>>20)
	}
	module, err := bounded(data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	p = &Plugin{Bytes: len(data), Hash: hex.EncodeToString(sum[:]), Limits: limits, log: &lines{to: log}}
	ctx, cancel := context.WithTimeout(context.Background(), limits.Open)
	defer cancel()
	cfg := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(uint32(limits.Memory >> 16)).WithDebugInfoEnabled(false)
	p.runtime = wazero.NewRuntimeWithConfig(ctx, cfg)
	if err := p.start(ctx, module); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// start compiles the module, checks what it asks for and has, and reads its manifest.
func (p *Plugin) start(ctx context.Context, module []byte) (err error) {
	if p.compiled, err = compile(ctx, p.runtime, module); err != nil {
		return err
	}
	if err := checkImports(p.compiled); err != nil {
		return err
	}
	if err := checkExports(p.compiled); err != nil {
		return err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, p.runtime); err != nil {
		return err
	}
	_, err = p.runtime.NewHostModuleBuilder("trtui").NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, at, size uint32) {
		if p.log.full() {
			return
		}
		if text, ok := m.Memory().Read(at, min(size, maxLine)); ok {
			_, _ = p.log.Write(append(slices.Clone(text), '\n'))
		}
	}).Export("log").Instantiate(ctx)
	if err != nil {
		return err
	}
	text, err := p.manifest(ctx)
	if err != nil {
		return err
	}
	p.Manifest, err = parseManifest(text)
	return err
}

// compile compiles a module. What takes longer than there is time for goes on in the background, and is not used.
func compile(ctx context.Context, r wazero.Runtime, module []byte) (wazero.CompiledModule, error) {
	type result struct {
		c   wazero.CompiledModule
		err error
	}
	done := make(chan result, 1)
	go func() {
		var res result
		defer func() { done <- res }()
		defer caught(&res.err)
		res.c, res.err = r.CompileModule(context.WithoutCancel(ctx), module)
	}()
	select {
	case res := <-done:
		if res.err != nil {
			return nil, fmt.Errorf("%w: %s", errNotModule, firstLine(res.err))
		}
		return res.c, nil
	case <-ctx.Done():
		return nil, errors.New("it takes too long to compile")
	}
}

// caught makes an error of a panic: wazero's, of a module that it does not expect.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("WebAssembly: %v", v)
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// checkImports refuses what modules are not given: anything but a log and WASI, which has nothing to give.
func checkImports(c wazero.CompiledModule) error {
	for _, f := range c.ImportedFunctions() {
		module, name, _ := f.Import()
		if module != "wasi_snapshot_preview1" && !(module == "trtui" && name == "log") {
			return fmt.Errorf("it imports %.60s.%.60s: a plugin is given trtui.log and WASI alone, without files", module, name)
		}
	}
	if len(c.ImportedMemories()) > 0 {
		return errors.New("it imports a memory: a plugin has its own, and exports it")
	}
	return nil
}

// exported are the functions that a module must have, with the number of their arguments; all are of 32 bits, and so is what each
// returns.
var exported = []struct {
	name      string
	arguments int
}{{"trtui_manifest", 0}, {"trtui_alloc", 1}, {"trtui_infer", 1}, {"trtui_eval", 1}}

func checkExports(c wazero.CompiledModule) error {
	have := c.ExportedFunctions()
	var missing []string
	for _, e := range exported {
		f := have[e.name]
		if f == nil {
			missing = append(missing, e.name)
			continue
		}
		if len(f.ParamTypes()) != e.arguments || slices.ContainsFunc(f.ParamTypes(), isNotI32) || len(f.ResultTypes()) != 1 || isNotI32(f.ResultTypes()[0]) {
			return fmt.Errorf("its function %s takes or returns something else than %d and 1 numbers of 32 bits", e.name, e.arguments)
		}
	}
	if c.ExportedMemories()["memory"] == nil {
		missing = append(missing, "memory")
	}
	if len(missing) > 0 {
		return fmt.Errorf("it does not export %s; docs/plugins.md says what a plugin has", strings.Join(missing, ", "))
	}
	return nil
}

func isNotI32(t api.ValueType) bool { return t != api.ValueTypeI32 }

// running returns an instance: the one that there is, or a new one. p.mu is held.
func (p *Plugin) running(ctx context.Context) (api.Module, error) {
	if p.instance != nil {
		return p.instance, nil
	}
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithStdout(p.log).WithStderr(p.log)
	m, err := p.runtime.InstantiateModule(ctx, p.compiled, cfg)
	if err != nil {
		return nil, failure(ctx, err)
	}
	p.instance = m
	return m, nil
}

// call calls a function of the module. After an error the next call has a new instance.
func (p *Plugin) call(ctx context.Context, m api.Module, name string, args ...uint64) (uint32, error) {
	list, err := m.ExportedFunction(name).Call(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, failure(ctx, err))
	}
	return uint32(list[0]), nil
}

// drop ends the instance after an error.
func (p *Plugin) drop() {
	if p.instance != nil {
		_ = p.instance.Close(context.Background())
		p.instance = nil
	}
}

// failure says of an error of wazero's what a person must know.
func failure(ctx context.Context, err error) error {
	var exit *sys.ExitError
	switch {
	case ctx.Err() != nil:
		return errors.New("it takes too long and was stopped")
	case errors.As(err, &exit):
		return fmt.Errorf("it ended itself with %d", exit.ExitCode())
	}
	return errors.New(firstLine(err))
}

// Close ends the module and frees what it takes.
func (p *Plugin) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
	_ = p.runtime.Close(context.Background())
}

// Bounds of what a module writes.
const (
	maxLine  = 4096
	maxLines = 1000
)

// lines passes on what is written, line by line, as far as it is bounded.
type lines struct {
	mu    sync.Mutex
	to    func(string)
	part  []byte
	count int
}

// full reports whether nothing more is passed on.
func (l *lines) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to == nil || l.count >= maxLines
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range b {
		if l.to == nil || l.count >= maxLines {
			break
		}
		if c != '\n' && len(l.part) < maxLine {
			l.part = append(l.part, c)
			continue
		}
		l.to(strings.ToValidUTF8(string(l.part), "?"))
		l.part, l.count = l.part[:0], l.count+1
	}
	return len(b), nil
}
