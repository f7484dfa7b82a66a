package ptx

import "strconv"

// CpAsync copies 4, 8 or 16 bytes without waiting; both addresses are multiples of that. A condition is that of either.
func (p SharedPtr) CpAsync(src GlobalPtr, bytes int) { p.cpAsync(src, bytes) }

// CpAsyncFill copies the first count of bytes and fills the rest with zeros: with a count of 0 src is not read.
func (p SharedPtr) CpAsyncFill(src GlobalPtr, bytes int, count Uint32) {
	p.cpAsync(src, bytes, count.o)
}

func (p SharedPtr) cpAsync(src GlobalPtr, bytes int, more ...Operand) {
	op := "cp.async.ca.shared.global"
	if bytes == 16 {
		op = "cp.async.cg.shared.global"
	}
	at := p.pointer
	if at.cond.b == nil {
		at.cond = src.cond
	}
	args := append([]Operand{p.address(), src.address(), p.b.integer(int64(bytes)).o}, more...)
	at.guarded(func() { p.b.emit(op, args...) })
}

// CpAsyncCommit makes a group of this thread's copies since the last group: an empty one if there were none.
func (b *Builder) CpAsyncCommit() { b.emit("cp.async.commit_group") }

// CpAsyncWait waits until at most the newest n groups of this thread are pending. Other threads see the copies after a
// Barrier.
func (b *Builder) CpAsyncWait(n int) { b.emit("cp.async.wait_group", b.integer(int64(n)).o) }

// LdMatrix reads n matrices, 1, 2 or 4, of 8 rows of 16 bytes: lane 8q+r gives the address of row r of matrix q; register q
// gets the bytes 4t to 4t+3 of row g in lane 4g+t. The whole warp takes part.
func (p SharedPtr) LdMatrix(n int) []Bits32 {
	return p.ldMatrix("ldmatrix.sync.aligned.m8n8.x"+strconv.Itoa(n), n)
}

// LdMatrixTrans is LdMatrix of matrices of 16-bit elements, each transposed.
func (p SharedPtr) LdMatrixTrans(n int) []Bits32 {
	return p.ldMatrix("ldmatrix.sync.aligned.m8n8.x"+strconv.Itoa(n)+".trans", n)
}

func (p SharedPtr) ldMatrix(op string, n int) []Bits32 {
	d := make([]Bits32, n)
	v := make([]value, n)
	for i := range d {
		v[i] = p.b.fresh(B32)
		d[i] = Bits32{v[i]}
	}
	p.b.emit(op+".shared.b16", vector(v...), p.address())
	return d
}

// StMatrix is the inverse of LdMatrix; it needs sm_90.
func (p SharedPtr) StMatrix(m []Bits32) {
	v := make([]value, len(m))
	for i := range m {
		v[i] = m[i].value
	}
	p.b.emit("stmatrix.sync.aligned.m8n8.x"+strconv.Itoa(len(m))+".shared.b16", p.address(), vector(v...))
}

func values[T ~struct{ value }](v []T) []value {
	out := make([]value, len(v))
	for i := range v {
		out[i] = struct{ value }(v[i]).value
	}
	return out
}

// mma adds a product of a 16xK and a Kx8 matrix to accumulators in their own registers. Fragments are those of PTX ISA
// 9.7.14: with g = lane/4 and t = lane%4, c0 and c1 are row g, columns 2t and 2t+1, c2 and c3 row g+8; a0 to a3 are rows g,
// g+8, g, g+8, the first two of the lower half of K; b0 and b1 are column g, lower and upper half of K; the elements of a
// register are consecutive in K from t times their number.
func (b *Builder) mma(types string, c []value, a, m []Bits32) {
	b.emit("mma.sync.aligned."+types, vector(c...), vector(values(a)...), vector(values(m)...), vector(c...))
}

// MmaF16 has K = 16, halves, and float32 accumulators.
func (b *Builder) MmaF16(c [4]Float32, a [4]Bits32, m [2]Bits32) {
	b.mma("m16n8k16.row.col.f32.f16.f16.f32", values(c[:]), a[:], m[:])
}

// MmaF16Halves has K = 16, halves, and halves as accumulators: two a register.
func (b *Builder) MmaF16Halves(c [2]Bits32, a [4]Bits32, m [2]Bits32) {
	b.mma("m16n8k16.row.col.f16.f16.f16.f16", values(c[:]), a[:], m[:])
}

// MmaBF16 has K = 16, bfloat16, and float32 accumulators.
func (b *Builder) MmaBF16(c [4]Float32, a [4]Bits32, m [2]Bits32) {
	b.mma("m16n8k16.row.col.f32.bf16.bf16.f32", values(c[:]), a[:], m[:])
}

// MmaTF32 has K = 8, tf32 as ToTF32 makes it, and float32 accumulators.
func (b *Builder) MmaTF32(c [4]Float32, a [4]Bits32, m [2]Bits32) {
	b.mma("m16n8k8.row.col.f32.tf32.tf32.f32", values(c[:]), a[:], m[:])
}

// MmaInt8 has K = 32, bytes that are signed or not, each operand for itself, and 32-bit accumulators that wrap around.
func (b *Builder) MmaInt8(c [4]Int32, a [4]Bits32, m [2]Bits32, aSigned, mSigned bool) {
	name := map[bool]string{true: "s8", false: "u8"}
	b.mma("m16n8k32.row.col.s32."+name[aSigned]+"."+name[mSigned]+".s32", values(c[:]), a[:], m[:])
}
