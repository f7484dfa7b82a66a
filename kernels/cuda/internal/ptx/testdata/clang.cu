// One kernel with what a compiler emits around it. clang.ptx is made of it by
//   clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -S -O3 -g -fdebug-compilation-dir=. clang.cu -o clang.ptx
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
__constant__ float table[4] = {1,2,3,4.5};
__device__ int counter;
extern __shared__ float dyn[];
struct S { int a; float b[5]; };
__device__ inline void barrier(){ __nvvm_bar0_popc(1);}
extern "C" __global__ void __launch_bounds__(256, 2) sum(const float* __restrict__ x, float* y, int n, S s) {
  __shared__ float t[256];
  int i = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x()*256;
  t[i & 255] = i < n ? x[i] * table[i & 3] : 0;
  dyn[i&15] = s.b[i % 5];
  barrier();
  float acc = 0;
  for (int j = 0; j < 256; j++) acc += t[j] / (1.5f + j);
  if (acc > 3) __nvvm_atom_add_gen_i(&counter, 1);
  y[i] = acc + dyn[3] + (float)((double)acc * 1.25) ;
  long long q = (long long)i * n; y[i+1] = (float)(q / 7) + (q % (n+1));
  unsigned char c = ((const unsigned char*)x)[i]; ((signed char*)y)[n+i] = (signed char)(c*3);
  short h = ((short*)x)[i]; ((short*)y)[i+3] = h * 5 >> 2;
}
