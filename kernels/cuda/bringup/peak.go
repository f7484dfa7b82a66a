package bringup

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// A peak kernel multiplies what it holds in registers, again and again. Each lane reads peakWords words, the same in each
// warp: for tensor cores a fragment of A and then peakSums of B, for float32 8 and then 4 numbers. Each thread writes 4
// words: for tensor cores the sums of its 4 elements over all products, for float32 those of its products with each of
// the 4 numbers.
const (
	peakWords   = 20
	peakSums    = 8 // products of a tensor core that do not wait for each other
	peakThreads = 256
	peakUnroll  = 4
)

// peaks measures how fast the units multiply when nothing else holds them up. Elements are small integers, and so are all
// sums: that of many rounds is exactly as many times that of one.
func (p *probe) peaks() error {
	rounds, blocks := 1<<14, 2*p.backend.Context().Device().Multiprocessors
	if p.small {
		rounds, blocks = 2*peakUnroll, 2
	}
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8, emit.SimtF32} {
		if err := p.peak(u, rounds, blocks); err != nil {
			return fmt.Errorf("%s: %w", u, err)
		}
	}
	return nil
}

func (p *probe) peak(u emit.Unit, rounds, blocks int) error {
	data := peakData(u)
	once, _, err := p.runPeak(u, peakUnroll, blocks, data, false)
	if err != nil {
		return err
	}
	many, us, err := p.runPeak(u, rounds, blocks, data, true)
	if err != nil {
		return err
	}
	for i := range once {
		if one, all := peakSum(u, once[i]), peakSum(u, many[i]); all != one*float64(rounds/peakUnroll) {
			return fmt.Errorf("word %d: %v after %d rounds, %v after %d", i, one, peakUnroll, all, rounds)
		}
	}
	perThread := 2.0 * 32 // float32: 8 by 4 multiply-adds
	switch u {
	case emit.TensorF16:
		perThread = 2 * 16 * 8 * 16 * peakSums / 32
	case emit.TensorI8:
		perThread = 2 * 16 * 8 * 32 * peakSums / 32
	}
	operations := perThread * float64(rounds*blocks*peakThreads)
	p.report(Finding{Name: u.String(), Count: rounds, US: us, TFLOPs: operations / max(us, 1e-3) / 1e6})
	return nil
}

// peakSum reads a word of a peak kernel's result.
func peakSum(u emit.Unit, w uint32) float64 {
	if u == emit.TensorI8 {
		return float64(int32(w))
	}
	return float64(math.Float32frombits(w))
}

