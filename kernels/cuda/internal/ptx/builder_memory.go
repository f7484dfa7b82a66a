package ptx

import "strconv"

// load emits a load of n registers.
func (k *K) load(space, mod string, t Type, n int, fresh func() value, a Operand) []value {
	m := append([]string{space}, mods(mod)...)
	list, vec := make([]value, n), make([]Operand, n)
	for i := range list {
		list[i] = fresh()
		vec[i] = list[i].op
	}
	d := vec[0]
	if n > 1 {
		m, d = append(m, "v"+strconv.Itoa(n)), Operand{Kind: VectorOperand, Vec: vec}
	}
	k.emit("ld", append(m, string(t)), d, a)
	return list
}

func (k *K) store(space string, t Type, a Operand, list ...value) {
	m := []string{space}
	vec := make([]Operand, len(list))
	for i, v := range list {
		vec[i] = v.op
	}
	s := vec[0]
	if len(list) > 1 {
		m, s = append(m, "v"+strconv.Itoa(len(list))), Operand{Kind: VectorOperand, Vec: vec}
	}
	k.emit("st", append(m, string(t)), a, s)
}

func (k *K) wordOf() value { return k.word() }

func words(list []value) []Word {
	w := make([]Word, len(list))
	for i, v := range list {
		w[i] = Word{v}
	}
	return w
}

// Load is n words, 1, 2 or 4, of device memory, aligned to their size together.
func (k *K) Load(p GlobalPtr, n int) []Word {
	return words(k.load("global", "", B32, n, k.wordOf, k.global(p)))
}

// LoadConst is Load of what nobody writes while the kernel runs.
func (k *K) LoadConst(p GlobalPtr, n int) []Word {
	return words(k.load("global", "nc", B32, n, k.wordOf, k.global(p)))
}

// LoadWhen is Load where p holds, and zeros elsewhere.
func (k *K) LoadWhen(p Cond, from GlobalPtr, n int) []Word { return k.LoadOr(p, from, n, W(0)) }

// LoadOr is Load where p holds, and n times otherwise elsewhere.
func (k *K) LoadOr(p Cond, from GlobalPtr, n int, otherwise Word) []Word {
	list := make([]Word, n)
	vec := make([]Operand, n)
	for i := range list {
		list[i] = Word{k.word()}
		vec[i] = list[i].op
		k.emit("mov", mods("b32"), vec[i], otherwise.op)
	}
	d, m := vec[0], []string{"global", "b32"}
	if n > 1 {
		d, m = Operand{Kind: VectorOperand, Vec: vec}, []string{"global", "v" + strconv.Itoa(n), "b32"}
	}
	k.When(p, func() { k.emit("ld", m, d, k.global(from)) })
	return list
}

// LoadHalf is 16 bits of device memory.
func (k *K) LoadHalf(p GlobalPtr) Half {
	return Half{k.load("global", "", B16, 1, func() value { return k.half().value }, k.global(p))[0]}
}

// LoadByte is a byte of device memory, zero-extended.
func (k *K) LoadByte(p GlobalPtr) Uint {
	return Uint{k.load("global", "", U8, 1, k.wordOf, k.global(p))[0]}
}

// LoadByteS is a byte of device memory, sign-extended.
func (k *K) LoadByteS(p GlobalPtr) Int {
	return Int{k.load("global", "", S8, 1, k.wordOf, k.global(p))[0]}
}

// LoadByteAs is a byte of device memory, signed or not.
func (k *K) LoadByteAs(p GlobalPtr, signed bool) Int {
	if signed {
		return k.LoadByteS(p)
	}
	return k.LoadByte(p).Int()
}

// Store writes 1, 2 or 4 words to device memory, aligned to their size together.
func (k *K) Store(p GlobalPtr, w ...Word) { k.store("global", B32, k.global(p), values(w)...) }

// StoreHalf writes 16 bits.
func (k *K) StoreHalf(p GlobalPtr, h Half) { k.store("global", B16, k.global(p), h.value) }

