package ptx_test

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// A kernel that adds a bias per channel to halves in NHWC order, c channels a multiple of 8, and takes the ReLU: eight
// halves a thread.
func Example() {
	k := ptx.NewKernel("bias_relu_f16", ptx.SM(80), 256)
	x, bias, y := k.Pointer("x"), k.Pointer("bias"), k.Pointer("y")
	n, channels := k.ParamU32("n"), k.ParamDivisor("channels")
	i := k.CtaX().Mad(k.U32(2048), k.TidX().Shl(3))
	k.If(i.Lt(n), func() {
		_, channel := i.DivMod(channels)
		v := x.Index(i, 2).LdB32x4()
		w := bias.Index(channel, 2).LdB32x4(ptx.ReadOnly)
		zero := k.F16x2(0)
		for j := range v {
			v[j] = v[j].F16x2().Add(w[j].F16x2()).Max(zero).Bits()
		}
		y.Index(i, 2).StB32x4(v)
	})
	text, err := k.Emit()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)
	// Output:
	// .version 7.0
	// .target sm_80
	// .address_size 64
	//
	// .visible .entry bias_relu_f16(
	// 	.param .u64 bias_relu_f16_x,
	// 	.param .u64 bias_relu_f16_bias,
	// 	.param .u64 bias_relu_f16_y,
	// 	.param .u32 bias_relu_f16_n,
	// 	.param .u32 bias_relu_f16_channels,
	// 	.param .u32 bias_relu_f16_channels_m,
	// 	.param .u32 bias_relu_f16_channels_s
	// )
	// .maxntid 256, 1, 1
	// {
	// 	.reg .pred %p<1>;
	// 	.reg .b32 %r<30>;
	// 	.reg .b64 %d<9>;
	// 	ld.param.u64 %d0, [bias_relu_f16_x];
	// 	cvta.to.global.u64 %d1, %d0;
	// 	ld.param.u64 %d2, [bias_relu_f16_bias];
	// 	cvta.to.global.u64 %d3, %d2;
	// 	ld.param.u64 %d4, [bias_relu_f16_y];
	// 	cvta.to.global.u64 %d5, %d4;
	// 	ld.param.u32 %r0, [bias_relu_f16_n];
	// 	ld.param.u32 %r1, [bias_relu_f16_channels];
	// 	ld.param.u32 %r2, [bias_relu_f16_channels_m];
	// 	ld.param.u32 %r3, [bias_relu_f16_channels_s];
	// 	mov.u32 %r4, %ctaid.x;
	// 	mov.u32 %r5, %tid.x;
	// 	shl.b32 %r6, %r5, 3;
	// 	mad.lo.u32 %r7, %r4, 2048, %r6;
	// 	setp.lt.u32 %p0, %r7, %r0;
	// 	@!%p0 bra L1;
	// 	shl.b32 %r8, %r7, 1;
	// 	mul.hi.u32 %r9, %r8, %r2;
	// 	shr.u32 %r10, %r9, %r3;
	// 	mul.lo.u32 %r11, %r10, %r1;
	// 	sub.u32 %r12, %r7, %r11;
	// 	mad.wide.u32 %d6, %r7, 2, %d1;
	// 	ld.global.v4.b32 {%r13, %r14, %r15, %r16}, [%d6];
	// 	mad.wide.u32 %d7, %r12, 2, %d3;
	// 	ld.global.nc.v4.b32 {%r17, %r18, %r19, %r20}, [%d7];
	// 	mov.b32 %r21, 0;
	// 	add.rn.f16x2 %r22, %r13, %r17;
	// 	max.f16x2 %r23, %r22, %r21;
	// 	add.rn.f16x2 %r24, %r14, %r18;
	// 	max.f16x2 %r25, %r24, %r21;
	// 	add.rn.f16x2 %r26, %r15, %r19;
	// 	max.f16x2 %r27, %r26, %r21;
	// 	add.rn.f16x2 %r28, %r16, %r20;
	// 	max.f16x2 %r29, %r28, %r21;
	// 	mad.wide.u32 %d8, %r7, 2, %d5;
	// 	st.global.v4.b32 [%d8], {%r23, %r25, %r27, %r29};
	// L1:
	// 	ret;
	// }
}
