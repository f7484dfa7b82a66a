// The part of CUDA C++ that the kernels here use, declared over the compiler's builtins: no toolkit is needed.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define KERNEL extern "C" __global__ void
#define INLINE static inline __device__ __attribute__((always_inline))

typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define TX __nvvm_read_ptx_sreg_tid_x()
#define TY __nvvm_read_ptx_sreg_tid_y()
#define BX __nvvm_read_ptx_sreg_ctaid_x()
#define BY __nvvm_read_ptx_sreg_ctaid_y()
#define NTX __nvvm_read_ptx_sreg_ntid_x()
#define NTY __nvvm_read_ptx_sreg_ntid_y()
#define NBX __nvvm_read_ptx_sreg_nctaid_x()
#define LANE (TX & 31)
#define INDEX (BX * NTX + TX)
#define SYNC __syncthreads()
#define ALL 0xffffffffu
