//go:build linux && (amd64 || arm64) && !nocuda

package driver

// symbol names a function of a driver library in its table.
type symbol int

// prototype is a function of a driver library. args has a letter an argument:
//
//	i int, or an enumeration    u unsigned int    b unsigned char    z size_t
//	d device address            h handle          p pointer          s pointer to a string
//
// All are integers to the calling convention; the tests compare names and arguments with the published headers.
type prototype struct {
	name, args string
}

// The functions of libcuda that are used. Where a name has a suffix the one without is an older binary interface.
const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetUuid
	cuDeviceGetPCIBusId
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuDevicePrimaryCtxReset
	cuCtxSetCurrent
	cuCtxSynchronize
	cuCtxGetStreamPriorityRange

	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemcpyHtoD
	cuMemcpyDtoH
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemsetD8Async
	cuMemsetD32Async

	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuLinkCreate
	cuLinkAddData
	cuLinkComplete
	cuLinkDestroy
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuOccupancyMaxActiveBlocks
	cuLaunchKernel
	cuLaunchKernelEx

	cuStreamCreateWithPriority
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventRecordWithFlags
	cuEventSynchronize
	cuEventQuery
	cuEventElapsedTime

	cuStreamBeginCapture
	cuStreamEndCapture
	cuStreamGetCaptureInfo
	cuGraphGetNodes
	cuGraphNodeGetType
	cuGraphKernelNodeGetParams
	cuGraphDestroy
	cuGraphInstantiate
	cuGraphUpload
	cuGraphLaunch
	cuGraphExecUpdate
	cuGraphExecKernelNodeSetParams
	cuGraphExecDestroy
)

