package bringup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// hopper is a simulated device of one multiprocessor that has what the simulator lacks of sm_90a, by other means. A bulk copy
// is made of loads and stores of the thread that starts it, with a barrier that counts bytes and phases. Of a kernel with
// products of warpgroups the simulator runs what comes before them; the products are read from its shared memory by the
// descriptors that it made.
type hopper struct {
	*simulator.Context
	change   func(text string) string   // what else becomes of a text
	products map[driver.Function]string // the type of what a function multiplies
	modules  map[driver.Module]string
}

func (h *hopper) Device() driver.Device {
	d := h.Context.Device()
	d.SM, d.Multiprocessors = 90, 1
	return d
}

func (h *hopper) Link([]byte, driver.JITOptions) ([]byte, driver.JITLog, error) {
	return nil, driver.JITLog{}, &driver.Error{Call: "cuLinkComplete", Result: driver.NotSupported}
}

func (h *hopper) ModuleLoad(image []byte, o driver.JITOptions) (driver.Module, driver.JITLog, error) {
	text := string(image)
	if h.change != nil {
		text = h.change(text)
	}
	older := simulatedBulk(text)
	if strings.Contains(text, "wgmma") {
		older = untilProducts(text)
	}
	m, log, err := h.Context.ModuleLoad([]byte(older), o)
	h.modules[m] = text
	return m, log, err
}

func (h *hopper) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	f, err := h.Context.ModuleGetFunction(m, name)
	for _, w := range wgmmaTypes {
		if strings.Contains(h.modules[m], w.types) {
			h.products[f] = w.name
		}
	}
	return f, err
}

var numbered = regexp.MustCompile(`\[(%r\d+)\], (?:\[%w2\], )?(\d+)`)

