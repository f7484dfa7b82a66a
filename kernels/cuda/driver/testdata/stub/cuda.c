// A libcuda for tests: every function the driver package uses, over host memory, on two devices that run nothing. It
// checks what the real one checks about threads and contexts, logs each call with its arguments as C received them, and
// fails a call when told to. Built with -DCUDA_H='"cuda.h"', the compiler compares all prototypes with the toolkit's.
// With -DOLD the functions that CUDA 12.0 brought are missing.
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUDA_H
#include CUDA_H
#else
typedef int CUresult, CUdevice, CUdevice_attribute, CUjit_option, CUjitInputType, CUfunction_attribute;
typedef int CUstreamCaptureMode, CUstreamCaptureStatus, CUgraphNodeType;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUlinkState_st *CUlinkState;
typedef unsigned long long CUdeviceptr;
typedef uint64_t cuuint64_t;
typedef struct { char bytes[16]; } CUuuid;
typedef struct {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	void **kernelParams, **extra;
	void *kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct { int id; char pad[4]; union { char pad[64]; unsigned int words[16]; } value; } CUlaunchAttribute;
typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;
typedef struct { int result; CUgraphNode errorNode, errorFromNode; } CUgraphExecUpdateResultInfo;
#define CUDAAPI
#endif

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static char text[1 << 20];
static size_t used;
static int logging;
static struct { char name[64]; int after, result; } fault;
static long calls;
static uintptr_t serial = 0x1000;
static __thread CUcontext current;
static pthread_t capturer;
static CUstream capturing;
static CUgraphNode nodes[256];
static CUDA_KERNEL_NODE_PARAMS params[256];
static size_t nodecount;
static int pending, retained;
static struct { CUdeviceptr at; size_t size; char *data; } blocks[256];
static int blockcount;

// What a test steers the stub with.
void stub_reset(int log) {
	pthread_mutex_lock(&mu);
	used = 0, text[0] = 0, logging = log, fault.name[0] = 0, serial = 0x1000, nodecount = 0, pending = 0, calls = 0, capturing = NULL;
	for (int i = 0; i < blockcount; i++) free(blocks[i].data);
	blockcount = 0;
	pthread_mutex_unlock(&mu);
}
void stub_fail(const char *name, int after, int result) {
	snprintf(fault.name, sizeof fault.name, "%s", name);
	fault.after = after, fault.result = result;
}
size_t stub_log(char *to, size_t n) {
	pthread_mutex_lock(&mu);
	size_t k = used < n ? used : n;
	memcpy(to, text, k);
	pthread_mutex_unlock(&mu);
	return k;
}
void stub_retain(int n) { retained = n; }
void stub_pending(int n) { pending = n; }
long stub_calls(void) { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }
int stub_retained(void) { return retained; }

// enter logs a call, and returns the result it is to end with.
static CUresult enter(int needs_context, const char *name, const char *format, ...) {
	CUresult r = 0;
	pthread_mutex_lock(&mu);
	calls++;
	if (logging && used < sizeof text - 8192) {
		va_list v;
		used += sprintf(text + used, "%s(", name);
		va_start(v, format);
		used += vsprintf(text + used, format, v);
		va_end(v);
		used += sprintf(text + used, ")\n");
	}
	if (fault.name[0] && !strcmp(fault.name, name) && --fault.after == 0) r = fault.result;
	else if (needs_context && !current) r = 201;
	pthread_mutex_unlock(&mu);
	return r;
}
#define FREE(name, ...) do { CUresult r = enter(0, #name, __VA_ARGS__); if (r) return r; } while (0)
#define NEED(name, ...) do { CUresult r = enter(1, #name, __VA_ARGS__); if (r) return r; } while (0)
#define H(x) ((unsigned long long)(uintptr_t)(x))

static void *next(void) { return (void *)__atomic_add_fetch(&serial, 16, __ATOMIC_SEQ_CST); }
static char *hex(char *to, const void *from, size_t n) { // to has room for 64 bytes
	for (size_t i = 0; i < n && i < 64; i++) sprintf(to + 2 * i, "%02x", ((const unsigned char *)from)[i]);
	return to;
}
static char *memory(CUdeviceptr p, size_t n) {
	for (int i = 0; i < blockcount; i++)
		if (blocks[i].data && p >= blocks[i].at && p - blocks[i].at + n <= blocks[i].size) return blocks[i].data + (p - blocks[i].at);
	return NULL;
}

// Devices.
CUresult CUDAAPI cuInit(unsigned int flags) { FREE(cuInit, "%u", flags); return 0; }
CUresult CUDAAPI cuDriverGetVersion(int *version) {
	FREE(cuDriverGetVersion, "");
	const char *v = getenv("STUB_VERSION");
	*version = v ? atoi(v) : 12040;
	return 0;
}
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **s) { FREE(cuGetErrorName, "%d", error); *s = "STUB"; return 0; }
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **s) {
	FREE(cuGetErrorString, "%d", error);
	*s = "words of the driver";
	return 0;
}
CUresult CUDAAPI cuDeviceGetCount(int *count) {
	FREE(cuDeviceGetCount, "");
	*count = getenv("STUB_DEVICES") ? atoi(getenv("STUB_DEVICES")) : 2;
	return 0;
}
CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) { FREE(cuDeviceGet, "%d", ordinal); *device = ordinal + 10; return 0; }
CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice d) {
	FREE(cuDeviceGetName, "%d, %d", len, d);
	snprintf(name, len, "Stub %d", d - 10);
	return 0;
}
CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice d) { FREE(cuDeviceGetUuid_v2, "%d", d); memset(uuid, d, 16); return 0; }
CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int len, CUdevice d) {
	FREE(cuDeviceGetPCIBusId, "%d, %d", len, d);
	snprintf(id, len, "0000:%02x:00.0", d);
	return 0;
}
CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *n, CUdevice d) { FREE(cuDeviceTotalMem_v2, "%d", d); *n = 150ull << 30; return 0; }
CUresult CUDAAPI cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
	FREE(cuDeviceGetAttribute, "%d, %d", a, d);
	*v = (int)a == 75 ? 9 : (int)a == 76 ? 0 : 1000 + (int)a;
	return 0;
}
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
	FREE(cuDevicePrimaryCtxRetain, "%d", d);
	retained++;
	*c = (CUcontext)(uintptr_t)(0xc0 + d);
	return 0;
}
CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice d) { FREE(cuDevicePrimaryCtxRelease_v2, "%d", d); retained--; return 0; }
CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice d) { FREE(cuDevicePrimaryCtxReset_v2, "%d", d); return 0; }
CUresult CUDAAPI cuCtxSetCurrent(CUcontext c) { FREE(cuCtxSetCurrent, "%#llx", H(c)); current = c; return 0; }
CUresult CUDAAPI cuCtxSynchronize(void) { NEED(cuCtxSynchronize, ""); return 0; }
CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least, int *most) {
	NEED(cuCtxGetStreamPriorityRange, "");
	*least = 0, *most = -5;
	return 0;
}

