package ptx

// memoryRows are loads, stores, atomics, asynchronous copies and fences (PTX ISA 9.7.9, 9.7.13).
var memoryRows = []row{
	{"ld", "?weak ?const|global|local|param|$sms ?ca|cg|cs|lu|cv ?V=v2|v4 T=$mem", "={V}~T []", ""},
	{"ld", "?weak ?global ?ca|cg|cs|lu|cv L2::64B|L2::128B|L2::256B@74:80 ?V=v2|v4 T=$mem", "={V}~T []", "74:75"},
	{"ld", "?weak ?global L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate ?V=v2|v4 T=$mem", "={V}~T []", "74:70"},
	{"ld", "volatile ?global|$sms ?V=v2|v4 T=$mem", "={V}~T []", ""},
	{"ld", "relaxed|acquire cta|cluster@78:90|gpu|sys ?global|$sms ?V=v2|v4 T=$mem", "={V}~T []", "60:70"},
	{"ld", "global ?ca|cg|cs nc ?L2::64B@74:75|L2::128B@74:75|L2::256B@74:80 ?V=v2|v4 T=$mem", "={V}~T []", ""},
	{"ld", "global nc L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate ?L2::64B|L2::128B|L2::256B@74:80 ?V=v2|v4 T=$mem", "={V}~T []", "74:75"},
	{"st", "?weak ?global|local|$sms ?wb|cg|cs|wt ?V=v2|v4 T=$mem", "[] {V}~T", ""},
	{"st", "?weak ?global L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate ?V=v2|v4 T=$mem", "[] {V}~T", "74:70"},
	{"st", "volatile ?global|$sms ?V=v2|v4 T=$mem", "[] {V}~T", ""},
	{"st", "relaxed|release cta|cluster@78:90|gpu|sys ?global|$sms ?V=v2|v4 T=$mem", "[] {V}~T", "60:70"},
	{"prefetch", "global|local L1|L2", "[]", ""},
	{"prefetchu", "L1", "[]", ""},

	{"cp.async", "ca $smem global ?L2::64B@74:80|L2::128B@74:80|L2::256B@74:80", "[] [] #4|8|16 ?u32", "70:80"},
	{"cp.async", "cg $smem global ?L2::64B@74:80|L2::128B@74:80|L2::256B@74:80", "[] [] #16 ?u32", "70:80"},
	{"cp.async.commit_group", "", "", "70:80"},
	{"cp.async.wait_group", "", "#u32", "70:80"},
	{"cp.async.wait_all", "", "", "70:80"},

	{"atom", "?relaxed|acquire|release|acq_rel ?cta|cluster@78:90|gpu|sys ?global|$sms add T=u32|s32|u64|f32|f64", "=T/_ [] T", ""},
	{"atom", "?relaxed|acquire|release|acq_rel ?cta|cluster@78:90|gpu|sys ?global|$sms add noftz T=f16@63:70|f16x2|bf16@78:90|bf16x2@78:90", "=T/_ [] T", "62:60"},
	{"atom", "?relaxed|acquire|release|acq_rel ?cta|cluster@78:90|gpu|sys ?global|$sms min|max T=u32|s32|u64|s64", "=T/_ [] T", ""},
	{"atom", "?relaxed|acquire|release|acq_rel ?cta|cluster@78:90|gpu|sys ?global|$sms inc|dec T=u32", "=T/_ [] T", ""},
	{"atom", "?relaxed|acquire|release|acq_rel ?cta|cluster@78:90|gpu|sys ?global|$sms and|or|xor|exch T=b32|b64", "=T/_ [] T", ""},
	{"atom", "?relaxed|acquire|release|acq_rel ?cta|cluster@78:90|gpu|sys ?global|$sms cas T=b16@63:70|b32|b64", "=T/_ [] T T", ""},
	{"red", "?relaxed|release ?cta|cluster@78:90|gpu|sys ?global|$sms add T=u32|s32|u64|f32|f64", "[] T", ""},
	{"red", "?relaxed|release ?cta|cluster@78:90|gpu|sys ?global|$sms add noftz T=f16@63:70|f16x2|bf16@78:90|bf16x2@78:90", "[] T", "62:60"},
	{"red", "?relaxed|release ?cta|cluster@78:90|gpu|sys ?global|$sms min|max T=u32|s32|u64|s64", "[] T", ""},
	{"red", "?relaxed|release ?cta|cluster@78:90|gpu|sys ?global|$sms inc|dec T=u32", "[] T", ""},
	{"red", "?relaxed|release ?cta|cluster@78:90|gpu|sys ?global|$sms and|or|xor T=b32|b64", "[] T", ""},

	{"membar", "cta|gl|sys", "", ""},
	{"fence", "?sc|acq_rel cta|cluster@78:90|gpu|sys", "", "60:70"},
	{"fence.proxy", "async ?global|shared::cta|shared::cluster", "", "80:90"},
}

