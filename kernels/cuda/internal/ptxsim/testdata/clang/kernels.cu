// Small kernels in the ways that people write them, for a compiler to turn into PTX. make compiles them (see Makefile);
// each is run against a function in Go of the same name.
#include "cuda.h"

KERNEL saxpy(float *y, const float *x, float a, int n) {
	int i = INDEX;
	if (i < n)
		y[i] = a * x[i] + y[i];
}

KERNEL grid_stride(float *y, const float *x, int n) {
	for (int i = INDEX; i < n; i += NTX * NBX)
		y[i] = x[i] * x[i] - 1.0f;
}

INLINE float warp_sum(float v) {
	for (int d = 16; d > 0; d /= 2)
		v += __nvvm_shfl_sync_bfly_f32(ALL, v, d, 31);
	return v;
}

KERNEL block_sum(float *out, const float *x, int n) {
	__shared__ float part[32];
	float v = 0;
	for (int i = TX; i < n; i += NTX)
		v += x[BX * n + i];
	v = warp_sum(v);
	if (LANE == 0)
		part[TX / 32] = v;
	SYNC;
	if (TX < 32) {
		v = TX < NTX / 32 ? part[TX] : 0;
		v = warp_sum(v);
		if (TX == 0)
			out[BX] = v;
	}
}

KERNEL tree_sum(int *out, const int *x) {
	__shared__ int s[256];
	s[TX] = x[INDEX];
	SYNC;
	for (int d = NTX / 2; d > 0; d /= 2) {
		if (TX < d)
			s[TX] += s[TX + d];
		SYNC;
	}
	if (TX == 0)
		out[BX] = s[0];
}

KERNEL scan(int *y, const int *x) {
	int v = x[TX];
	for (int d = 1; d < 32; d *= 2) {
		int o = __nvvm_shfl_sync_up_i32(ALL, v, d, 0);
		if (LANE >= d)
			v += o;
	}
	y[TX] = v;
}

KERNEL matmul(float *c, const float *a, const float *b, int n, int k) {
	__shared__ float as[16][16], bs[16][16];
	int row = BY * 16 + TY, col = BX * 16 + TX;
	float sum = 0;
	for (int t = 0; t < k; t += 16) {
		as[TY][TX] = a[row * k + t + TX];
		bs[TY][TX] = b[(t + TY) * n + col];
		SYNC;
		for (int i = 0; i < 16; i++)
			sum += as[TY][i] * bs[i][TX];
		SYNC;
	}
	c[row * n + col] = sum;
}

KERNEL transpose(float *y, const float *x, int w, int h) {
	__shared__ float tile[32][33];
	int i = BX * 32 + TX, j = BY * 32 + TY;
	for (int k = 0; k < 32; k += 8)
		if (i < w && j + k < h)
			tile[TY + k][TX] = x[(j + k) * w + i];
	SYNC;
	i = BY * 32 + TX;
	j = BX * 32 + TY;
	for (int k = 0; k < 32; k += 8)
		if (i < h && j + k < w)
			y[(j + k) * h + i] = tile[TX][TY + k];
}

KERNEL divide(int *q, int *r, u32 *uq, u32 *ur, const int *a, const int *b, int n) {
	int i = INDEX;
	if (i < n) {
		q[i] = a[i] / b[i];
		r[i] = a[i] % b[i];
		uq[i] = (u32)a[i] / (u32)b[i];
		ur[i] = (u32)a[i] % (u32)b[i];
	}
}

KERNEL divide_by_constants(int *y, const int *a, int n) {
	int i = INDEX;
	if (i < n)
		y[i] = a[i] / 7 + a[i] % 10 + (int)((u32)a[i] / 1000u) - (a[i] >> 3) + a[i] / 16;
}

KERNEL wide(u64 *y, const u64 *a, const u64 *b, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	u64 x = a[i], z = b[i];
	u64 h = (u64)(((unsigned __int128)x * z) >> 64);
	u64 v = x * z + (x << (z & 63)) - (z >> (x & 63)) + (u64)((s64)x >> 5);
	y[i] = (v ^ h) + x / (z | 1) + (u64)((s64)z % ((s64)x | 1));
}