// Memory.
CUresult CUDAAPI cuMemGetInfo_v2(size_t *free, size_t *total) {
	NEED(cuMemGetInfo_v2, "");
	*free = 149ull << 30, *total = 150ull << 30;
	return 0;
}
CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
	NEED(cuMemAlloc_v2, "%zu", n);
	pthread_mutex_lock(&mu);
	int i = blockcount < 256 ? blockcount++ : 255;
	blocks[i].at = *p = 0x7f0000000000ull + i * 0x1000000ull;
	blocks[i].size = n;
	blocks[i].data = n < 1 << 24 ? calloc(1, n) : NULL;
	pthread_mutex_unlock(&mu);
	return 0;
}
CUresult CUDAAPI cuMemFree_v2(CUdeviceptr p) { NEED(cuMemFree_v2, "%#llx", p); return 0; }
CUresult CUDAAPI cuMemHostAlloc(void **p, size_t n, unsigned int flags) {
	NEED(cuMemHostAlloc, "%zu, %u", n, flags);
	*p = calloc(1, n);
	return 0;
}
CUresult CUDAAPI cuMemFreeHost(void *p) { NEED(cuMemFreeHost, "%s", p ? "memory" : "null"); free(p); return 0; }

static void move(void *to, const void *from, size_t n) { if (to && from) memcpy(to, from, n); }
CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n) {
	char b[132];
	NEED(cuMemcpyHtoD_v2, "%#llx, %s, %zu", to, hex(b, from, n), n);
	move(memory(to, n), from, n);
	return 0;
}
CUresult CUDAAPI cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n) {
	NEED(cuMemcpyDtoH_v2, "host, %#llx, %zu", from, n);
	move(to, memory(from, n), n);
	return 0;
}
CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
	char b[132];
	NEED(cuMemcpyHtoDAsync_v2, "%#llx, %s, %zu, %#llx", to, hex(b, from, n), n, H(s));
	move(memory(to, n), from, n);
	return 0;
}
CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
	NEED(cuMemcpyDtoHAsync_v2, "host, %#llx, %zu, %#llx", from, n, H(s));
	move(to, memory(from, n), n);
	return 0;
}
CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
	NEED(cuMemcpyDtoDAsync_v2, "%#llx, %#llx, %zu, %#llx", to, from, n, H(s));
	move(memory(to, n), memory(from, n), n);
	return 0;
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream s) {
	NEED(cuMemsetD8Async, "%#llx, %u, %zu, %#llx", to, v, n, H(s));
	char *p = memory(to, n);
	if (p) memset(p, v, n);
	return 0;
}
CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned int v, size_t n, CUstream s) {
	NEED(cuMemsetD32Async, "%#llx, %#x, %zu, %#llx", to, v, n, H(s));
	char *p = memory(to, 4 * n);
	for (size_t i = 0; p && i < n; i++) memcpy(p + 4 * i, &v, 4);
	return 0;
}

#include "code.c"
