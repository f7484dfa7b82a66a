package emit

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// TestParams packs every kind of argument: each is where the kernel's declaration has its parameter.
func TestParams(t *testing.T) {
	w := NewWork()
	k, l := w.Threads("all", 1)
	l.Uint(k, "n", 0x01020304)
	l.Input(k, 1) // at a multiple of 8
	l.Float(k, "f", 1)
	l.Scratch(k, "w", 16)
	w.End(k, l)
	p, err := w.Params(*l)
	if err != nil {
		t.Fatal(err)
	}
	at := map[ArgKind]uint64{InputArg: 0x7000, WorkspaceArg: 0x9000}
	got := hex.EncodeToString(p.Pack(func(a Arg) uint64 { return at[a.Kind] + uint64(a.Index) }))
	if want := "0403020100000000" + "0170000000000000" + "0000803f00000000" + "1090000000000000"; got != want {
		t.Errorf("packed %s, want %s", got, want)
	}
}

// TestParamsDiffer has launches that pass something else than the kernel takes.
func TestParamsDiffer(t *testing.T) {
	w := NewWork()
	k := w.Module.Kernel("two", 32)
	k.Pointer("x")
	k.Scalar("n")
	k.End()
	w.Module.Kernels[0].Params = append(w.Module.Kernels[0].Params, ptx.Var{Name: "map", Space: ptx.Param, Type: ptx.B8, Align: 64, Count: 128})
	for _, c := range []struct {
		kernel string
		args   []Arg
		want   string
	}{
		{"three", nil, "kernel three: the module has none of the name"},
		{"two", []Arg{InArg(0)}, "kernel two: 1 arguments for 3 parameters"},
		{"two", []Arg{UintArg(1), UintArg(1), InArg(0)}, "kernel two: parameter 0, x, is u64 of 8 bytes; its argument is for u32"},
		{"two", []Arg{InArg(0), FloatArg(1), InArg(0)}, "kernel two: parameter 1, n, is u32 of 4 bytes; its argument is for f32"},
		{"two", []Arg{InArg(0), UintArg(1), InArg(0)}, "kernel two: parameter 2, map, is b8 of 128 bytes; its argument is for u64"},
	} {
		if _, err := w.Params(Launch{Kernel: c.kernel, Args: c.args}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