KERNEL select_case(int *y, const int *x, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	int v = x[i], out;
	switch (v & 7) {
	case 0: out = v + 1; break;
	case 1: out = v * 3; break;
	case 2: out = -v; break;
	case 3: out = v ^ 0x55; break;
	case 5: out = v / 3; // and on
	case 6: out = v - 6; break;
	default: out = 42;
	}
	y[i] = out;
}

KERNEL collatz(int *y, const int *x, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	u32 v = x[i];
	int steps = 0;
	while (v != 1) {
		if (v & 1)
			v = 3 * v + 1;
		else
			v >>= 1;
		if (++steps > 500)
			break;
	}
	y[i] = steps;
}

KERNEL nested(int *y, int n) {
	int i = INDEX, sum = 0;
	if (i >= n)
		return;
	for (int a = 0; a < (i & 15); a++) {
		if (a == 7)
			continue;
		for (int b = a; b < 20; b++) {
			if ((a * b + i) % 11 == 3)
				break;
			sum += a ^ b;
		}
		if (sum > 500)
			break;
	}
	y[i] = sum;
}

KERNEL converge(int *y, const int *x) {
	int v = x[TX];
	if (v & 1) {
		for (int k = 0; k < (v & 15); k++)
			v += k;
	} else if (v & 2) {
		v = v * 5;
	} else {
		v -= 3;
	}
	v += __nvvm_shfl_sync_bfly_i32(ALL, v, 1, 31);
	u32 ballot = __nvvm_vote_ballot_sync(ALL, v > 100);
	y[TX] = v + (int)__builtin_popcount(ballot);
}

KERNEL floats_to_ints(int *s, u32 *u, s8 *b, u8 *c, s64 *l, const float *x, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	float v = x[i];
	s[i] = __nvvm_f2i_rn(v);
	u[i] = __nvvm_f2ui_rz(v);
	l[i] = __nvvm_f2ll_rm(v);
	int t = __nvvm_f2i_rp(v);
	t = t < -128 ? -128 : t > 127 ? 127 : t;
	b[i] = (s8)t;
	c[i] = (u8)(t & 255);
}

KERNEL ints_to_floats(float *f, double *d, const s64 *x, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	s64 v = x[i];
	f[i] = (float)v + (float)(u32)v + (float)(short)v + (float)(u8)v;
	d[i] = (double)v + (double)(u64)v;
}

KERNEL doubles(double *y, const double *x, int n) {
	int i = INDEX;
	if (i < n)
		y[i] = __builtin_fma(x[i], x[i], -1.5) / (x[i] + 10.0) + (double)(float)x[i];
}

KERNEL rounding(float *y, const float *x, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	float v = x[i];
	y[4 * i] = __nvvm_add_rz_f(v, 0.3f);
	y[4 * i + 1] = __nvvm_mul_rp_f(v, 1.7f);
	y[4 * i + 2] = __nvvm_fma_rm_f(v, v, 0.1f);
	y[4 * i + 3] = __nvvm_div_rn_f(1.0f, v) + __nvvm_sqrt_rn_f(v < 0 ? -v : v);
}

KERNEL minmax(float *y, const float *a, const float *b, int n) {
	int i = INDEX;
	if (i < n)
		y[i] = __nvvm_fmax_f(a[i], b[i]) - __nvvm_fmin_f(a[i], b[i]) + __nvvm_fabs_f(a[i]);
}

KERNEL functions(float *y, const float *x, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	float v = x[i];
	y[i] = __nvvm_ex2_approx_f(v) + __nvvm_lg2_approx_f(v + 20.0f) + __nvvm_rcp_approx_ftz_f(v + 30.0f) +
	       __nvvm_rsqrt_approx_f(v + 20.0f) + __nvvm_sin_approx_f(v) * __nvvm_cos_approx_f(v);
}

KERNEL halves(u16 *y, const u16 *a, const u16 *b, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	_Float16 x, z;
	__builtin_memcpy(&x, &a[i], 2);
	__builtin_memcpy(&z, &b[i], 2);
	_Float16 v = x * z + (_Float16)0.5f;
	if (x < z)
		v = v - x;
	float f = (float)v * 0.5f;
	v = (_Float16)f;
	__builtin_memcpy(&y[i], &v, 2);
}

