//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ebitengine/purego"
)

// TestCompilerBesideTheDriver puts the driver and its compiler into a folder that the loader does not search: what libcuda
// opens by name then is found all the same.
func TestCompilerBesideTheDriver(t *testing.T) {
	const compiler = "libnvidia-ptxjitcompiler.so.1"
	find := func() error {
		_, err := purego.Dlopen(compiler, purego.RTLD_NOW|purego.RTLD_LOCAL)
		return err
	}
	if find() == nil {
		t.Skip("this machine has a driver's compiler")
	}
	newStub(t)
	cuda, err := os.ReadFile(os.Getenv("TRTUI_LIBCUDA"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "libcuda.so.1")
	if err := os.WriteFile(path, cuda, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TRTUI_LIBCUDA", path)
	if devices, err := Probe(); err != nil || len(devices) == 0 { // without a compiler
		t.Fatalf("%d devices, %v", len(devices), err)
	}
	if find() == nil {
		t.Fatal("there is a compiler that nobody made")
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	source := filepath.Join(dir, "empty.c")
	if err := os.WriteFile(source, []byte("int compiler;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(gcc, "-shared", "-fPIC", "-Wl,-soname,"+compiler, "-o", filepath.Join(dir, compiler), source).CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	if _, err := Probe(); err != nil {
		t.Fatal(err)
	}
	if err := find(); err != nil {
		t.Errorf("the compiler beside the driver is not found by its name: %v", err)
	}
}
