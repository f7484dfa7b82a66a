package ptx

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// wrap makes a module of the body of a kernel.
func wrap(body string) string {
	return `.version 7.0
.target sm_80
.address_size 64
.global .align 4 .f32 bias[4] = {0f3F800000, 2.5, -1.0};
.const .u16 primes[] = {2, 3, 5};
.shared .align 16 .b8 tile[64];
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 .ptr .global .align 16 x, .param .align 8 .b8 pair[16])
.maxntid 128, 2
.minnctapersm 2
{
	.reg .pred %p<3>;
	.reg .b16 %h<4>;
	.reg .b32 %r<10>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<5>;
` + body + "\n}\n"
}

// TestParse compares what is printed of what was read.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"comments", "/* a\n b */ mov.u32 %r1, 1; // c", "mov.u32 %r1, 1;"},
		{"numbers", "mov.u32 %r1, 0x1F; mov.u32 %r1, 017; mov.u32 %r1, 0b101; mov.u32 %r1, 7U; mov.s32 %r1, -3;",
			"mov.u32 %r1, 31; mov.u32 %r1, 15; mov.u32 %r1, 5; mov.u32 %r1, 7; mov.s32 %r1, -3;"},
		{"floats", "mov.f32 %f1, 1.5; mov.f32 %f1, -2e0; mov.f32 %f1, 0f3F800000; mov.f32 %f1, 0d3FF0000000000000;",
			"mov.f32 %f1, 0f3FC00000; mov.f32 %f1, 0fC0000000; mov.f32 %f1, 0f3F800000; mov.f32 %f1, 0f3F800000;"},
		{"addresses", "ld.global.f32 %f1, [%rd1+-4]; ld.shared.u32 %r1, [tile+4]; ld.param.u64 %rd1, [pair+8]; ld.u32 %r1, [%rd2-8];",
			"ld.global.f32 %f1, [%rd1+-4]; ld.shared.u32 %r1, [tile+4]; ld.param.u64 %rd1, [pair+8]; ld.u32 %r1, [%rd2+-8];"},
		{"vectors", "ld.global.v2.f32 {%f1, %f2}, [%rd1]; mov.b32 {_, %h1}, %r1;",
			"ld.global.v2.f32 {%f1, %f2}, [%rd1]; mov.b32 {_, %h1}, %r1;"},
		{"guards", "@%p1 bra out; @!%p2 ret; out:", "@%p1 bra out; @!%p2 ret; out:"},
		{"pairs", "setp.lt.u32 %p1|%p2, %r1, 5; setp.lt.u32 %p1|_, %r1, 5; and.pred %p1, !%p2, %p1;",
			"setp.lt.u32 %p1|%p2, %r1, 5; setp.lt.u32 %p1, %r1, 5; and.pred %p1, !%p2, %p1;"},
		{"special registers", "mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r3, WARP_SZ;",
			"mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r3, 32;"},
		{"symbols", "mov.u64 %rd1, bias+8; mov.u32 %r1, dynamic; cvta.global.u64 %rd2, bias;",
			"mov.u64 %rd1, bias+8; mov.u32 %r1, dynamic; cvta.global.u64 %rd2, bias;"},
		{"scopes", "mov.u32 %r1, 1; { .reg .u32 %r<2>; mov.u32 %r1, 2; l: bra l; } { l: bra l; } mov.u32 %r1, 3;",
			"mov.u32 %r1, 1; mov.u32 %r1_1, 2; l: bra l; l_1: bra l_1; mov.u32 %r1, 3;"},
		{"jumps out of scopes", "{ bra out; } out: ret;", "bra out; out: ret;"},
		{"ranges", ".reg .u32 %x1<12>; mov.u32 %x10, 0; mov.u32 %x111, 0;", "mov.u32 %x10, 0; mov.u32 %x111, 0;"},
		{"debug information", ".loc 1 2 3\n\tmov.u32 %r1, 1;\n.pragma \"nounroll\";\n.file 1 \"a.cu\"\n@@DWARF x\n\tret;",
			"mov.u32 %r1, 1; ret;"},
		{"double colons", "cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 4;",
			"cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 4;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(wrap(c.body))
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(m.String(), "{\n")
			var lines []string
			for _, line := range strings.Split(strings.TrimSuffix(got, "}\n"), "\n") {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, ".") && line != "" {
					lines = append(lines, line)
				}
			}
			if got := strings.Join(lines, " "); got != c.want {
				t.Errorf("%s\nread as\n%s\nnot\n%s", c.body, got, c.want)
			}
		})
	}
}

