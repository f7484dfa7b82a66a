package ptxsim_test

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// A kernel that reads its neighbour's word of shared memory, and forgets the barrier before it.
func Example() {
	const text = `
.version 7.0
.target sm_80
.address_size 64
.visible .entry rotate(.param .u64 x)
{
	.reg .b32 %r<6>;
	.reg .b64 %d<3>;
	.shared .align 4 .b8 s[256];
	ld.param.u64 %d0, [x];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d0, %d0, %d1;
	mov.u32 %r1, s;
	shl.b32 %r2, %r0, 2;
	add.u32 %r3, %r1, %r2;
	st.shared.u32 [%r3], %r0;
	xor.b32 %r3, %r3, 128;
	bar.sync 0;
	ld.shared.u32 %r4, [%r3];
	st.global.u32 [%d0], %r4;
	ret;
}`
	m, err := ptx.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	run := func(m *ptx.Module) {
		mem := ptxsim.NewMemory(0)
		x, _ := mem.Alloc(256)
		p, err := ptxsim.Load(mem, m)
		if err != nil {
			fmt.Println(err)
			return
		}
		params := binary.LittleEndian.AppendUint64(nil, x)
		shape := ptxsim.Shape{Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}}
		stats, err := p.Launch(context.Background(), "rotate", shape, params, ptxsim.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		out := make([]byte, 4)
		if err := mem.Read(x, out); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("thread 0 has", binary.LittleEndian.Uint32(out), "bank conflicts:", stats.Worst("ld.shared").Conflicts)
	}
	run(m)
	k := m.Kernels[0]
	for _, i := range ptxsim.Orderings(k) {
		broken, err := ptxsim.Without(m, k.Name, i)
		if err != nil {
			fmt.Println(err)
			return
		}
		run(broken)
	}
	// Output:
	// thread 0 has 32 bank conflicts: 1
	// kernel rotate: block (0,0,0) warp 1 lane 0: line 20: ld.shared.u32 %r4, [%r3]: uninitialised: shared address 0x400 holds nothing that was written
}