// simulatedBulk is a text for sm_80 that does what a bulk probe does. A barrier is a count of phases, and one of bytes that
// are to come.
func simulatedBulk(text string) string {
	var out strings.Builder
	copies := 0
	move := func(bytes, from, to string) {
		copies++
		fmt.Fprintf(&out, `	mov.u32 %%r30, 0;
MOVE%d:
	add.u32 %%r31, %%r9, %%r30;
	cvt.u64.u32 %%w10, %%r30;
	add.s64 %%w10, %%w2, %%w10;
	%s
	%s
	add.u32 %%r30, %%r30, 16;
	setp.lt.u32 %%p7, %%r30, %s;
	@%%p7 bra MOVE%d;
`, copies, from, to, bytes, copies)
	}
	pending := func(op, bytes string) {
		fmt.Fprintf(&out, "\tld.shared.u32 %%r36, [%%r8+4];\n\t%s.u32 %%r36, %%r36, %s;\n\tst.shared.u32 [%%r8+4], %%r36;\n", op, bytes)
	}
	for line := range strings.Lines(text) {
		op, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.HasPrefix(line, ".version"):
			out.WriteString(".version 7.0\n")
		case strings.HasPrefix(line, ".target"):
			out.WriteString(".target sm_80\n")
		case strings.HasPrefix(op, "fence.") || strings.Contains(op, "_group") && !strings.Contains(op, "bulk_group") || strings.HasPrefix(op, "griddepcontrol"):
		case strings.HasPrefix(op, "mbarrier.init."):
			place, _, _ := strings.Cut(args, ",")
			fmt.Fprintf(&out, "\tmov.u64 %%w15, 0;\n\tst.shared.u64 %s, %%w15;\n", place)
		case strings.HasPrefix(op, "mbarrier.arrive.expect_tx."):
			pending("add", numbered.FindStringSubmatch(args)[2])
		case strings.HasPrefix(op, "cp.async.bulk.shared"):
			bytes := numbered.FindStringSubmatch(args)[2]
			move(bytes, "ld.global.v4.u32 {%r32, %r33, %r34, %r35}, [%w10];", "st.shared.v4.u32 [%r31], {%r32, %r33, %r34, %r35};")
			pending("sub", bytes)
			fmt.Fprintf(&out, "\tsetp.ne.u32 %%p7, %%r36, 0;\n\t@%%p7 bra PART%d;\n\tld.shared.u32 %%r37, [%%r8];\n\tadd.u32 %%r37, %%r37, 1;\n\tst.shared.u32 [%%r8], %%r37;\nPART%d:\n", copies, copies)
		case strings.HasPrefix(op, "cp.async.bulk.global"):
			bytes := args[strings.LastIndex(args, " ")+1 : len(args)-1]
			move(bytes, "ld.shared.v4.u32 {%r32, %r33, %r34, %r35}, [%r31];", "st.global.v4.u32 [%w10], {%r32, %r33, %r34, %r35};")
		case strings.HasPrefix(op, "mbarrier.try_wait."):
			out.WriteString("\tld.shared.u32 %r36, [%r8];\n\tand.b32 %r36, %r36, 1;\n\tsetp.ne.u32 %p2, %r36, %r11;\n")
		case strings.Contains(line, "%globaltimer"):
			if clock := strings.TrimSuffix(args, ", %globaltimer;"); clock == "%w3" {
				out.WriteString("\tmov.u64 %w3, 0;\n\tmov.u64 %w14, 0;\n")
			} else { // a thousandth of the limit for each time that the barrier is looked at
				fmt.Fprintf(&out, "\tadd.s64 %%w14, %%w14, %d;\n\tmov.u64 %s, %%w14;\n", bulkLimit/1000, clock)
			}
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}

// untilProducts is the part of a wgmma probe before its products, for sm_80: then each thread writes its 8 descriptors to y,
// and where shared memory begins behind them, and all write the tiles to cycles.
func untilProducts(text string) string {
	text = simulatedBulk(text[:strings.Index(text, "\tmov.b32 %d0, 0;")])
	bytes := regexp.MustCompile(`setp.lt.u32 %p0, %r3, (\d+);`).FindStringSubmatch(text)[1]
	stride := regexp.MustCompile(`add.u32 %r3, %r3, (\d+);`).FindStringSubmatch(text)[1]
	var t strings.Builder
	t.WriteString(text + "\tmul.wide.u32 %w6, %r1, 72;\n\tadd.s64 %w6, %w1, %w6;\n")
	for i := range wgmmaSteps {
		fmt.Fprintf(&t, "\tst.global.u64 [%%w6+%d], %%a%d;\n\tst.global.u64 [%%w6+%d], %%b%d;\n", 8*i, i, 32+8*i, i)
	}
	fmt.Fprintf(&t, `	st.global.u32 [%%w6+64], %%r2;
	mov.u32 %%r3, %%r1;
TILE:
	shl.b32 %%r16, %%r3, 4;
	add.u32 %%r17, %%r2, %%r16;
	ld.shared.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%r17];
	mul.wide.u32 %%w7, %%r3, 16;
	add.s64 %%w7, %%w2, %%w7;
	st.global.v4.b32 [%%w7], {%%r4, %%r5, %%r6, %%r7};
	add.u32 %%r3, %%r3, %s;
	setp.lt.u32 %%p0, %%r3, %s;
	@%%p0 bra TILE;
	ret;
}
`, stride, bytes)
	return t.String()
}

func (h *hopper) LaunchKernel(f driver.Function, l driver.LaunchConfig, s driver.Stream, params []byte) error {
	typ, ok := h.products[f]
	if !ok {
		l.Overlap = false
		return h.Context.LaunchKernel(f, l, s, params)
	}
	groups := l.Block[0] / 128
	dump, tiles := make([]byte, 72*l.Block[0]), make([]byte, (groups*wgmmaRows+wgmmaColumns)*wgmmaRow)
	var at [2]driver.Ptr
	for i, n := range []int{len(dump), len(tiles)} {
		p, err := h.MemAlloc(n)
		if err != nil {
			return err
		}
		defer h.MemFree(p)
		at[i] = p
	}
	x := driver.Ptr(binary.LittleEndian.Uint64(params))
	err := h.Context.LaunchKernel(f, l, s, rawParams([]driver.Ptr{x, at[0], at[1]}, 4))
	err = errors.Join(err, h.MemcpyDtoH(dump, at[0]), h.MemcpyDtoH(tiles, at[1]))
	if err != nil {
		return err
	}
	rounds := int(binary.LittleEndian.Uint32(params[24:]))
	var sums []byte
	for g := range groups {
		sums = append(sums, multiply(typ, dump[72*128*g:], tiles, rounds)...)
	}
	for block := range l.Grid[0] {
		y := driver.Ptr(binary.LittleEndian.Uint64(params[8:])) + driver.Ptr(block*len(sums))
		err = errors.Join(err, h.MemcpyHtoD(y, sums))
	}
	return errors.Join(err, h.MemcpyHtoD(driver.Ptr(binary.LittleEndian.Uint64(params[16:])), make([]byte, 8)))
}

// multiply returns the sums of a warpgroup's threads after so many rounds, by the descriptors: the address of a row's
// bytes is that of its 8 rows, and the row's in them, with bits 7 to 9 added to 4 to 6 without carry.
func multiply(typ string, dump, tiles []byte, rounds int) []byte {
	base := int(binary.LittleEndian.Uint32(dump[64:]))
	operand := func(descriptor uint64, rows int) [][]float64 {
		list := make([][]float64, rows)
		if descriptor>>62 != 1 || descriptor>>49&7 != 0 {
			return list
		}
		start, stride := int(descriptor&0x3fff)<<4, int(descriptor>>32&0x3fff)<<4
		for row := range list {
			var data []byte
			for i := range 32 {
				a := start + row/8*stride + row%8*wgmmaRow + i
				a ^= a >> 7 & 7 << 4
				data = append(data, tiles[a-base])
			}
			list[row] = elementsOf(typ, data)
		}
		return list
	}
	var sums [wgmmaRows][wgmmaColumns]float64
	for step := range wgmmaSteps {
		a := operand(binary.LittleEndian.Uint64(dump[8*step:]), wgmmaRows)
		b := operand(binary.LittleEndian.Uint64(dump[32+8*step:]), wgmmaColumns)
		for row := range sums {
			for column := range sums[row] {
				for k := range a[row] {
					sums[row][column] += a[row][k] * b[column][k]
				}
			}
		}
	}
	var out []byte
	for thread := range 128 {
		for i := range wgmmaSums {
			s := sums[thread/32*16+thread%32/4+i%4/2*8][i/4*8+thread%4*2+i%2]
			if typ != "e4m3" {
				s *= float64(rounds)
			}
			word := math.Float32bits(float32(s))
			if typ == "s8" {
				word = uint32(int32(s))
			}
			out = binary.LittleEndian.AppendUint32(out, word)
		}
	}
	return out
}

// elementsOf reads operands of a type.
func elementsOf(typ string, data []byte) []float64 {
	var list []float64
	for i, b := range data {
		switch {
		case typ == "s8":
			list = append(list, float64(int8(b)))
		case typ == "e4m3":
			list = append(list, fromE4M3(b))
		case i%2 == 0:
			list = append(list, float64(numeric.F16ToF32(binary.LittleEndian.Uint16(data[i:]))))
		}
	}
	return list
}

// fromE4M3 reads 4 bits of exponent, whose bias is 7, and 3 of mantissa; none of its numbers here is subnormal.
func fromE4M3(b byte) float64 {
	return math.Ldexp(1+float64(b&7)/8, int(b>>3&15)-7) * (1 - 2*float64(b>>7))
}

// onHopper runs f with a probe on such a device, and returns its findings.
func onHopper(t *testing.T, change func(string) string, f func(*probe) error) ([]Finding, error) {
	t.Helper()
	b := cuda.New(&hopper{
		Context: cuda.Simulate(simulator.Device()), change: change, products: map[driver.Function]string{}, modules: map[driver.Module]string{},
	}, "cuda:0")
	defer b.Close()
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	var found []Finding
	p := &probe{ctx: context.Background(), backend: b, stream: s.(*cuda.Stream), small: true, report: func(f Finding) { found = append(found, f) }}
	err = f(p)
	if e := errors.Join(p.release(), s.Close()); e != nil {
		t.Error(e)
	}
	return found, err
}

// TestHopperProbes runs the probes for sm_90 on that device: what they compute is what they want, and a fault in each of
// them is found.
func TestHopperProbes(t *testing.T) {
	bulk := func(p *probe) error { return p.bulkCopies(61 * 32 << 10) }
	early := func(p *probe) error { return p.chain(7, "early", true, (*rawKernel).launchEarly) }
	type probing struct {
		name string
		run  func(*probe) error
		from string // in the text, a fault: what it becomes is found
		to   string
	}
	list := []probing{
		{"bulk", bulk, "", ""},
		{"bulk, a stage ahead", bulk, "selp.b32 %r10, 0,", "selp.b32 %r10, 1,"},
		{"bulk, without the barrier of the block", bulk, "\tbar.sync 0;\n", ""},
		{"bulk, loaded over what is to be stored", bulk, "mov.u32 %r9, %r20;", "mov.u32 %r9, %r22;"},
		{"early", early, "", ""},
		{"early, twice as much", early, "0f3f800000", "0f40000000"},
	}
	for _, w := range wgmmaTypes {
		list = append(list, probing{w.name, func(p *probe) error { return p.wgmma(w, 2) }, "", ""})
	}
	one := func(p *probe) error { return p.wgmma(wgmmaTypes[0], 1) }
	list = append(list,
		probing{"f16 of one warpgroup", one, "", ""},
		probing{"f16, not swizzled", one, "xor.b32 %r9, %r8, %r3;", "mov.b32 %r9, %r3;"},
		probing{"f16, 512 bytes a group of rows", one, "mov.b32 %r14, 0x40000040;", "mov.b32 %r14, 0x40000020;"},
		probing{"f16, the same step of the depth again", one, "add.s64 %b1, %b0, 2;", "add.s64 %b1, %b0, 0;"})
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			replaced := false
			found, err := onHopper(t, func(text string) string {
				if c.from == "" {
					return text
				}
				changed := strings.ReplaceAll(text, c.from, c.to)
				replaced = replaced || changed != text
				return changed
			}, c.run)
			broken := err != nil
			for _, f := range found {
				broken = broken || f.Error != ""
			}
			if broken != (c.from != "") || replaced != (c.from != "") || err == nil && len(found) == 0 {
				t.Errorf("%v, a fault %v: %+v", err, replaced, found)
			}
		})
	}
}