// peakData returns the lanes' words: random integers of a few units, none of them 0.
func peakData(u emit.Unit) []byte {
	rnd := rand.New(rand.NewPCG(3, uint64(u)))
	small := func() int { return (1 + rnd.IntN(2)) * (1 - 2*rnd.IntN(2)) }
	var data []byte
	for range 32 * peakWords {
		var w uint32
		switch u {
		case emit.TensorF16:
			w = uint32(numeric.F32ToF16(float32(small()))) | uint32(numeric.F32ToF16(float32(small())))<<16
		case emit.TensorI8:
			for i := range 4 {
				w |= uint32(uint8(small())) << (8 * i)
			}
		default:
			w = math.Float32bits(float32(small()))
		}
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return data
}

// runPeak runs a peak kernel and returns the first warp's words; with timed the microseconds of a launch.
func (p *probe) runPeak(u emit.Unit, rounds, blocks int, data []byte, timed bool) (words []uint32, us float64, err error) {
	k, err := p.bind(emitPeak(u, rounds, blocks))
	if err != nil {
		return nil, 0, err
	}
	in, err := p.backend.Alloc(len(data))
	if err != nil {
		return nil, 0, err
	}
	defer p.backend.Free(in)
	out, err := p.backend.Alloc(blocks * peakThreads * 16)
	if err != nil {
		return nil, 0, err
	}
	defer p.backend.Free(out)
	if err := p.backend.Upload(p.stream, in, data); err != nil {
		return nil, 0, err
	}
	launch := func() error { return k.Launch(p.stream, []kernels.Mem{in}, []kernels.Mem{out}, kernels.Mem{}) }
	if timed {
		d, err := p.measure(launch)
		if err != nil {
			return nil, 0, err
		}
		us = microseconds(d)
	} else if err := launch(); err != nil {
		return nil, 0, err
	}
	stored := make([]byte, 32*16)
	if err := p.backend.Download(p.stream, stored, out); err != nil {
		return nil, 0, err
	}
	for i := range 32 * 4 {
		words = append(words, binary.LittleEndian.Uint32(stored[4*i:]))
	}
	return words, us, nil
}

// emitPeak emits a peak kernel; rounds is a multiple of peakUnroll.
func emitPeak(u emit.Unit, rounds, blocks int) *emit.Work {
	w := emit.NewWork()
	k := w.Module.Kernel("peak", peakThreads)
	x, y := k.Pointer("x"), k.Pointer("y")
	thread := k.Thread()
	from := k.Offset(x, k.And(thread, ptx.U(31)), 4*peakWords)
	var words []ptx.Word
	for i := 0; i < peakWords; i += 4 {
		words = append(words, k.Load(from.At(4*i), 4)...)
	}
	loop := func(round func()) {
		k.For(ptx.U(0), ptx.U(rounds/peakUnroll), ptx.U(1), func(ptx.Uint) {
			for range peakUnroll {
				round()
			}
		})
	}
	to := k.Offset(y, k.Mad(k.BlockX(), ptx.U(peakThreads), thread), 16)
	switch u {
	case emit.TensorF16:
		k.Store(to, peakHalves(k, words, loop)...)
	case emit.TensorI8:
		k.Store(to, peakBytes(k, words, loop)...)
	default:
		k.StoreF(to, peakFloats(k, words, loop)...)
	}
	k.End()
	w.Launches = []emit.Launch{{
		Kernel: "peak", Grid: [3]int{blocks, 1, 1}, Block: [3]int{peakThreads, 1, 1}, Args: []emit.Arg{emit.InArg(0), emit.OutArg(0)},
	}}
	return w
}

// fragments splits a lane's words.
func fragments(words []ptx.Word) (a [4]ptx.Word, b [peakSums][2]ptx.Word) {
	copy(a[:], words)
	for i := range b {
		b[i] = [2]ptx.Word{words[4+2*i], words[5+2*i]}
	}
	return a, b
}

func peakHalves(k *ptx.K, words []ptx.Word, loop func(func())) []ptx.Word {
	a, b := fragments(words)
	var sums [peakSums][4]ptx.Float
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = k.VarF(ptx.F(0))
		}
	}
	loop(func() {
		for i := range sums {
			k.MmaF16(sums[i], a, b[i])
		}
	})
	var out []ptx.Word
	for j := range 4 {
		s := sums[0][j]
		for i := 1; i < peakSums; i++ {
			s = k.AddF(s, sums[i][j])
		}
		out = append(out, k.Bits(s))
	}
	return out
}

func peakBytes(k *ptx.K, words []ptx.Word, loop func(func())) []ptx.Word {
	a, b := fragments(words)
	var sums [peakSums][4]ptx.Int
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = k.VarS(ptx.I(0))
		}
	}
	loop(func() {
		for i := range sums {
			k.MmaI8(sums[i], a, b[i], true, true)
		}
	})
	var out []ptx.Word
	for j := range 4 {
		s := sums[0][j]
		for i := 1; i < peakSums; i++ {
			s = k.AddS(s, sums[i][j])
		}
		out = append(out, s.Word())
	}
	return out
}

func peakFloats(k *ptx.K, words []ptx.Word, loop func(func())) []ptx.Float {
	var numbers [12]ptx.Float
	for i := range numbers {
		numbers[i] = k.FloatOf(words[i])
	}
	var sums [4][8]ptx.Float
	for j := range sums {
		for i := range sums[j] {
			sums[j][i] = k.VarF(ptx.F(0))
		}
	}
	loop(func() {
		for j := range sums {
			for i := range sums[j] {
				k.FmaTo(sums[j][i], numbers[i], numbers[8+j])
			}
		}
	})
	var out []ptx.Float
	for j := range sums {
		s := sums[j][0]
		for _, t := range sums[j][1:] {
			s = k.AddF(s, t)
		}
		out = append(out, s)
	}
	return out
}