// TestParsePragma: of pragmas the one that stands behind a label is kept.
func TestParsePragma(t *testing.T) {
	body := ".pragma \"nounroll\";\nmov.u32 %r1, 0;\na:\n.pragma \"other\";\nb:\n.pragma \"nounroll\";\nadd.u32 %r1, %r1, 1;\n.pragma \"nounroll\";\nc:\nret;"
	m, err := Parse(wrap(body))
	if err != nil {
		t.Fatal(err)
	}
	want := []Label{{Name: "a", At: 1}, {Name: "b", At: 1, Rolled: true}, {Name: "c", At: 2}}
	if got := m.Kernels[0].Labels; !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	again, err := Parse(m.String())
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Kernels[0].Labels; !slices.Equal(got, want) {
		t.Errorf("printed and read again, labels %v, want %v", got, want)
	}
}

// TestParseDeclarations looks at what surrounds the instructions.
func TestParseDeclarations(t *testing.T) {
	m, err := Parse(wrap(".shared .v4 .f32 quads[2]; .local .align 8 .b8 stack[16]; ret;"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(m.Version, m.Target, m.Vars)
	want := "7.0 sm_80 [{bias global f32 4 4 false [0 0 128 63 0 0 32 64 0 0 128 191]} " +
		"{primes const u16 0 3 false [2 0 3 0 5 0]} {tile shared b8 16 64 false []} {dynamic shared b8 16 0 true []}]"
	if got != want {
		t.Errorf("module is\n%s\nnot\n%s", got, want)
	}
	k := m.Kernels[0]
	got = fmt.Sprint(k.Params, k.MaxThreads, k.MinBlocks, k.Vars)
	want = "[{x param u64 0 0 false []} {pair param b8 8 16 false []}] [128 2 1] 2 " +
		"[{quads shared f32 16 8 false []} {stack local b8 8 16 false []}]"
	if got != want {
		t.Errorf("kernel is\n%s\nnot\n%s", got, want)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

// TestParseErrors has one fault each.
func TestParseErrors(t *testing.T) {
	for body, want := range map[string]string{
		"foo.u32 %r1, 1;":                                "unknown instruction foo.u32",
		"add.q32 %r1, %r2, 1;":                           "add.q32 %r1, %r2, 1: add has no form with these modifiers: .q32 is not one of its modifiers",
		"add.f32.rn %f1, %f2, %f3;":                      "add.f32.rn %f1, %f2, %f3: add has no form with these modifiers",
		"add.u32 %r1, %r2;":                              "3 operands expected, found 2",
		"cp.async.wait_group %r1;":                       "operand 1: an integer constant expected",
		"cp.async.ca.shared.global [%r1], [%rd1], 5;":    "operand 3: 5 is not one of 4 8 16",
		"add.u32 %r1, %r99, 1;":                          "register %r99 is not declared",
		"mov.u32 %r1, nothing;":                          "nothing is not declared",
		"ld.shared.u32 %r1, [nothing];":                  "address nothing is not declared",
		"bra nowhere;":                                   "label nowhere is not declared",
		"{ inside: ret; } bra inside;":                   "label inside is not declared",
		"@%r1 ret;":                                      "guard %r1 is a b32 register, not a predicate",
		"add.u32 %r1, !%r2, 1;":                          "only a predicate that is read may be negated",
		"add.u32 1, %r2, 1;":                             "operand 1: a register expected",
		"add.u32 %r1, [%rd1], 1;":                        "operand 2: a register or an immediate expected",
		"add.u32 %r1, %tid.x, 1;":                        "operand 2: a register or an immediate expected",
		"ld.global.v4.f64 {%f1, %f2, %f3, %f4}, [%rd1];": "a vector of more than 128 bits",
		"ld.global.v4.f32 {%f1, %f2}, [%rd1];":           "a vector of 4 expected",
		"mov.u32 %r1, 1":                                 `";" expected, found }`,
		"mov.u32 %r1, 12x4;":                             "number expected, found 12x4",
		"mov.f32 %f1, 0f123;":                            "number expected, found 0f123",
		"l: l: ret;":                                     "label l stands twice",
		".reg .u32 %r<3>;":                               "register %r is declared twice",
		".reg .v2 .u32 %v;":                              "no register can be of type .v2",
		".reg .u8 %b;":                                   "no register can be of type .u8",
		".shared .b8 huge[2000000000];":                  "size of huge: a number from 0 to 1073741824 expected",
		".shared .b8 huge[65536][65536];":                "huge has more than 1073741824 bytes",
		".shared .b8 some[];":                            "an array without a size must be external or initialised",
		".shared .f32 one = 1.0;":                        "a shared variable cannot be initialised",
		".param .u32 x;":                                 "instruction expected, found .param",
		"call.uni f, (%r1);":                             "unknown instruction call.uni",
		strings.Repeat("{", 70):                          "more than 64 scopes within each other",
	} {
		_, err := Parse(wrap(body))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s\nfails with %v\nnot %s", body, err, want)
		}
	}
}

// TestParseModuleErrors has faults outside kernels.
func TestParseModuleErrors(t *testing.T) {
	const head = ".version 7.0 .target sm_80 .address_size 64 "
	for text, want := range map[string]string{
		"":                           "no .version directive",
		".version 7.0":               "no .target directive",
		".version seven":             "line 1: .version seven: a number such as 7.0 expected",
		".version 7.0 .target gfx90": "line 1: .target gfx90: a target such as sm_80 or sm_90a expected",
		".version 7.0 .target sm_80 .address_size 32":            "only 64-bit addresses are supported",
		head + ".func f() { ret; }":                              "functions are not supported",
		head + ".extern .func f;":                                "only shared memory may be external",
		head + ".global .u64 p = x;":                             "number expected, found x",
		head + ".global .u32 a[1] = {1, 2};":                     "more than 1 initial values",
		head + ".global .u32 a; .const .u32 a;":                  "a is declared twice",
		head + ".entry k() { ret; } .entry k() { ret; }":         "k is declared twice",
		head + ".entry k() { ret;":                               "the body of kernel k does not end",
		head + ".entry k(.param .u32 a, .param .u32 a) { ret; }": "parameter a is declared twice",
		head + ".entry k() .reqnctapercluster 2 { ret; }":        "unknown directive .reqnctapercluster of kernel k",
		head + "\x00": "directive expected, found \x00",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\nfails with %v\nnot %s", text, err, want)
		}
	}
}

// TestParseClang reads what a compiler makes of C, with debug information.
func TestParseClang(t *testing.T) {
	text, err := os.ReadFile("testdata/clang.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	again, err := Parse(m.String())
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != m.String() {
		t.Error("what is printed is read as something else")
	}
}

// FuzzParse reads any text: what can be read can be printed, and reads the same again.
func FuzzParse(f *testing.F) {
	f.Add(wrap("{ .reg .u32 %r<2>; l: @!%p1 bra l; } setp.lt.u32 %p1|_, %r1, -5; ret;"))
	f.Add(wrap("ld.global.v2.f32 {%f1, %f2}, [%rd1+-4]; mov.f32 %f1, 1e3; mov.u32 %r1, 0x1F;"))
	f.Add(wrap(".shared .v4 .f32 q[2][3]; .local .b8 s[9]; mov.b32 {_, %h1}, %r1; cvta.shared.u64 %rd1, q+4;"))
	f.Add(".version 9.0 .target sm_90a, debug .section .x { .b8 1 } .weak .entry k .reqntid 1 { }")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		_ = m.Check()
		_ = m.Needs()
		printed := m.String()
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if again.String() != printed {
			t.Errorf("%s\nread as\n%s", printed, again)
		}
	})
}
