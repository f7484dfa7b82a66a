//go:build amd64 && !noasm

package asm

import "unsafe"

// qconvArgs is QConvCall as the assembly reads it; the offsets are known to the generator.
type qconvArgs struct {
	in            *byte
	pixels, steps *int32
	numSteps      int
	weights       *int8
	start         *int32
	requant       *requantArgs
	ahead         *int8
	aheadStep     int
	fetch         [2]fetch // of the output and of the residual
	order         *byte
	rest          *int32
	restOf        [2]int // how many are of the first 8 channels, and of the last 8
}

// fetch is where the assembly is in asking for what a tile needs: the next pixel, and how many are left. The last one is followed by
// what need not be ours: no pointer.
type fetch struct {
	at   uintptr
	left int
}

// Run computes a strip.
func (k QConvKernel) Run(c *QConvCall) {
	switch {
	case k.level == pureGo:
		qconvGeneric(c, k.Blocks)
	case k.packs == inPlace:
		k.runInPlace(c)
	case c.Packed != nil:
		k.runPacked(c)
	default:
		room := packRooms.Get().(*[]byte)
		if size := k.PackedSize(len(c.Pixels), len(c.Steps)); size > len(*room) {
			*room = alignedLines(size)
		}
		packed := *c
		packed.Packed = *room
		k.Pack(packed.Packed, c)
		k.runPacked(&packed)
		packRooms.Put(room)
	}
}

// evenly divides n pixels into tiles of nearly equal size, of no more than most: a short last one would waste the weights it loads.
// It returns the size, and how many are whole.
func evenly(n, most int) (size, whole int) {
	tiles := (n + most - 1) / most
	size = (n + tiles - 1) / tiles
	return size, n / size
}

// runInPlace computes a strip of inputs that are read where they lie.
func (k QConvKernel) runInPlace(c *QConvCall) {
	n := len(c.Pixels)
	_ = c.In[c.reach(n)+15]
	requant := c.Requant.args(n, k.Blocks)
	_, _ = c.Start[16*k.Blocks-1], c.Weights[len(c.Steps)*256*k.Blocks-1]
	args := qconvArgs{in: &c.In[0], pixels: &c.Pixels[0], steps: &c.Steps[0], numSteps: len(c.Steps), weights: &c.Weights[0],
		start: &c.Start[0], requant: &requant, ahead: &c.Weights[0]}
	if k.Pairs {
		rest := c.Pairs.Rest
		_, _ = c.Pairs.Order[16*len(c.Steps)-1], c.Weights[len(c.Steps)*256+len(rest)*RestBytes-1]
		args.order = &c.Pairs.Order[0]
		if len(rest) > 0 {
			args.rest, args.restOf = &rest[0], [2]int{c.Pairs.Low, len(rest[c.Pairs.Low:])}
		}
	}
	p, full := evenly(n, k.Pixels)
	lines := len(c.Steps) * min(p, 4*k.Blocks) // that a tile can ask for
	if len(c.Ahead) > 0 {
		args.ahead, args.aheadStep = &c.Ahead[0], min(64, len(c.Ahead)/((n+p-1)/p*lines)+1)
	}
	k.tiles(p, full, &args)
	if rest := n - full*p; rest > 0 {
		requant = requant.after(full * p)
		args.pixels = &c.Pixels[full*p]
		if done := full * lines * args.aheadStep; done < len(c.Ahead) {
			args.ahead = &c.Ahead[done]
		}
		k.tiles(rest, 1, &args)
	}
}

// tiles calls the function of the kernel's shape.
func (k QConvKernel) tiles(pixels, tiles int, args *qconvArgs) {
	switch p := (*byte)(unsafe.Pointer(args)); {
	case k.Pairs:
		qconv16PairsAVX2(pixels, tiles, p)
	case k.level == avx2:
		qconv16AVX2(pixels, tiles, p)
	case k.level == avxVNNI:
		qconv16AVXVNNI(pixels, tiles, p)
	case k.Blocks == 2:
		qconv32VNNI(pixels, tiles, p)
	default:
		qconv16VNNI(pixels, tiles, p)
	}
}

// QConvKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func QConvKernels() []QConvKernel {
	return append([]QConvKernel{
		{"qconv_u8s8_amx_32x32", AVX512 | AVX512VNNI | AMXInt8, 2, 32, 4, false, amx, tiled},
		{"qconv_u8s8_amx_32x16", AVX512 | AVX512VNNI | AMXInt8, 1, 32, 4, false, amx, tiled},
		{"qconv_u8s8_vnni_11x32", AVX512 | AVX512VNNI, 2, 11, 1, false, avx512, inPlace},
		{"qconv_u8s8_vnni_12x16", AVX512 | AVX512VNNI, 1, 12, 1, false, avx512, inPlace},
		{"qconv_u8s8_avxvnni_6x16", AVX2 | AVXVNNI, 1, 6, 1, false, avxVNNI, inPlace},
		{"qconv_u8s8_avx2_pairs_5x16", AVX2, 1, 5, 1, true, avx2, inPlace},
		{"qconv_u8s8_avx2_4x16", AVX2, 1, 4, 1, false, avx2, inPlace},
	}, qconvGenericKernels()...)
}