// warpRows are exchange between the threads of a warp (PTX ISA 9.7.9, shfl.sync, and 9.7.13).
var warpRows = []row{
	{"shfl.sync", "up|down|bfly|idx b32", "=b32|p b32 b32 b32 b32", ""},
	{"vote.sync", "all|any|uni pred", "=p p b32", ""},
	{"vote.sync", "ballot b32", "=b32 p b32", ""},
	{"match.sync", "any T=b32|b64", "=b32 T b32", "60:70"},
	{"match.sync", "all T=b32|b64", "=b32|p T b32", "60:70"},
	{"activemask", "b32", "=b32", "62:30"},
	{"redux.sync", "add|min|max T=u32|s32", "=T T b32", "70:80"},
	{"redux.sync", "and|or|xor T=b32", "=T T b32", "70:80"},
	{"elect.sync", "", "=b32|p/_ b32", "80:90"},
}

// matrixRows are the tensor cores' (PTX ISA 9.7.14).
var matrixRows = []row{
	{"ldmatrix", "sync aligned m8n8 x1 ?trans ?$smem b16", "={1}b32 []", "65:75"},
	{"ldmatrix", "sync aligned m8n8 x2 ?trans ?$smem b16", "={2}b32 []", "65:75"},
	{"ldmatrix", "sync aligned m8n8 x4 ?trans ?$smem b16", "={4}b32 []", "65:75"},
	{"stmatrix", "sync aligned m8n8 x1 ?trans ?$smem b16", "[] {1}b32", "78:90"},
	{"stmatrix", "sync aligned m8n8 x2 ?trans ?$smem b16", "[] {2}b32", "78:90"},
	{"stmatrix", "sync aligned m8n8 x4 ?trans ?$smem b16", "[] {4}b32", "78:90"},

	{"mma.sync", "aligned m16n8k8 row col f16 f16 f16 f16", "={2}b32 {2}b32 {1}b32 {2}b32", "65:75"},
	{"mma.sync", "aligned m16n8k8 row col f32 f16 f16 f32", "={4}f32 {2}b32 {1}b32 {4}f32", "65:75"},
	{"mma.sync", "aligned m16n8k16 row col f16 f16 f16 f16", "={2}b32 {4}b32 {2}b32 {2}b32", "70:80"},
	{"mma.sync", "aligned m16n8k16 row col f32 f16 f16 f32", "={4}f32 {4}b32 {2}b32 {4}f32", "70:80"},
	{"mma.sync", "aligned m16n8k8 row col f32 bf16 bf16 f32", "={4}f32 {2}b32 {1}b32 {4}f32", "70:80"},
	{"mma.sync", "aligned m16n8k16 row col f32 bf16 bf16 f32", "={4}f32 {4}b32 {2}b32 {4}f32", "70:80"},
	{"mma.sync", "aligned m16n8k4 row col f32 tf32 tf32 f32", "={4}f32 {2}b32 {1}b32 {4}f32", "70:80"},
	{"mma.sync", "aligned m16n8k8 row col f32 tf32 tf32 f32", "={4}f32 {4}b32 {2}b32 {4}f32", "70:80"},
	{"mma.sync", "aligned m8n8k16 row col ?satfinite s32 u8|s8 u8|s8 s32", "={2}s32 {1}b32 {1}b32 {2}s32", "65:75"},
	{"mma.sync", "aligned m16n8k16 row col ?satfinite s32 u8|s8 u8|s8 s32", "={4}s32 {2}b32 {1}b32 {4}s32", "70:80"},
	{"mma.sync", "aligned m16n8k32 row col ?satfinite s32 u8|s8 u8|s8 s32", "={4}s32 {4}b32 {2}b32 {4}s32", "70:80"},
	{"mma.sync", "aligned m16n8k32 row col f32 e4m3|e5m2 e4m3|e5m2 f32", "={4}f32 {4}b32 {2}b32 {4}f32", "84:89"},
}

// controlRows are control flow and barriers (PTX ISA 9.7.12, 9.7.13, 9.7.19).
var controlRows = []row{
	{"bra", "?uni", "label", ""},
	{"ret", "?uni", "", ""},
	{"exit", "", "", ""},
	{"trap", "", "", ""},
	{"nanosleep", "u32", "u32", "63:70"},
	{"bar.sync", "", "u32 ?u32", ""},
	{"bar.arrive", "", "u32 u32", ""},
	{"bar.red", "popc u32", "=u32 u32 p", ""},
	{"bar.red", "and|or pred", "=p u32 p", ""},
	{"bar.cta.sync", "", "u32 ?u32", "78:30"},
	{"bar.cta.arrive", "", "u32 u32", "78:30"},
	{"bar.warp.sync", "", "b32", "60:70"},
	{"barrier.sync", "?aligned", "u32 ?u32", "60:30"},
	{"barrier.arrive", "?aligned", "u32 u32", "60:30"},
	{"barrier.cta.sync", "?aligned", "u32 ?u32", "78:30"},
	{"barrier.cta.arrive", "?aligned", "u32 u32", "78:30"},
	{"griddepcontrol", "launch_dependents|wait", "", "78:90"},
}
