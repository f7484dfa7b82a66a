package ptx

import "testing"

// FuzzParse reads hostile text: it must end in a module that prints to what reads back the same, or in an error.
func FuzzParse(f *testing.F) {
	k := instanceKernel()
	k.Body = instances(k)[:20]
	f.Add((&Module{Version: 80, Target: Target{SM: 90}, Kernels: []*Kernel{k}}).String())
	f.Add(".version 7.0\n.target sm_80, debug\n.address_size 64\n.file 1 \"a.cu\"\n.global .align 4 .b8 x[8] = {1, 0xff, -1};\n" +
		".visible .entry f(.param .u64 .ptr .global .align 4 p)\n.maxntid 128\n{\n.reg .b32 %r<3>;\n.loc 1 2 3\n{ .reg .b32 %r<2>; L: @!p bra L; }\nret;\n}\n")
	f.Add(".version 7.0\n.target sm_80\n.section .debug { .b8 1 }\n.extern .shared .align 16 .b8 s[];\n.func (.param .b32 r) g();\n.const .f32 c[2] = {1.5, 0f3f800000};")
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse(src)
		if err != nil {
			return
		}
		text := m.String()
		back, err := Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if back.String() != text {
			t.Fatalf("%s\nprinted anew:\n%s", text, back.String())
		}
	})
}
