// Part of cuda.c: modules, launches, streams and graphs.

// compile plays the compiler on the options a call was given: it writes logs where they ask for them.
static CUresult compile(const char *source, unsigned int n, CUjit_option *ids, void **values) {
	int bad = source && strstr(source, "bad") != NULL;
	for (unsigned int i = 0; i < n; i++) {
		float ms = 12.5f;
		switch ((int)ids[i]) {
		case 2: values[i] = NULL; memcpy(&values[i], &ms, sizeof ms); break;
		case 3: strcpy(values[i], "ptxas info : used 40 registers"); break;
		case 5: if (bad) strcpy(values[i], "ptxas line 3; fatal : unexpected token"); break;
		}
	}
	return bad ? 218 : 0;
}
static char *options(char *to, unsigned int n, CUjit_option *ids, void **values) {
	char *p = to;
	*p = 0;
	for (unsigned int i = 0; i < n; i++)
		p += ids[i] == 3 || ids[i] == 5 ? sprintf(p, " %d=buffer", ids[i]) : sprintf(p, " %d=%llu", ids[i], H(values[i]));
	return to;
}
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned int n, CUjit_option *ids, void **values) {
	char b[512];
	NEED(cuModuleLoadDataEx, "\"%s\", %u,%s", memcmp(image, "\177ELF", 4) ? (const char *)image : "ELF", n, options(b, n, ids, values));
	*m = next();
	return compile(image, n, ids, values);
}
CUresult CUDAAPI cuModuleUnload(CUmodule m) { NEED(cuModuleUnload, "%#llx", H(m)); return 0; }
CUresult CUDAAPI cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
	NEED(cuModuleGetFunction, "%#llx, \"%s\"", H(m), name);
	*f = next();
	return strcmp(name, "absent") ? 0 : 500;
}
static struct { unsigned int n; CUjit_option *ids; void **values; } linking;
CUresult CUDAAPI cuLinkCreate_v2(unsigned int n, CUjit_option *ids, void **values, CUlinkState *state) {
	char b[512];
	NEED(cuLinkCreate_v2, "%u,%s", n, options(b, n, ids, values));
	linking.n = n, linking.ids = ids, linking.values = values;
	*state = next();
	return 0;
}
CUresult CUDAAPI cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                                  unsigned int n, CUjit_option *ids, void **values) {
	NEED(cuLinkAddData_v2, "%#llx, %d, \"%s\", %zu, \"%s\", %u, %llx, %llx", H(state), type, (char *)data, size, name, n, H(ids), H(values));
	return compile(data, linking.n, linking.ids, linking.values);
}
CUresult CUDAAPI cuLinkComplete(CUlinkState state, void **cubin, size_t *size) {
	NEED(cuLinkComplete, "%#llx", H(state));
	*cubin = "\177ELF cubin", *size = 10;
	return 0;
}
CUresult CUDAAPI cuLinkDestroy(CUlinkState state) { NEED(cuLinkDestroy, "%#llx", H(state)); return 0; }
CUresult CUDAAPI cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
	NEED(cuFuncGetAttribute, "%d, %#llx", a, H(f));
	*v = 100 + a;
	return 0;
}
CUresult CUDAAPI cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
	NEED(cuFuncSetAttribute, "%#llx, %d, %d", H(f), a, v);
	return 0;
}
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared) {
	NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor, "%#llx, %d, %zu", H(f), threads, shared);
	*blocks = 7;
	return 0;
}

// packed prints the parameters that an extra array leads to.
static char *packed(char *to, void **extra) {
	*to = 0;
	if (extra[0] == (void *)1 && extra[2] == (void *)2 && !extra[4]) {
		size_t n = *(size_t *)extra[3];
		sprintf(to, "%zu bytes at %llu mod 64 ", n, H(extra[1]) % 64);
		hex(to + strlen(to), extra[1], n);
	}
	return to;
}

// record makes a node of a launch where its stream is being captured.
static void record(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
                   unsigned int shared, CUstream s) {
	if (!capturing || s != capturing || nodecount == 256) return;
	CUDA_KERNEL_NODE_PARAMS p = {0};
	p.func = f, p.gridDimX = gx, p.gridDimY = gy, p.gridDimZ = gz;
	p.blockDimX = bx, p.blockDimY = by, p.blockDimZ = bz, p.sharedMemBytes = shared;
	params[nodecount] = p;
	nodes[nodecount++] = next();
}
CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **kernel, void **extra) {
	char b[256];
	NEED(cuLaunchKernel, "%#llx, %u, %u, %u, %u, %u, %u, %u, %#llx, %llx, %s", H(f), gx, gy, gz, bx, by, bz, shared, H(s),
	     H(kernel), logging ? packed(b, extra) : "");
	record(f, gx, gy, gz, bx, by, bz, shared, s);
	return 0;
}

#ifndef OLD
CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **kernel, void **extra) {
	char b[256], a[256], *p = a;
	for (unsigned int i = 0; i < c->numAttrs && i < 4; i++) {
		p += sprintf(p, " %d=", (int)c->attrs[i].id);
		p += strlen(hex(p, &c->attrs[i].value, 12));
	}
	*p = 0;
	NEED(cuLaunchKernelEx, "{%u, %u, %u, %u, %u, %u, %u, %#llx, %u:%s}, %#llx, %llx, %s", c->gridDimX, c->gridDimY, c->gridDimZ,
	     c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes, H(c->hStream), c->numAttrs, a, H(f), H(kernel), logging ? packed(b, extra) : "");
	record(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream);
	return 0;
}
#endif

