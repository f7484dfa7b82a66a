package quantised

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"slices"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Panel is 16*Blocks output channels and the steps that reach their inputs. Pack changes its kernel where another suits the weights.
type Panel struct {
	Kernel  asm.QConvKernel
	Block   int // first output channel block
	First   int // first input channel block read
	Steps   []int32
	Pairs   asm.QConvPairs
	Weights int // where its weights begin
}

// Alike reports whether two panels read the same inputs.
func (p *Panel) Alike(other *Panel) bool {
	return p.First == other.First && slices.Equal(p.Steps, other.Steps)
}

// ShareSteps makes one table of two that are the same: it stays in the caches.
func (p *Panel) ShareSteps(other *Panel) {
	if slices.Equal(p.Steps, other.Steps) {
		p.Steps = other.Steps
	}
}

// Strip computes so many pixels of a panel: in pieces that keep a call short enough for the scheduler. Call says what its calls have
// in common, requant what becomes of the first pixel on.
func (p *Panel) Strip(call asm.QConvCall, pixels []int32, requant asm.Requant) {
	call.Requant, call.Pairs = &requant, p.Pairs
	next := call.Ahead
	for most := PieceOf(len(p.Steps), 4*p.Kernel.Blocks, p.Kernel.Pixels); len(pixels) > 0; {
		n := min(most, len(pixels))
		call.Ahead = next[:len(next)*n/len(pixels)]
		call.Pixels, pixels, next = pixels[:n], pixels[n:], next[len(call.Ahead):]
		p.Kernel.Run(&call)
		requant = After(requant, n)
		if call.Packed != nil {
			call.Packed = call.Packed[p.Kernel.PackedSize(n, len(p.Steps)):]
		}
	}
}

// Check checks the constants of a quantised layer.
func Check(filters, count int, weights []int16, scale, bias []float32, zero int32) error {
	if len(weights) != count {
		return fmt.Errorf("%d weights, want %d", len(weights), count)
	}
	for i, w := range weights {
		if w < -255 || w > 255 {
			return fmt.Errorf("weight %d minus its zero point is %d, want -255 to 255", i, w)
		}
	}
	if len(scale) != filters || bias != nil && len(bias) != filters {
		return fmt.Errorf("%d scales and %d bias values, want %d", len(scale), len(bias), filters)
	}
	if zero < 0 || zero > 255 {
		return fmt.Errorf("input zero point %d, want 0 to 255", zero)
	}
	return nil
}

// ConvKernel returns the first kernel of the table that the features allow and that has no more than so many blocks.
func ConvKernel(have asm.Features, blocks int) asm.QConvKernel {
	return firstKernel(func(k asm.QConvKernel) bool { return k.Blocks <= blocks && have.Has(k.Needs) })
}

// WholeKernel is ConvKernel among those that take any weights.
func WholeKernel(have asm.Features, blocks int) asm.QConvKernel {
	return firstKernel(func(k asm.QConvKernel) bool { return !k.Pairs && k.Blocks <= blocks && have.Has(k.Needs) })
}

// InPlaceKernel is WholeKernel among those that read inputs where they lie.
func InPlaceKernel(have asm.Features, blocks int) asm.QConvKernel {
	return firstKernel(func(k asm.QConvKernel) bool {
		return !k.Pairs && k.InPlace() && k.Blocks <= blocks && have.Has(k.Needs)
	})
}

func firstKernel(fits func(asm.QConvKernel) bool) asm.QConvKernel {
	for _, k := range asm.QConvKernels() {
		if fits(k) {
			return k
		}
	}
	panic("cpu: no generic INT8 convolution kernel")
}

// Step is 16 bytes of the reduction: Weight returns the weight of byte i for a filter.
type Step struct {
	Offset int32
	Weight func(filter, i int) int16
}

// Room returns room for the weights of panels of so many steps, to which Pack may append.
func Room(panels []Panel, steps int) []int8 {
	size := 0
	for i := range panels {
		k := &panels[i].Kernel
		bytes := work.CeilDiv(steps, k.Steps) * k.Steps * 256 * k.Blocks
		if k.Pairs {
			bytes += bytes / 8 // there is seldom more of a rest
		}
		size += bytes
	}
	return work.Aligned[int8](size)[:0]
}

// MostSteps is how many a step may become: weights of up to 255 are of three signed bytes at most.
const MostSteps = 3

// Pack appends the weights of the panel's filters, of so many that there are, as its kernel takes them. VPDPBUSD takes signed bytes; a
// step with weights beyond them (asymmetric uint8 weights minus their zero point) is followed by others, at the same input, with what is
// left. They are filled up to as many as the kernel takes at a time by some without weights.
func (p *Panel) Pack(packed []int8, steps []Step, filters int) []int8 {
	first, blocks := p.Block*work.Lanes, p.Kernel.Blocks
	last := min(filters, first+blocks*work.Lanes)
	p.Weights, p.Steps = len(packed), nil
	left := make([]int16, 16*(last-first))
	for _, s := range steps {
		some := false
		for j := range left {
			left[j] = s.Weight(first+j/16, j%16)
			some = some || left[j] != 0
		}
		for some {
			tile := make([]int8, 256*blocks)
			some = false
			for j, w := range left {
				low := max(-128, min(127, w))
				f, i := j/16, j%16
				tile[((i/4)*16*blocks+f)*4+i%4] = int8(low)
				left[j] -= low
				some = some || left[j] != 0
			}
			packed, p.Steps = append(packed, tile...), append(p.Steps, s.Offset)
		}
	}
	if len(p.Steps) == 0 { // all weights are zero
		packed, p.Steps = append(packed, make([]int8, 256*blocks)...), []int32{steps[0].Offset}
	}
	for len(p.Steps)%p.Kernel.Steps != 0 {
		packed, p.Steps = append(packed, make([]int8, 256*blocks)...), append(p.Steps, p.Steps[len(p.Steps)-1])
	}
	if p.Kernel.Pairs {
		packed = p.pair(packed)
	}
	return packed
}

// Constants pads the epilogue's constants to whole channel blocks and folds the input's zero point into
// what the sums start from.
func Constants(filters int, weights []int16, scale, bias []float32, zero int32) (start []int32, scales, biases []float32) {
	n := work.BlocksOf(filters) * work.Lanes
	start, scales, biases = make([]int32, n), make([]float32, n), make([]float32, n)
	copy(scales, scale)
	copy(biases, bias)
	perFilter := len(weights) / filters
	for f := range filters {
		sum := int32(0)
		for _, w := range weights[f*perFilter:][:perFilter] {
			sum += int32(w)
		}
		start[f] = -zero * sum
	}
	return start, scales, biases
}

// FlipSigns turns bytes in two's complement into offset binary and back.
func FlipSigns(dst, src []byte) {
	for len(src) > 0 {
		n := subtle.XORBytes(dst, src, signs[:])
		dst, src = dst[n:], src[n:]
	}
}

var signs = [4 << 10]byte(bytes.Repeat([]byte{0x80}, 4<<10))

// FlipAll is FlipSigns, shared.
func FlipAll(p work.Parallel, dst, src []byte) {
	flipJob.Each(p, (len(src)+flipUnit-1)/flipUnit, flipRun{dst, src})
}

const flipUnit = 64 << 10 // bytes

type flipRun struct{ dst, src []byte }

var flipJob = work.NewJob((*flipRun).do)

func (r *flipRun) do(u, _ int) {
	from, to := u*flipUnit, min(len(r.src), (u+1)*flipUnit)
	FlipSigns(r.dst[from:to], r.src[from:to])
}
