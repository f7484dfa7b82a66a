package ptx

import (
	"strings"
	"testing"
)

// TestCheck has one fault each, which can be read but not assembled, or would be assembled into something else.
func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		"add.f32 %f1, %f2, 1;":                                        "operand 3: a constant of type f32 expected",
		"add.u32 %r1, %r2, 0f3F800000;":                               "operand 3: a floating-point constant where u32 is meant",
		"add.u32 %r1, %r2, 4294967296;":                               "operand 3: 4294967296 does not fit in u32",
		"add.u32 %r1, %r2, %f1;":                                      "operand 3: %f1 is a f32 register where u32 is meant",
		"add.u64 %rd1, %rd2, %r1;":                                    "operand 3: %r1 is a b32 register where u64 is meant",
		"mul.wide.u32 %r1, %r2, 4;":                                   "operand 1: %r1 is a b32 register where u64 is meant",
		"and.pred %p1, %p2, %r1;":                                     "operand 3: %r1 is a b32 register where pred is meant",
		"setp.lt.u32 %p1|%r1, %r2, 1;":                                "the second destination is not a predicate",
		"ld.global.u64 %r1, [%rd1];":                                  "operand 1: %r1 is a b32 register where u64 is meant",
		"ld.global.u32 %r1, [%r2];":                                   "operand 2: the address is not an integer of 64 bits",
		"ld.global.u32 %r1, [%f2];":                                   "operand 2: the address is not an integer of 64 bits",
		"ld.shared.u32 %r1, [64];":                                    "operand 2: a register or a variable in the address expected",
		"ld.global.u32 %r1, [tile];":                                  "operand 2: tile lies in shared memory, not in global",
		"ld.shared.u32 %r1, [tile+64];":                               "4 bytes at offset 64 of tile, which has 64",
		"ld.shared.u32 %r1, [tile+2];":                                "4 bytes at offset 2 of tile, which is aligned to 16",
		"ld.param.u64 %rd1, [pair+4];":                                "8 bytes at offset 4 of pair, which is aligned to 8",
		"mov.u32 %r1, bias;":                                          "the address of bias in global memory is not a u32",
		"cvta.shared.u64 %rd1, bias;":                                 "bias lies in global memory",
		"mov.u64 %rd1, %tid.x;":                                       "special register %tid.x is not a u64",
		"mov.b64 %rd1, {%f1, %h1};":                                   "%h1 is a b16 register where b32 is meant",
		"bar.sync 16;":                                                "barrier 16 is not one of 0 to 15",
		"bar.sync 1, 33;":                                             "33 threads are not whole warps",
		"@%p1 bar.sync 0;":                                            "all threads of a warp must execute this together",
		"@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];": "all threads of a warp must execute this together",
		"tanh.approx.bf16 %h1, %h2;":                                  "needs .version 7.8, not 7.0",
		".shared .b8 big[49153]; ret;":                                "49153 bytes of static shared memory, at most 49152 are possible",
		"mov.u32 %r1, dynamic+0; add.rn.bf16 %h1, %h1, %h1;":          "line 17: add.rn.bf16 %h1, %h1, %h1;: needs .version 7.8",
	} {
		m, err := Parse(wrap(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nfails with %v\nnot %s", body, err, want)
		}
	}
}

// TestCheckBuilt has faults that no text has: a module may also be built.
func TestCheckBuilt(t *testing.T) {
	ret := Inst{Op: "ret"}
	p := Reg(0)
	for name, c := range map[string]struct {
		kernel Kernel
		want   string
	}{
		"register": {Kernel{Body: []Inst{{Op: "mov", Mods: []string{"u32"}, Args: []Operand{
			{Kind: RegOperand, Reg: 7}, {Kind: ImmOperand}}}}}, "kernel k: instruction 0: mov.u32 %undeclared7, 0;: operand 1: register 7 of 0"},
		"guard":         {Kernel{Body: []Inst{{Guard: Guard{On: true, Reg: p}, Op: "ret"}}}, "the guard is not a predicate"},
		"label":         {Kernel{Body: []Inst{{Op: "bra", Args: []Operand{{Kind: LabelOperand, Name: "x"}}}}}, "label x is not declared"},
		"label order":   {Kernel{Body: []Inst{ret}, Labels: []Label{{Name: "a", At: 1}, {Name: "b", At: 0}}}, "label b before instruction 0"},
		"label place":   {Kernel{Body: []Inst{ret}, Labels: []Label{{Name: "a", At: 2}}}, "label a before instruction 2"},
		"twice":         {Kernel{Regs: []Register{{"%r", B32}, {"%r", B32}}}, "register %r is declared twice"},
		"register type": {Kernel{Regs: []Register{{"%r", B8}}}, "no register can be of type b8"},
		"name":          {Kernel{Regs: []Register{{"%r;", B32}}}, "register %r;"},
		"opcode":        {Kernel{Body: []Inst{{Op: "jump"}}}, "unknown instruction"},
		"extern":        {Kernel{Vars: []Var{{Name: "d", Space: Shared, Type: B8, Extern: true}}}, "external d must be a variable of the module"},
		"parameters":    {Kernel{Params: []Var{{Name: "a", Type: B8, Count: 4353}}}, "4353 bytes of parameters"},
		"symbol": {Kernel{Regs: []Register{{"%r", B32}}, Body: []Inst{{Op: "mov", Mods: []string{"u32"}, Args: []Operand{
			{Kind: RegOperand}, {Kind: SymbolOperand, Name: "x"}}}}}, "x is not declared"},
	} {
		t.Run(name, func(t *testing.T) {
			k := c.kernel
			k.Name = "k"
			m := &Module{Version: 70, Target: SM80, Kernels: []*Kernel{&k}}
			if err := m.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("fails with %v\nnot %s", err, c.want)
			}
		})
	}
	m := &Module{Version: 70, Target: Target{90, true}}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "target sm_90a needs .version 8.0, not 7.0") {
		t.Error(err)
	}
}

// TestNeeds asks for the lowest version and target.
func TestNeeds(t *testing.T) {
	for body, want := range map[string]Need{
		"ret;":                                       {70, Target{}},
		"cp.async.wait_all;":                         {70, Target{SM: 80}},
		"tanh.approx.bf16 %h1, %h2;":                 {78, Target{SM: 90}},
		"mov.u32 %r1, %cluster_ctarank;":             {78, Target{SM: 90}},
		"griddepcontrol.wait;":                       {78, Target{SM: 90}},
		"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;": {81, Target{SM: 89}},
	} {
		m, err := Parse(wrap(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Needs(); got != want {
			t.Errorf("%s needs %v, not %v", body, got, want)
		}
	}
}