// StoreByte writes the lowest byte of w.
func (k *K) StoreByte(p GlobalPtr, w Word) { k.store("global", U8, k.global(p), w.value) }

// CountUp adds 1 to a word of device memory, or makes it 0 again if it is last, and returns what it was. Between blocks it
// orders memory: what the thread wrote before, and what it saw of others behind a Barrier, is seen behind a later CountUp.
func (k *K) CountUp(p GlobalPtr, last Uint) Uint {
	d := Uint{k.word()}
	k.emit("atom", mods("acq_rel.gpu.global.inc.u32"), d.op, k.global(p), last.op)
	return d
}

func values(w []Word) []value {
	list := make([]value, len(w))
	for i, x := range w {
		list[i] = x.value
	}
	return list
}

// LoadShared is n words, 1, 2 or 4, of shared memory, aligned to their size together.
func (k *K) LoadShared(p SharedPtr, n int) []Word {
	return words(k.load("shared", "", B32, n, k.wordOf, p.address()))
}

// LoadSharedF is n floats of shared memory.
func (k *K) LoadSharedF(p SharedPtr, n int) []Float {
	list := k.load("shared", "", F32, n, func() value { return k.float().value }, p.address())
	f := make([]Float, n)
	for i, v := range list {
		f[i] = Float{v}
	}
	return f
}

// LoadF is n floats, 1, 2 or 4, of device memory; LoadConstF where nobody writes them while the kernel runs.
func (k *K) LoadF(p GlobalPtr, n int) []Float { return k.loadF("", p, n) }

// LoadConstF is LoadF of what nobody writes while the kernel runs.
func (k *K) LoadConstF(p GlobalPtr, n int) []Float { return k.loadF("nc", p, n) }

func (k *K) loadF(mod string, p GlobalPtr, n int) []Float {
	list := k.load("global", mod, F32, n, func() value { return k.float().value }, k.global(p))
	f := make([]Float, n)
	for i, v := range list {
		f[i] = Float{v}
	}
	return f
}

// StoreF writes 1, 2 or 4 floats.
func (k *K) StoreF(p GlobalPtr, list ...Float) { k.store("global", F32, k.global(p), floats(list)...) }

// StoreShared writes 1, 2 or 4 words to shared memory.
func (k *K) StoreShared(p SharedPtr, w ...Word) { k.store("shared", B32, p.address(), values(w)...) }

// StoreSharedBytes writes the lowest 1 or 2 bytes of a word to shared memory.
func (k *K) StoreSharedBytes(p SharedPtr, n int, w Word) {
	k.store("shared", map[int]Type{1: U8, 2: U16}[n], p.address(), w.value)
}

// StoreSharedF writes 1, 2 or 4 floats to shared memory.
func (k *K) StoreSharedF(p SharedPtr, list ...Float) {
	k.store("shared", F32, p.address(), floats(list)...)
}

func floats(list []Float) []value {
	v := make([]value, len(list))
	for i, f := range list {
		v[i] = f.value
	}
	return v
}

// CopyAsync starts a copy of 16 bytes of device memory to shared memory, both aligned to 16: size bytes are read, and
// zeros fill the rest. It has arrived behind WaitGroup, for other threads behind a Barrier after that.
func (k *K) CopyAsync(to SharedPtr, from GlobalPtr, size Uint) {
	if size.is(16) {
		k.emit("cp.async", mods("cg.shared.global"), to.address(), k.global(from), U(16).op)
		return
	}
	k.emit("cp.async", mods("cg.shared.global"), to.address(), k.global(from), U(16).op, size.op)
}

// CopyAsyncOf is CopyAsync of 4, 8 or 16 bytes, both aligned to them.
func (k *K) CopyAsyncOf(bytes int, to SharedPtr, from GlobalPtr, size Uint) {
	if bytes == 16 {
		k.CopyAsync(to, from, size)
		return
	}
	k.emit("cp.async", mods("ca.shared.global"), to.address(), k.global(from), U(bytes).op, size.op)
}

