//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebitengine/purego"
)

// library is a shared library opened by name, with the addresses of its functions found as they are first called. It is
// never closed: the driver starts threads that outlive any use of it.
type library struct {
	handle    uintptr
	path      string
	functions []prototype
	addresses []atomic.Uintptr
	missing   func(prototype) error // the error for a function that the library lacks
	frames    sync.Pool             // of *[maxArgs]uintptr
}

// maxArgs is the number of cuLaunchKernel's arguments, the most of all.
const maxArgs = 11

// openLibrary opens soname where the environment variable says it is, or the first of where the system's loader and
// NVIDIA's containers, WSL and NixOS have it. env set to a wrong path is an error, not a reason to look elsewhere.
func openLibrary(soname, env string, functions []prototype) (*library, error) {
	candidates := []string{soname}
	for _, dir := range libraryFolders() {
		candidates = append(candidates, filepath.Join(dir, soname))
	}
	if path := os.Getenv(env); path != "" {
		candidates = []string{path}
	}
	runtime.LockOSThread() // the loader keeps the reason of a failure by thread
	defer runtime.UnlockOSThread()
	var refused []string
	for _, path := range candidates {
		if filepath.IsAbs(path) {
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && len(candidates) > 1 {
				continue
			}
		}
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return &library{handle: handle, path: path, functions: functions, addresses: make([]atomic.Uintptr, len(functions))}, nil
		}
		if !strings.HasPrefix(err.Error(), soname+": cannot open shared object file") { // it is there, but
			refused = append(refused, err.Error())
		}
	}
	switch {
	case os.Getenv(env) != "":
		return nil, fmt.Errorf("%s: %s", env, strings.Join(refused, "; "))
	case len(refused) > 0:
		return nil, fmt.Errorf("%s cannot be opened: %s", soname, strings.Join(refused, "; "))
	}
	return nil, fmt.Errorf("%s is not on this machine: install the NVIDIA driver, or set %s to the library's path", soname, env)
}

// openBeside opens a library that this one opens by name when it needs it, if it lies in the same folder: where a container
// has the driver in a folder of its own, the loader finds the other libraries there no more than the first, but takes one
// that is open already by its name. That it is missing is said by the call which needs it.
func (l *library) openBeside(soname string) {
	if filepath.IsAbs(l.path) {
		_, _ = purego.Dlopen(filepath.Join(filepath.Dir(l.path), soname), purego.RTLD_NOW|purego.RTLD_LOCAL)
	}
}

func libraryFolders() []string {
	triplet := "/usr/lib/x86_64-linux-gnu"
	if runtime.GOARCH == "arm64" {
		triplet = "/usr/lib/aarch64-linux-gnu"
	}
	return []string{"/usr/local/nvidia/lib64", triplet, "/usr/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib"}
}

// address returns where a function is.
func (l *library) address(s symbol) (uintptr, error) {
	if a := l.addresses[s].Load(); a != 0 {
		return a, nil
	}
	f := l.functions[s]
	a, err := purego.Dlsym(l.handle, f.name)
	if err != nil {
		return 0, l.missing(f)
	}
	l.addresses[s].Store(a)
	return a, nil
}

// call calls a function: the one place from which package purego is called into C. It does not allocate, and does not
// know which arguments are addresses: for those of Go values see callPointers.
func (l *library) call(s symbol, args ...uintptr) (Result, error) {
	if f := &l.functions[s]; len(args) != len(f.args) {
		panic("driver: wrong number of arguments for " + f.name)
	}
	a, err := l.address(s)
	if err != nil {
		return 0, err
	}
	frame, _ := l.frames.Get().(*[maxArgs]uintptr) // since what is passed to SyscallN escapes
	if frame == nil {
		frame = new([maxArgs]uintptr)
	}
	n := copy(frame[:], args)
	r, _, _ := purego.SyscallN(a, frame[:n]...)
	l.frames.Put(frame)
	return Result(int32(r)), nil
}

// callPointers is call for arguments that are addresses of Go values, converted in the argument list of this call: the
// pragma makes the compiler keep the values alive and in place until it returns.
//
//go:uintptrescapes
func (l *library) callPointers(s symbol, args ...uintptr) (Result, error) {
	return l.call(s, args...)
}
