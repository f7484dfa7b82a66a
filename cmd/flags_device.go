package cmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/sessions/model"
)

const maxThreads = 1024

// deviceFlags say on what a command works: a backend, its threads, and the caches of what was timed and compiled there.
type deviceFlags struct {
	group
	table    []backend // what --backend may name; nil: the program's
	others   []string  // what it may name besides
	backend  string
	compared []string // what --backends names
	device   string   // that is simulated
	threads  int
	memory   string // that may be taken of this machine's
	timings  string // the timing cache's file
	codes    string // the folder of compiled code
}

func (d *deviceFlags) define() {
	d.heading = deviceHeading
	if d.table == nil {
		d.table = backends
	}
	f := d.part(takeBackend)
	f.StringVar(&d.backend, "backend", cmp.Or(d.backend, d.table[0].name), backendUsage(d.table))
	f.StringVar(&d.device, "device", "", "which device is simulated, "+d.simulated())
	d.part(takeThreads).IntVar(&d.threads, "threads", 0, "worker threads; default: all processors")
	d.part(takeBackend).StringVar(&d.memory, "max-memory", "", "`SIZE` of this machine's memory that this process may take, as in 4GiB or 512MiB; what needs more is refused before it is taken, and what takes more unseen ends as soon as that is seen, by when it may have taken a few MiB more; default: what is free")
	d.part(takeTimings).StringVar(&d.timings, "timing-cache", ownCache("timing.jsonl"), "timing cache `FILE`; \"none\" for none")
	d.part(takeCode).StringVar(&d.codes, "code-cache", ownCache("code"), "`FOLDER` of code compiled for GPUs, so that other runs need not compile it; \"none\" for none; a simulated GPU has none by default")
	for _, name := range []string{"timing-cache", "code-cache"} {
		flag := d.lookup(name)
		flag.DefValue = cacheText(flag.DefValue)
	}
}

// ownCache is a place in the user's folder of what can be made anew; "" where there is none.
func ownCache(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "trtui", name)
}

// cacheText writes a path without the folder of the person whose it is.
func cacheText(path string) string {
	for _, base := range []struct{ dir, text string }{{os.Getenv("XDG_CACHE_HOME"), "$XDG_CACHE_HOME"}, {homeDir(), "~"}} {
		if rest, ok := strings.CutPrefix(path, base.dir+string(filepath.Separator)); ok && base.dir != "" {
			return base.text + string(filepath.Separator) + rest
		}
	}
	return path
}

func homeDir() string {
	dir, _ := os.UserHomeDir() // "" where there is none
	return dir
}

// simulated lists the devices that --device names.
func (d *deviceFlags) simulated() string {
	var of []string
	for _, b := range d.table {
		if b.devices != nil {
			of = append(of, "of "+b.name+": "+strings.Join(b.devices, ", "))
		}
	}
	return strings.Join(of, "; ")
}

// crowded says that there are more threads than processors, "" where there are not.
func (d *deviceFlags) crowded() string {
	if n := runtime.NumCPU(); d.threads > n {
		return fmt.Sprintf("--threads %d: this process has %s, which they share: more threads than that are slower", d.threads, count(n, "processor"))
	}
	return ""
}

// check refuses backends, devices and threads that there cannot be.
func (d *deviceFlags) check() error {
	if d.threads < 0 || d.threads > maxThreads {
		return usageError{fmt.Errorf("--threads %d: want 1 to %d, or 0 for all processors", d.threads, maxThreads)}
	}
	most, err := d.maxMemory()
	if err != nil {
		return usageError{err}
	}
	host.SetMemoryLimit(most) // from here on: a model is read before its device is opened
	if _, _, err := findBackend(d.table, "backend", d.backend, d.others...); err != nil {
		return err
	}
	if len(d.compared) > 0 {
		return d.checkDevice(d.compared...)
	}
	return d.checkDevice(d.backend)
}

// checkDevice refuses a --device that none of the backends has which are asked for.
func (d *deviceFlags) checkDevice(backends ...string) error {
	if d.device == "" {
		return nil
	}
	var has, lists []string
	for _, b := range d.table {
		if b.devices == nil {
			continue
		}
		has = append(has, b.name)
		if !slices.Contains(backends, b.name) {
			continue
		}
		if slices.Contains(b.devices, d.device) {
			return nil
		}
		lists = append(lists, b.name+" has "+strings.Join(b.devices, ", "))
	}
	if lists == nil {
		return usageError{fmt.Errorf("--device %s: it chooses a device of --backend %s, which was not given", d.device, strings.Join(has, " or "))}
	}
	return usageError{fmt.Errorf("--device %q: %s", d.device, strings.Join(lists, "; "))}
}

// own returns the backend that an engine was built for, where no other one was asked for; "" where that is the first of the
// table, and where it is none of them.
func (d *deviceFlags) own(m *model.Model) string {
	own := m.BuiltOn()
	if d.changed("backend") || len(d.compared) > 0 || own == d.table[0].name {
		return ""
	}
	for _, b := range d.table {
		if b.name == own {
			return own
		}
	}
	return ""
}

// open opens a backend by name.
func (d *deviceFlags) open(name string) (run.Backend, error) {
	row, device, err := findBackend(d.table, "backend", name)
	if err != nil {
		return nil, err
	}
	if d.device != "" && row.devices != nil {
		if err := d.checkDevice(name); err != nil {
			return nil, err
		}
		device = slices.Index(row.devices, d.device)
	}
	b, err := row.open(device, d.threads)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", name, err)
	}
	if err := d.limitMemory(b); err != nil {
		b.Close()
		return nil, err
	}
	// What a simulated device compiles is the text again: it is kept where that is asked for.
	if gpu, ok := b.(*cuda.Backend); ok && d.codes != "" && d.codes != "none" && (row.native || d.changed("code-cache")) {
		gpu.KeepCode(d.codes)
	}
	return b, nil
}

// openWithHost opens the backend that was asked for and, if that is another one, the host, which is the table's first.
func (d *deviceFlags) openWithHost() (device, host run.Backend, closeAll func(), err error) {
	if device, err = d.open(d.backend); err != nil {
		return nil, nil, nil, err
	}
	if d.backend == d.table[0].name {
		return device, nil, func() { device.Close() }, nil
	}
	if host, err = d.open(d.table[0].name); err != nil {
		device.Close()
		return nil, nil, nil, err
	}
	return device, host, func() { device.Close(); host.Close() }, nil
}

// timingCache opens the timing cache, and says where it is saved. With an error it is what could be read of it, or a new
// one that is saved nowhere.
func (d *deviceFlags) timingCache() (cache *build.TimingCache, saveTo string, err error) {
	if d.timings == "none" || d.timings == "" {
		return build.NewTimingCache(), "", nil
	}
	if cache, err = build.OpenTimingCache(d.timings); err != nil { // nothing is read, and nothing written over what is there
		return build.NewTimingCache(), "", fmt.Errorf("%w; this goes on without it", err)
	}
	if err := cache.Damaged(); err != nil {
		return cache, d.timings, fmt.Errorf("timing cache %s: %w", d.timings, err)
	}
	return cache, d.timings, nil
}

// peaks returns the file of what devices reach at most, which is beside the timing cache: "timing.peaks.json" of "timing.jsonl".
func (d *deviceFlags) peaks() *build.PeaksFile {
	if d.timings == "none" || d.timings == "" {
		return build.NewPeaksFile("")
	}
	return build.NewPeaksFile(strings.TrimSuffix(d.timings, filepath.Ext(d.timings)) + ".peaks.json")
}