// functions is the whole of libcuda that is used. A driver for CUDA 12.0 has them all.
var functions = []prototype{
	cuInit:                      {name: "cuInit", args: "u"},
	cuDriverGetVersion:          {name: "cuDriverGetVersion", args: "p"},
	cuGetErrorName:              {name: "cuGetErrorName", args: "ip"},
	cuGetErrorString:            {name: "cuGetErrorString", args: "ip"},
	cuDeviceGetCount:            {name: "cuDeviceGetCount", args: "p"},
	cuDeviceGet:                 {name: "cuDeviceGet", args: "pi"},
	cuDeviceGetName:             {name: "cuDeviceGetName", args: "sii"},
	cuDeviceGetUuid:             {name: "cuDeviceGetUuid_v2", args: "pi"},
	cuDeviceGetPCIBusId:         {name: "cuDeviceGetPCIBusId", args: "sii"},
	cuDeviceTotalMem:            {name: "cuDeviceTotalMem_v2", args: "pi"},
	cuDeviceGetAttribute:        {name: "cuDeviceGetAttribute", args: "pii"},
	cuDevicePrimaryCtxRetain:    {name: "cuDevicePrimaryCtxRetain", args: "pi"},
	cuDevicePrimaryCtxRelease:   {name: "cuDevicePrimaryCtxRelease_v2", args: "i"},
	cuDevicePrimaryCtxReset:     {name: "cuDevicePrimaryCtxReset_v2", args: "i"},
	cuCtxSetCurrent:             {name: "cuCtxSetCurrent", args: "h"},
	cuCtxSynchronize:            {name: "cuCtxSynchronize", args: ""},
	cuCtxGetStreamPriorityRange: {name: "cuCtxGetStreamPriorityRange", args: "pp"},

	cuMemGetInfo:      {name: "cuMemGetInfo_v2", args: "pp"},
	cuMemAlloc:        {name: "cuMemAlloc_v2", args: "pz"},
	cuMemFree:         {name: "cuMemFree_v2", args: "d"},
	cuMemHostAlloc:    {name: "cuMemHostAlloc", args: "pzu"},
	cuMemFreeHost:     {name: "cuMemFreeHost", args: "p"},
	cuMemcpyHtoD:      {name: "cuMemcpyHtoD_v2", args: "dpz"},
	cuMemcpyDtoH:      {name: "cuMemcpyDtoH_v2", args: "pdz"},
	cuMemcpyHtoDAsync: {name: "cuMemcpyHtoDAsync_v2", args: "dpzh"},
	cuMemcpyDtoHAsync: {name: "cuMemcpyDtoHAsync_v2", args: "pdzh"},
	cuMemcpyDtoDAsync: {name: "cuMemcpyDtoDAsync_v2", args: "ddzh"},
	cuMemsetD8Async:   {name: "cuMemsetD8Async", args: "dbzh"},
	cuMemsetD32Async:  {name: "cuMemsetD32Async", args: "duzh"},

	cuModuleLoadDataEx:         {name: "cuModuleLoadDataEx", args: "ppupp"},
	cuModuleUnload:             {name: "cuModuleUnload", args: "h"},
	cuModuleGetFunction:        {name: "cuModuleGetFunction", args: "phs"},
	cuLinkCreate:               {name: "cuLinkCreate_v2", args: "uppp"},
	cuLinkAddData:              {name: "cuLinkAddData_v2", args: "hipzsupp"},
	cuLinkComplete:             {name: "cuLinkComplete", args: "hpp"},
	cuLinkDestroy:              {name: "cuLinkDestroy", args: "h"},
	cuFuncGetAttribute:         {name: "cuFuncGetAttribute", args: "pih"},
	cuFuncSetAttribute:         {name: "cuFuncSetAttribute", args: "hii"},
	cuOccupancyMaxActiveBlocks: {name: "cuOccupancyMaxActiveBlocksPerMultiprocessor", args: "phiz"},
	cuLaunchKernel:             {name: "cuLaunchKernel", args: "huuuuuuuhpp"},
	cuLaunchKernelEx:           {name: "cuLaunchKernelEx", args: "phpp"},

	cuStreamCreateWithPriority: {name: "cuStreamCreateWithPriority", args: "pui"},
	cuStreamDestroy:            {name: "cuStreamDestroy_v2", args: "h"},
	cuStreamSynchronize:        {name: "cuStreamSynchronize", args: "h"},
	cuStreamQuery:              {name: "cuStreamQuery", args: "h"},
	cuStreamWaitEvent:          {name: "cuStreamWaitEvent", args: "hhu"},
	cuEventCreate:              {name: "cuEventCreate", args: "pu"},
	cuEventDestroy:             {name: "cuEventDestroy_v2", args: "h"},
	cuEventRecord:              {name: "cuEventRecord", args: "hh"},
	cuEventRecordWithFlags:     {name: "cuEventRecordWithFlags", args: "hhu"},
	cuEventSynchronize:         {name: "cuEventSynchronize", args: "h"},
	cuEventQuery:               {name: "cuEventQuery", args: "h"},
	cuEventElapsedTime:         {name: "cuEventElapsedTime", args: "phh"},

	cuStreamBeginCapture:           {name: "cuStreamBeginCapture_v2", args: "hi"},
	cuStreamEndCapture:             {name: "cuStreamEndCapture", args: "hp"},
	cuStreamGetCaptureInfo:         {name: "cuStreamGetCaptureInfo_v2", args: "hppppp"},
	cuGraphGetNodes:                {name: "cuGraphGetNodes", args: "hpp"},
	cuGraphNodeGetType:             {name: "cuGraphNodeGetType", args: "hp"},
	cuGraphKernelNodeGetParams:     {name: "cuGraphKernelNodeGetParams_v2", args: "hp"},
	cuGraphDestroy:                 {name: "cuGraphDestroy", args: "h"},
	cuGraphInstantiate:             {name: "cuGraphInstantiateWithFlags", args: "phz"},
	cuGraphUpload:                  {name: "cuGraphUpload", args: "hh"},
	cuGraphLaunch:                  {name: "cuGraphLaunch", args: "hh"},
	cuGraphExecUpdate:              {name: "cuGraphExecUpdate_v2", args: "hhp"},
	cuGraphExecKernelNodeSetParams: {name: "cuGraphExecKernelNodeSetParams_v2", args: "hhp"},
	cuGraphExecDestroy:             {name: "cuGraphExecDestroy", args: "h"},
}