KERNEL histogram(u32 *bins, const u8 *x, int n) {
	__shared__ u32 local[64];
	if (TX < 64)
		local[TX] = 0;
	SYNC;
	for (int i = INDEX; i < n; i += NTX * NBX)
		__nvvm_atom_add_gen_i((int *)&local[x[i] & 63], 1);
	SYNC;
	if (TX < 64)
		__nvvm_atom_add_gen_i((int *)&bins[TX], local[TX]);
}

KERNEL atomics(u32 *y, const u32 *x, float *f) {
	u32 v = x[INDEX];
	__nvvm_atom_max_gen_ui(&y[0], v);
	__nvvm_atom_min_gen_ui(&y[1], v);
	__nvvm_atom_or_gen_i((int *)&y[2], v);
	__nvvm_atom_xor_gen_i((int *)&y[3], v);
	__nvvm_atom_inc_gen_ui(&y[4], 100);
	__nvvm_atom_add_gen_f(f, 1.0f);
	u32 old = *(volatile u32 *)&y[5], seen;
	do { // a multiply out of compare and swap
		seen = old;
		old = (u32)__nvvm_atom_cas_gen_i((int *)&y[5], (int)seen, (int)(seen * 3));
	} while (old != seen);
}

KERNEL bytes(u32 *y, const u32 *a, const u32 *b, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	u32 x = a[i], z = b[i];
	u32 p = __nvvm_prmt(x, z, 0x6240), q = __nvvm_prmt(x, z, z);
	y[i] = p ^ q ^ __builtin_bswap32(x) ^ __builtin_rotateleft32(z, x & 31) ^ __builtin_bitreverse32(x);
}

KERNEL counts(int *y, const u32 *a, const u64 *b, int n) {
	int i = INDEX;
	if (i < n)
		y[i] = __builtin_popcount(a[i]) + (a[i] ? __builtin_clz(a[i]) : 32) + __builtin_popcountll(b[i]) +
		       (b[i] ? __builtin_ctzll(b[i]) : 64) + (int)((a[i] >> 5) & 0x7f) + ((int)(a[i] << 9) >> 20);
}

KERNEL dots(int *y, const int *a, const int *b, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	int s = i, u;
	asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(s) : "r"(a[i]), "r"(b[i]));
	asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(u) : "r"(a[i]), "r"(b[i]), "r"(s));
	y[i] = s ^ u;
}

KERNEL vectors(float *y, const float *x) {
	typedef float float4 __attribute__((ext_vector_type(4)));
	float4 v = ((const float4 *)x)[INDEX];
	v = v * v + v.wzyx;
	((float4 *)y)[INDEX] = v;
}

struct point { float x, y; int tag; char c[5]; };

KERNEL structs(point *out, point by_value, const point *in, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	point p = in[i];
	p.x += by_value.x;
	p.y *= by_value.y;
	p.tag = p.tag * 2 + by_value.tag;
	p.c[i % 5] = by_value.c[4 - i % 5];
	out[i] = p;
}

__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counter = 5;

KERNEL lookup(int *y, const int *x, int n) {
	int i = INDEX, local[8];
	if (i >= n)
		return;
	for (int k = 0; k < 8; k++)
		local[(k + x[i]) & 7] = table[k] * k;
	y[i] = local[x[i] & 7] + local[(x[i] + 3) & 7] + counter;
}

KERNEL early_exit(int *y, int n) { // tail of a warp, early exits, barriers after them
	__shared__ int s[64];
	int i = TX;
	s[i] = i * i;
	if (i >= n)
		return;
	SYNC;
	y[i] = s[(i + 1) % n] + s[n - 1 - i];
}

KERNEL bools(u8 *y, const int *a, const int *b, int n) {
	int i = INDEX;
	if (i >= n)
		return;
	bool p = a[i] < b[i], q = (a[i] & 4) != 0, r = b[i] == 3;
	y[i] = (u8)((p && q) | ((p != r) << 1) | ((!q || r) << 2) | ((a[i] > b[i] ? p : r) << 3));
}

KERNEL shorts(short *y, const short *a, const short *b, int n) {
	int i = INDEX;
	if (i < n)
		y[i] = (short)(a[i] * b[i] + (a[i] >> 2) - (short)(b[i] << 3) + (a[i] < b[i] ? a[i] : b[i]));
}
