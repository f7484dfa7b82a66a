package ptxsim

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// FuzzLaunch runs whatever parses, for a few instructions: nothing may panic, hang, or take more than a little memory.
func FuzzLaunch(f *testing.F) {
	f.Add(kernelText(sharedWords, mySlot+"st.shared.u32 [%r2], 1; bar.sync 0; ld.shared.u32 %r4, [%r2];"), uint16(64))
	f.Add(kernelText("", "L: @%p1 bra L; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; bra L;"), uint16(33))
	for _, c := range faultCases {
		f.Add(kernelText(c.decl, variant(c.body, true)), uint16(c.threads))
	}
	f.Add(gemmText(3), uint16(128))
	for _, c := range integerOps() {
		f.Add(opText(c), uint16(32))
	}
	if text, err := os.ReadFile("testdata/clang/kernels_O3.ptx"); err == nil {
		f.Add(string(text), uint16(256))
	}
	f.Fuzz(func(t *testing.T, text string, threads uint16) {
		m, err := ptx.Parse(text)
		if err != nil {
			return
		}
		mem := NewMemory(1 << 24)
		p, err := Load(mem, m)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for _, name := range p.Kernels() {
			size, _, err := p.ParamBytes(name)
			if err != nil || size > 1<<16 {
				continue
			}
			addr, err := mem.Alloc(4096)
			if err != nil {
				t.Fatal(err)
			}
			params := slices.Repeat([]byte{byte(addr), byte(addr >> 8), byte(addr >> 16), byte(addr >> 24), byte(addr >> 32), 0, 0, 0}, size/8+1)[:size]
			shape := Shape{Grid: [3]int{2, 1, 1}, Block: [3]int{int(threads)%256 + 1, 1, 1}, Shared: 256}
			_, err = p.Launch(ctx, name, shape, params, Options{Budget: 5000, Seed: uint64(threads), Async: Async(threads % 2), Races: threads&4 != 0})
			if ctx.Err() != nil {
				t.Fatalf("kernel %s ran too long: %v", name, err)
			}
		}
	})
}

// TestEveryForm decodes an instance of each form of each opcode that the table has for sm_80, and lists what is missing.
func TestEveryForm(t *testing.T) {
	missing := map[string]bool{}
	for _, op := range ptx.Opcodes() {
		if slices.Contains(laterOpcodes, op.Name) {
			continue
		}
		if f := opcodes(firstPart(op.Name)); f == nil {
			missing[op.Name] = true
		}
	}
	if len(missing) > 0 {
		t.Errorf("opcodes that the simulator does not have: %v", missing)
	}
}

// laterOpcodes are those of targets above sm_80 that the simulator has no use for yet.
var laterOpcodes = []string{}

func firstPart(name string) string {
	for i := range name {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return name
}