// CommitGroup closes a group of the thread's copies, which may be empty.
func (k *K) CommitGroup() { k.emit("cp.async.commit_group", nil) }

// WaitGroup waits until at most n of the thread's newest groups are under way.
func (k *K) WaitGroup(n int) { k.emit("cp.async.wait_group", nil, U(n).op) }

// Barrier waits for all threads of the block: what they wrote before it to shared memory is seen behind it.
func (k *K) Barrier() { k.emit("bar.sync", nil, U(0).op) }

// WarpBarrier waits for all lanes of the warp, which must all come here: what they wrote before it is seen behind it. It
// costs next to nothing, and the assembler moves no loads before it.
func (k *K) WarpBarrier() { k.emit("bar.warp.sync", nil, U(-1).op) }

// ShuffleXor is v of the lane whose index differs in the bits of mask. All lanes take part.
func (k *K) ShuffleXor(v Float, mask int) Float {
	d := k.float()
	k.emit("shfl.sync", mods("bfly.b32"), d.op, v.op, U(mask).op, U(31).op, U(-1).op)
	return d
}

// ShuffleXorWord is w of the lane whose index differs in the bits of mask. All lanes take part.
func (k *K) ShuffleXorWord(w Word, mask int) Word {
	d := k.word()
	k.emit("shfl.sync", mods("bfly.b32"), d.op, w.op, U(mask).op, U(31).op, U(-1).op)
	return Word{d}
}

// MatrixRegisters are variables for what LoadMatrix4 loads.
func (k *K) MatrixRegisters() (w [4]Word) {
	for i := range w {
		w[i] = Word{k.word()}
	}
	return w
}

// LoadMatrix4 loads four 8x8 matrices of halves (or 8x16 of bytes) to variables: lanes 8i to 8i+7 give the addresses of the
// 16-byte rows of matrix i. Lane l gets of each matrix bytes 4*(l%4) to +3 of row l/4; turned, of the transposed one of halves.
func (k *K) LoadMatrix4(w [4]Word, p SharedPtr, turned bool) {
	trans := ""
	if turned {
		trans = "trans."
	}
	k.emit("ldmatrix", mods("sync.aligned.m8n8.x4."+trans+"shared.b16"), vector(w[:], wordOp), p.address())
}

func vector[T any](list []T, op func(T) Operand) Operand {
	v := Operand{Kind: VectorOperand}
	for _, x := range list {
		v.Vec = append(v.Vec, op(x))
	}
	return v
}

func wordOp(w Word) Operand { return w.op }

// MmaF16 adds a 16x16 matrix of halves times a 16x8 one to c, four variables: with g = lane/4 and t = lane%4, row g, columns
// 2t and 2t+1, then row g+8. a has (g, 2t), (g+8, 2t), (g, 2t+8), (g+8, 2t+8), each with the column after it; b has rows
// 2t and 2t+1, then 2t+8 and 2t+9, of column g.
func (k *K) MmaF16(c [4]Float, a [4]Word, b [2]Word) {
	acc := vector(c[:], func(f Float) Operand { return f.op })
	k.emit("mma.sync", mods("aligned.m16n8k16.row.col.f32.f16.f16.f32"), acc, vector(a[:], wordOp), vector(b[:], wordOp), acc)
}

// MmaI8 adds a 16x32 matrix of bytes times a 32x8 one to c, four variables. The layout is MmaF16's with four bytes for two
// halves. Each side is signed or unsigned on its own.
func (k *K) MmaI8(c [4]Int, a [4]Word, b [2]Word, signedA, signedB bool) {
	acc := vector(c[:], func(i Int) Operand { return i.op })
	k.emit("mma.sync", mods("aligned.m16n8k32.row.col.s32."+byteType(signedA)+"."+byteType(signedB)+".s32"),
		acc, vector(a[:], wordOp), vector(b[:], wordOp), acc)
}

func byteType(signed bool) string {
	if signed {
		return "s8"
	}
	return "u8"
}
