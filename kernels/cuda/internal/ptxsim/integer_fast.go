package ptxsim

// fast32 returns the function of a common operation on 32-bit integers, and its number of operands.
func fast32(root string, high, signed bool) (execFunc, int) {
	switch {
	case root == "add":
		return execAdd32, 3
	case root == "sub":
		return execSub32, 3
	case root == "mul" && !high:
		return execMul32, 3
	case root == "mad" && !high:
		return execMad32, 4
	case root == "min" && signed:
		return execMinS32, 3
	case root == "max" && signed:
		return execMaxS32, 3
	}
	return nil, 0
}

func execAdd32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] + b[l]
	}
	w.done32(in.d, m)
}

func execSub32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] - b[l]
	}
	w.done32(in.d, m)
}

func execMul32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] * b[l]
	}
	w.done32(in.d, m)
}

func execMad32(w *warp, in *inst, m uint32) {
	d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
	for l := range d {
		d[l] = a[l]*b[l] + c[l]
	}
	w.done32(in.d, m)
}

func execMinS32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = uint32(min(int32(a[l]), int32(b[l])))
	}
	w.done32(in.d, m)
}

func execMaxS32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = uint32(max(int32(a[l]), int32(b[l])))
	}
	w.done32(in.d, m)
}

func execAdd64(w *warp, in *inst, m uint32) {
	d, a, b := w.dst64(in.d, m), &w.q[in.a], &w.q[in.b]
	for l := range d {
		d[l] = a[l] + b[l]
	}
	w.done64(in.d, m)
}

func execSub64(w *warp, in *inst, m uint32) {
	d, a, b := w.dst64(in.d, m), &w.q[in.a], &w.q[in.b]
	for l := range d {
		d[l] = a[l] - b[l]
	}
	w.done64(in.d, m)
}

func execMadWideS32(w *warp, in *inst, m uint32) {
	d, a, b, c := w.dst64(in.d, m), &w.r[in.a], &w.r[in.b], &w.q[in.c]
	for l := range d {
		d[l] = uint64(int64(int32(a[l]))*int64(int32(b[l]))) + c[l]
	}
	w.done64(in.d, m)
}

func execMadWideU32(w *warp, in *inst, m uint32) {
	d, a, b, c := w.dst64(in.d, m), &w.r[in.a], &w.r[in.b], &w.q[in.c]
	for l := range d {
		d[l] = uint64(a[l])*uint64(b[l]) + c[l]
	}
	w.done64(in.d, m)
}
