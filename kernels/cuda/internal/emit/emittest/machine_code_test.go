package emittest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listing returns a kernel as nvdisasm lists it: a prologue, and a loop of instructions.
func listing(loop ...string) string {
	var b strings.Builder
	b.WriteString(".text.k:\n        /*0000*/                   MOV R1, c[0x0][0x28] ;\n.L_x_0:\n")
	for i, name := range append(loop, "ISETP.GE.AND", "@!P0 BRA") {
		operands := "R8, R10, R12"
		if strings.HasSuffix(name, "BRA") {
			operands = "`(.L_x_0)"
		}
		fmt.Fprintf(&b, "        /*%04x*/                   %s %s ;\n", 16*i+16, name, operands)
	}
	return b.String() + "        /*0900*/                   EXIT ;\n"
}

// TestLoopLints reads two listings of one loop: the bounds of that whose copies and loads are spread between its products
// refuse the one that has them all in front, wherever in the loop that is, and only for what differs.
func TestLoopLints(t *testing.T) {
	copies, loads := slices.Repeat([]string{"LDGSTS.E.BYPASS.128"}, 4), slices.Repeat([]string{"LDSM.16.M88.4"}, 4)
	products := slices.Repeat([]string{"HMMA.16816.F32"}, 16)
	var spread []string
	for i, p := range products {
		if spread = append(spread, p); i%2 == 0 {
			spread = append(spread, slices.Concat(copies, loads)[i/2])
		}
	}
	address := []string{"IADD3", "@P1 IMAD.WIDE", "LOP3.LUT"}
	parse := func(names ...[]string) Loop {
		return parseMachineCode(listing(slices.Concat(names...)...)).MainLoop("HMMA")
	}
	good := parse(address, spread)
	bounds := good.Measure("HMMA")
	if want := (LoopBounds{Share: 55, Gap: 5, Together: 1, Addresses: 3}); bounds != want {
		t.Fatalf("%+v, want %+v: %v", bounds, want, good)
	}
	for _, c := range []struct {
		name string
		loop Loop
		want []string
	}{
		{"spread", good, nil},
		{"in front", parse(address, copies, loads, products), []string{"13 instructions between two HMMA", "8 copies and loads"}},
		{"in the middle", parse(products[:8], copies, loads, address, products[8:]), []string{"11 instructions between two HMMA", "8 copies and loads"}},
		{"across the end", parse(address, copies, products, loads), []string{"13 instructions between two HMMA", "8 copies and loads"}},
		{"addresses", parse(address, spread, []string{"SHF.L.U32"}), []string{"53 %", "6 instructions between", "4 instructions of integer"}},
		{"no product", Loop{"LDSM", "IADD3"}, []string{"0 %"}},
	} {
		got := c.loop.Lint("HMMA", bounds)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%s: %q, want %q", c.name, got[i], c.want[i])
			}
		}
	}
}
