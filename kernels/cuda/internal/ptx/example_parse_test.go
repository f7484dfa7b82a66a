package ptx_test

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// A kernel that doubles numbers is read, checked and listed.
func ExampleParse() {
	m, err := ptx.Parse(`
.version 7.0
.target sm_80
.address_size 64

.visible .entry double(.param .u64 x)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r1;
	.reg .f32 %f<2>;
	ld.param.u64 %rd0, [x];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd1, %r1, 4, %rd0;
	ld.global.f32 %f0, [%rd1];
	add.rn.f32 %f1, %f0, %f0;
	st.global.f32 [%rd1], %f1;
	ret;
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Check(); err != nil {
		fmt.Println(err)
	}
	k := m.Kernels[0]
	fmt.Println(k.Name, "has", len(k.Regs), "registers")
	for _, in := range k.Body {
		fmt.Println(in.Line, k.Text(&in))
	}
	// Output:
	// double has 5 registers
	// 11 ld.param.u64 %rd0, [x];
	// 12 mov.u32 %r1, %tid.x;
	// 13 mad.wide.u32 %rd1, %r1, 4, %rd0;
	// 14 ld.global.f32 %f0, [%rd1];
	// 15 add.rn.f32 %f1, %f0, %f0;
	// 16 st.global.f32 [%rd1], %f1;
	// 17 ret;
}
