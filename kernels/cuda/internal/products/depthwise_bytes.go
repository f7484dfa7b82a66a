package products

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Bytes are multiplied four taps of a row at a time. The words of four neighbouring pixels have four channels each; turned,
// they are a word of four pixels for every channel, which one dp4a multiplies with a word of four taps:
//
//	pixel 0   a0 a1 a2 a3          channel 0   a0 b0 c0 d0
//	pixel 1   b0 b1 b2 b3    ->    channel 1   a1 b1 c1 d1
//	pixel 2   c0 c1 c2 c3          channel 2   a2 b2 c2 d2
//	pixel 3   d0 d1 d2 d3          channel 3   a3 b3 c3 d3
//
// With a stride of 1, rows of three taps leave one of the four free: the next pixel's output takes the same words, and the
// taps a byte further on.
const tapsOfWord = 4

// groupsOfTaps returns how many words the taps of a row of the window are.
func (p *product) groupsOfTaps() int { return emit.CeilDiv(p.s, tapsOfWord) }

// packBytes returns the weights as [row][group of taps][output channel] words of signed bytes; taps behind the last are 0.
func (d *depthwise) packBytes() []byte {
	row := d.rowWeights()
	out := make([]byte, d.r*d.groupsOfTaps()*row*4)
	for o := range d.k * d.groups {
		for t := range d.r * d.s {
			y, x := t/d.s, t%d.s
			w := d.weight.Data[d.source(o, 0, t)]
			if d.weight.Type == numeric.U8 {
				w ^= 0x80 // w - 128
			}
			out[((y*d.groupsOfTaps()+x/tapsOfWord)*row+o)*4+x%tapsOfWord] = w
		}
	}
	return out
}

// signedZero is the zero point of the weights as packBytes stores them.
func (p *product) signedZero() int {
	if p.weight.Type == numeric.U8 {
		return int(p.zeroW) - 128
	}
	return int(p.zeroW)
}

// bytesThread is the code of one thread for bytes.
type bytesThread struct {
	*depthwiseThread
	rows [][]ptx.Word // by pixel, by channel: the sums of the input's elements, where the weights have a zero point
}

// sum adds the products of all taps.
func (t *bytesThread) sum() {
	if t.signedZero() != 0 {
		for range t.sums {
			list := make([]ptx.Word, directChannels)
			for i := range list {
				list[i] = t.VarS(ptx.I(0)).Word()
			}
			t.rows = append(t.rows, list)
		}
	}
	row := 4 * t.rowWeights() * t.groupsOfTaps()
	if t.r*t.s <= unrolled {
		for y := range t.r {
			t.sumRow(ptx.U(y*t.dilation[0]), t.weights.At(y*row))
		}
	} else {
		at := t.VarGlobal(t.weights)
		t.For(ptx.U(0), ptx.U(t.r*t.dilation[0]), ptx.U(t.dilation[0]), func(dy ptx.Uint) {
			t.sumRow(dy, at)
			t.SetGlobal(at, at.At(row))
		})
	}
	for i, list := range t.rows {
		for o, sum := range list {
			s := t.sums[i][o].Int()
			t.SetS(s, t.SubS(s, t.MulS(sum.Int(), ptx.I(t.signedZero()))))
		}
	}
}

// byteRow is one row of the windows, as far as it was read.
type byteRow struct {
	*bytesThread
	line   ptx.Uint
	inside *ptx.Cond
	pixels map[int]ptx.Word                    // by column behind the first window's begin
	turned map[[2]int][directChannels]ptx.Word // by first column and number of pixels
	zero   ptx.Word
}

// sumRow adds the products of one row of the windows.
func (t *bytesThread) sumRow(dy ptx.Uint, weights ptx.GlobalPtr) {
	y := t.Add(t.top, dy)
	r := &byteRow{
		bytesThread: t, line: t.Mul(t.Mad(t.image, ptx.U(t.h), y), ptx.U(t.w)), inside: t.valid,
		pixels: map[int]ptx.Word{}, turned: map[[2]int][directChannels]ptx.Word{}, zero: t.Var(ptx.U(0)).Word(),
	}
	if !t.inner() {
		r.inside = t.also(r.inside, t.Lt(y, ptx.U(t.h)))
	}
	pairs := t.s == 3 && t.stride[1] == 1 && t.dilation[1] == 1
	for g := range t.groupsOfTaps() {
		taps := min(tapsOfWord, t.s-g*tapsOfWord)
		list := t.LoadConst(weights.At(4*t.rowWeights()*g), directChannels)
		mask := uint32(0x01010101) >> (8 * (tapsOfWord - taps))
		var shifted []ptx.Word
		for i := range t.sums {
			first, count, words, ones := i*t.stride[1]+g*tapsOfWord*t.dilation[1], taps, list, mask
			if pairs && (i%2 == 1 || i+1 < len(t.sums)) {
				first, count = i-i%2, tapsOfWord
			}
			if pairs && i%2 == 1 {
				if shifted == nil {
					for _, w := range list {
						shifted = append(shifted, t.Shl(w.Uint(), 8).Word())
					}
				}
				words, ones = shifted, mask<<8
			}
			r.multiply(i, r.turn(first, count), words, ones)
		}
	}
}

// multiply adds the products of a word of pixels for each channel.
func (r *byteRow) multiply(i int, x [directChannels]ptx.Word, weights []ptx.Word, ones uint32) {
	add := r.Dp4aUnsigned
	if r.typ == numeric.I8 {
		add = r.Dp4aSigned
	}
	for o, sum := range r.sums[i] {
		r.SetS(sum.Int(), add(x[o], weights[o], sum.Int()))
		if r.rows != nil {
			r.SetS(r.rows[i][o].Int(), add(x[o], ptx.W(ones), r.rows[i][o].Int()))
		}
	}
}

// turn is count pixels from a column on, a dilation apart, as a word for each channel.
func (r *byteRow) turn(first, count int) [directChannels]ptx.Word {
	key := [2]int{first, count}
	if list, ok := r.turned[key]; ok {
		return list
	}
	p := [tapsOfWord]ptx.Word{r.zero, r.zero, r.zero, r.zero}
	for i := range count {
		p[i] = r.pixel(first + i*r.dilation[1])
	}
	lowA, lowB := r.Prmt(p[0], p[1], 0x5140), r.Prmt(p[2], p[3], 0x5140)
	highA, highB := r.Prmt(p[0], p[1], 0x7362), r.Prmt(p[2], p[3], 0x7362)
	list := [directChannels]ptx.Word{
		r.Prmt(lowA, lowB, 0x5410), r.Prmt(lowA, lowB, 0x7632), r.Prmt(highA, highB, 0x5410), r.Prmt(highA, highB, 0x7632),
	}
	r.turned[key] = list
	return list
}

// pixel is the word of channels so many columns behind the begin of the first window; zero points outside the image.
func (r *byteRow) pixel(column int) ptx.Word {
	if w, ok := r.pixels[column]; ok {
		return w
	}
	x, inside := r.Add(r.left, ptx.U(column)), r.inside
	if !r.inner() {
		inside = r.also(inside, r.Lt(x, ptx.U(r.w)))
	}
	at := r.Mad(r.Add(r.line, x), ptx.U(r.pitchIn), r.channel)
	w := r.x.Words(r.K, at, directChannels, inside, emit.Repeated(r.zeroX))[0]
	r.pixels[column] = w
	return w
}
