package reductions

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Rows of up to rowInWarp elements are a warp's, or those of fewer lanes where that is enough; longer ones a block's. A thread
// keeps up to keptMost elements in registers; longer rows it reads again.
const (
	rowInWarp = 1024
	keptMost  = 32
)

// rowShare is how threads share the elements of a row: by vectors of n neighbours, of which each thread has every
// threads-th.
type rowShare struct {
	length, threads, n int
	// anywhere says that rows begin at any element: vectors do at multiples of their length, and the elements before the
	// first and behind the last are read one by one.
	anywhere bool
}

// newRowShare shares a row whose beginning is a multiple of align elements, a power of two, in vectors of up to most.
func newRowShare(length, align, most int, mayBeAnywhere bool) rowShare {
	s := rowShare{length: length, n: min(most, align, 1<<bits.TrailingZeros(uint(length)))}
	const short = 8 // vectors
	if mayBeAnywhere && s.n < most && length >= short*most {
		s.n, s.anywhere = most, true
	}
	switch s.threads = emit.BlockThreads; {
	case length > rowInWarp:
	case s.anywhere:
		s.threads = 32
	default:
		s.threads = min(32, 1<<bits.Len(uint(length/s.n-1)))
	}
	return s
}

// mostThreads returns how many threads share a row at most, whatever vectors it allows.
func mostThreads(length int) int { return newRowShare(length, 1, 1, false).threads }

// vectors returns how many vectors a thread has at most.
func (s rowShare) vectors() int { return emit.CeilDiv(s.length/s.n, s.threads) }

// keeps reports whether a thread's elements stay in registers.
func (s rowShare) keeps() bool { return s.vectors()*s.n <= keptMost }

// rowLine is the code for one row.
type rowLine struct {
	rowShare
	*ptx.K
	x         emit.Storage
	row, lane ptx.Uint
	first     ptx.Uint                  // element of the input
	place     func(i ptx.Uint) ptx.Uint // of the row's i-th element, where they are no neighbours
	live      *ptx.Cond                 // the row is one; nil: it is
	head      ptx.Uint                  // elements before the first vector
	inside    ptx.Uint                  // vectors, where rows begin anywhere
	elements  map[int][]ptx.Float       // that are kept, by vector; -1 are those before the first and behind the last
}

// newRowLine divides the kernel's threads among the rows. Lanes that have no row take the last one again, and do not store.
func newRowLine(k *ptx.K, s rowShare, x emit.Storage, rows int) *rowLine {
	l := &rowLine{rowShare: s, K: k, x: x, elements: map[int][]ptx.Float{}}
	if s.threads >= 32 {
		l.row, l.lane = k.DivRem(emit.ThreadIndex(k, rows*s.threads), s.threads)
		return l
	}
	index := k.Mad(k.BlockX(), ptx.U(emit.BlockThreads), k.Thread())
	l.row, l.lane = k.DivRem(index, s.threads)
	if rows*s.threads%32 > 0 {
		live := k.Lt(l.row, ptx.U(rows))
		l.live, l.row = &live, k.Min(l.row, ptx.U(rows-1))
	}
	k.Exit(k.Ge(k.And(index, ptx.U(-32)), ptx.U(rows*s.threads))) // whole warps
	return l
}

// begin says where the row begins in the input.
func (l *rowLine) begin(first ptx.Uint) {
	l.first, l.head = first, ptx.U(0)
	if l.anywhere {
		l.head = l.And(l.Sub(ptx.U(0), first), ptx.U(l.n-1))
		l.inside = l.Div(l.Sub(ptx.U(l.length), l.head), l.n)
	}
}

// load reads what the thread keeps, all of it before any is needed.
func (l *rowLine) load() {
	if l.keeps() {
		l.each(func(ptx.Uint, []ptx.Float) {})
	}
}

// read is n elements from the i-th on.
func (l *rowLine) read(i ptx.Uint, n int) []ptx.Float {
	return l.x.Load(l.K, l.at(i), n, nil)
}

// at is where the i-th element lies.
func (l *rowLine) at(i ptx.Uint) ptx.Uint {
	if l.place != nil {
		return l.place(i)
	}
	return l.Add(l.first, i)
}

// each runs body for all of the thread's elements, in vectors: the index of the first, and the elements, which body may set
// where they are kept.
func (l *rowLine) each(body func(i ptx.Uint, x []ptx.Float)) {
	whole := l.length / l.n // vectors that every row has
	if l.anywhere {
		whole = (l.length - l.n + 1) / l.n
		extra := l.Select(l.Lt(l.lane, l.head), l.lane, l.Add(l.lane, l.Mul(l.inside, ptx.U(l.n))))
		l.If(l.Lt(extra, ptx.U(l.length)), func() { l.vector(-1, extra, 1, body) })
	}
	if !l.keeps() {
		end := ptx.U(whole)
		if l.anywhere {
			end = l.inside
		}
		l.For(l.lane, end, ptx.U(l.threads), func(v ptx.Uint) {
			i := l.Add(l.head, l.Mul(v, ptx.U(l.n)))
			body(i, l.read(i, l.n))
		})
		return
	}
	for e := range l.vectors() {
		v := l.Add(l.lane, ptx.U(e*l.threads))
		one := func() { l.vector(e, l.Add(l.head, l.Mul(v, ptx.U(l.n))), l.n, body) }
		switch {
		case (e+1)*l.threads <= whole:
			one()
		case l.anywhere:
			l.If(l.Lt(v, l.inside), one)
		default:
			l.If(l.Lt(v, ptx.U(whole)), one)
		}
	}
}

// vector runs body for n elements, which are read the first time.
func (l *rowLine) vector(e int, i ptx.Uint, n int, body func(i ptx.Uint, x []ptx.Float)) {
	if !l.keeps() {
		body(i, l.read(i, n))
		return
	}
	if l.elements[e] == nil {
		for _, v := range l.read(i, n) {
			x := l.VarF(ptx.F(0))
			l.SetF(x, v)
			l.elements[e] = append(l.elements[e], x)
		}
	}
	body(i, l.elements[e])
}

// across is the value of f over all threads of the row, which each of them gets.
func (l *rowLine) across(name string, v ptx.Float, f func(k *ptx.K, a, b ptx.Float) ptx.Float) ptx.Float {
	for mask := min(l.threads, 32) / 2; mask > 0; mask /= 2 {
		v = f(l.K, v, l.ShuffleXor(v, mask))
	}
	if l.threads <= 32 {
		return v
	}
	warps := l.threads / 32
	shared := l.Array(name, 4*warps, 16)
	warp, lane := l.Shr(l.lane, 5), l.And(l.lane, ptx.U(31))
	l.If(l.Eq(lane, ptx.U(0)), func() { l.StoreSharedF(l.OffsetShared(shared, warp, 4), v) })
	l.Barrier()
	v = ptx.Float{}
	for i := 0; i < warps; i += 4 {
		for j, x := range l.LoadSharedF(shared.At(4*i), 4) {
			if i+j == 0 {
				v = x
			} else {
				v = f(l.K, v, x)
			}
		}
	}
	return v
}

// where runs body unless the lane has no row of its own.
func (l *rowLine) where(body func()) {
	if l.live != nil {
		l.If(*l.live, body)
	} else {
		body()
	}
}
