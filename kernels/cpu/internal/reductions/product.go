package reductions

// products multiplies what results of neighbouring indices, from first on, are made of. They are float64 on the way: a product
// that leaves the range of float32 may come back, and what it is then must not depend on the order.
func (k *reduceKernel) products(y, x []float32, first int) {
	if k.row == 1 {
		var acc [reducedColumns]float64
		for i := range y {
			acc[i] = 1
		}
		for r := range k.rows {
			for i, v := range x[r*k.inner+first:][:len(y)] {
				acc[i] *= float64(v)
			}
		}
		for i := range y {
			y[i] = float32(acc[i])
		}
		return
	}
	for i := range y {
		result := 1.0
		for r := range k.rows {
			result *= product(x[(r*k.inner+first+i)*k.row:][:k.row])
		}
		y[i] = float32(result)
	}
}

// product returns that of a row: four that do not wait for each other.
func product(x []float32) float64 {
	a, b, c, d := 1.0, 1.0, 1.0, 1.0
	for ; len(x) >= 4; x = x[4:] {
		a *= float64(x[0])
		b *= float64(x[1])
		c *= float64(x[2])
		d *= float64(x[3])
	}
	for _, v := range x {
		a *= float64(v)
	}
	return a * b * (c * d)
}
