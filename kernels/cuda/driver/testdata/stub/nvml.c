// A libnvidia-ml for tests: one device, at PCI 0000:0a:00.0, with numbers of its own. STUB_NVML names a function that is
// to fail, as name=result.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int gpu, memory; } utilization_t;
typedef struct device_st *device_t;
#define DEVICE ((device_t)0xd0)

static int users;
int stub_users(void) { return users; }

static int result(const char *name) {
	const char *e = getenv("STUB_NVML");
	size_t n = strlen(name);
	return e && !strncmp(e, name, n) && e[n] == '=' ? atoi(e + n + 1) : 0;
}
#define TRY(name) do { int r = result(#name); if (r) return r; } while (0)
#define ON(name, d) do { TRY(name); if ((d) != DEVICE) return 2; } while (0)

int nvmlInit_v2(void) { TRY(nvmlInit_v2); users++; return 0; }
int nvmlShutdown(void) { users--; return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned int n) {
	TRY(nvmlSystemGetDriverVersion);
	snprintf(text, n, "535.104.05");
	return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, device_t *d) {
	TRY(nvmlDeviceGetHandleByPciBusId_v2);
	*d = DEVICE;
	return strcmp(pci, "0000:0a:00.0") ? 6 : 0;
}
int nvmlDeviceGetClockInfo(device_t d, int type, unsigned int *mhz) {
	ON(nvmlDeviceGetClockInfo, d);
	*mhz = type == 1 ? 1755 : type == 2 ? 3201 : 0;
	return 0;
}
int nvmlDeviceGetMemoryInfo(device_t d, memory_t *m) {
	ON(nvmlDeviceGetMemoryInfo, d);
	m->total = 150ull << 30, m->free = 100ull << 30, m->used = 50ull << 30;
	return 0;
}
int nvmlDeviceGetPowerUsage(device_t d, unsigned int *mw) { ON(nvmlDeviceGetPowerUsage, d); *mw = 312500; return 0; }
int nvmlDeviceGetTemperature(device_t d, int sensor, unsigned int *c) {
	ON(nvmlDeviceGetTemperature, d);
	*c = sensor == 0 ? 61 : 0;
	return 0;
}
int nvmlDeviceGetUtilizationRates(device_t d, utilization_t *u) {
	ON(nvmlDeviceGetUtilizationRates, d);
	u->gpu = 97, u->memory = 41;
	return 0;
}
#ifdef NEW
int nvmlDeviceGetCurrentClocksEventReasons(device_t d, unsigned long long *bits) {
	ON(nvmlDeviceGetCurrentClocksEventReasons, d);
	*bits = 0x1ull << 40 | 0x40;
	return 0;
}
#else
int nvmlDeviceGetCurrentClocksThrottleReasons(device_t d, unsigned long long *bits) {
	ON(nvmlDeviceGetCurrentClocksThrottleReasons, d);
	*bits = 0x24;
	return 0;
}
#endif