// Streams and events.
CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *s, unsigned int flags, int priority) {
	NEED(cuStreamCreateWithPriority, "%u, %d", flags, priority);
	*s = next();
	return 0;
}
CUresult CUDAAPI cuStreamDestroy_v2(CUstream s) { NEED(cuStreamDestroy_v2, "%#llx", H(s)); return 0; }
CUresult CUDAAPI cuStreamSynchronize(CUstream s) { NEED(cuStreamSynchronize, "%#llx", H(s)); return 0; }
CUresult CUDAAPI cuStreamQuery(CUstream s) { NEED(cuStreamQuery, "%#llx", H(s)); return pending-- > 0 ? 600 : 0; }
CUresult CUDAAPI cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) {
	NEED(cuStreamWaitEvent, "%#llx, %#llx, %u", H(s), H(e), flags);
	return 0;
}
CUresult CUDAAPI cuEventCreate(CUevent *e, unsigned int flags) { NEED(cuEventCreate, "%u", flags); *e = next(); return 0; }
CUresult CUDAAPI cuEventDestroy_v2(CUevent e) { NEED(cuEventDestroy_v2, "%#llx", H(e)); return 0; }
CUresult CUDAAPI cuEventRecord(CUevent e, CUstream s) { NEED(cuEventRecord, "%#llx, %#llx", H(e), H(s)); return 0; }
CUresult CUDAAPI cuEventRecordWithFlags(CUevent e, CUstream s, unsigned int flags) {
	NEED(cuEventRecordWithFlags, "%#llx, %#llx, %u", H(e), H(s), flags);
	return 0;
}
CUresult CUDAAPI cuEventSynchronize(CUevent e) { NEED(cuEventSynchronize, "%#llx", H(e)); return 0; }
CUresult CUDAAPI cuEventQuery(CUevent e) { NEED(cuEventQuery, "%#llx", H(e)); return pending-- > 0 ? 600 : 0; }
CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
	NEED(cuEventElapsedTime, "%#llx, %#llx", H(a), H(b));
	*ms = 1.5f;
	return 0;
}

// Graphs: one capture at a time, ended by the thread that began it.
CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
	NEED(cuStreamBeginCapture_v2, "%#llx, %d", H(s), mode);
	capturing = s, capturer = pthread_self(), nodecount = 0;
	return 0;
}
CUresult CUDAAPI cuStreamEndCapture(CUstream s, CUgraph *g) {
	NEED(cuStreamEndCapture, "%#llx", H(s));
	if (s != capturing) return 401;
	if (!pthread_equal(capturer, pthread_self())) return 908;
	capturing = NULL;
	*g = next();
	return 0;
}
CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *g,
                                           const CUgraphNode **last, size_t *n) {
	NEED(cuStreamGetCaptureInfo_v2, "%#llx", H(s));
	*status = s == capturing, *id = 1ull << 40, *g = NULL;
	*n = s == capturing && nodecount > 0, *last = *n ? &nodes[nodecount - 1] : NULL;
	return 0;
}
CUresult CUDAAPI cuGraphGetNodes(CUgraph g, CUgraphNode *to, size_t *n) {
	NEED(cuGraphGetNodes, "%#llx, %s, %zu", H(g), to ? "nodes" : "null", to ? *n : 0);
	if (to) memcpy(to, nodes, sizeof *to * nodecount);
	*n = nodecount;
	return 0;
}
CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
	NEED(cuGraphNodeGetType, "%#llx", H(node));
	*type = 0;
	return 0;
}
CUresult CUDAAPI cuGraphDestroy(CUgraph g) { NEED(cuGraphDestroy, "%#llx", H(g)); return 0; }
CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *x, CUgraph g, unsigned long long flags) {
	NEED(cuGraphInstantiateWithFlags, "%#llx, %llu", H(g), flags);
	*x = next();
	return 0;
}
CUresult CUDAAPI cuGraphUpload(CUgraphExec x, CUstream s) { NEED(cuGraphUpload, "%#llx, %#llx", H(x), H(s)); return 0; }
CUresult CUDAAPI cuGraphLaunch(CUgraphExec x, CUstream s) { NEED(cuGraphLaunch, "%#llx, %#llx", H(x), H(s)); return 0; }
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec x) { NEED(cuGraphExecDestroy, "%#llx", H(x)); return 0; }

#ifndef OLD
CUresult CUDAAPI cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p) {
	NEED(cuGraphKernelNodeGetParams_v2, "%#llx", H(node));
	for (size_t i = 0; i < nodecount; i++)
		if (nodes[i] == node) *p = params[i];
	return 0;
}
CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info) {
	NEED(cuGraphExecUpdate_v2, "%#llx, %#llx", H(x), H(g));
	if (H(g) != 0xbad) return 0;
	info->result = 2, info->errorNode = next(), info->errorFromNode = NULL;
	return 910;
}
CUresult CUDAAPI cuGraphExecKernelNodeSetParams_v2(CUgraphExec x, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
	char b[256];
	NEED(cuGraphExecKernelNodeSetParams_v2, "%#llx, %#llx, {%#llx, %u, %u, %u, %u, %u, %u, %u, %llx, %s, %llx, %llx}", H(x), H(node),
	     H(p->func), p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ, p->sharedMemBytes,
	     H(p->kernelParams), packed(b, p->extra), H(p->kern), H(p->ctx));
	return 0;
}
#endif
