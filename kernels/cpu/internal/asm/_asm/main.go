// Command _asm generates the assembly of package asm: for each kernel family F it writes
// F_amd64.s and its Go declarations zF_amd64.go.
//
//	go run . -out DIR          all families
//	go run . -out DIR gemm     the named ones
//
// A family is one generator file here and one line in the table below. The module is separate so
// that avo never enters the requirements of the product.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// family is one pair of generated files.
type family struct {
	name string
	emit func(*build.Context)

	flushes func(function string) bool // functions to which subnormal numbers are zeros; nil: none
}

var families = []family{
	{"attend", attend, all},
	{"conv", conv, all},
	{"cpuid", cpuid, nil},
	{"depthwise", depthwise, all},
	{"gemm", gemm, all},
	{"half", half, nil},
	{"layout", layout, nil},
	{"peak", peak, nil},
	{"pool", pool, all},
	{"qcolumn", qcolumn, nil},
	{"qconv", qconv, nil},
	{"qdepthwise", qdepthwise, nil},
	{"qpool", qpool, nil},
	{"qtile", qtile, nil},
	{"quant", quant, nil},
	{"rotary", rotary, nil},
	{"vec", vec, gated},
	{"weights", weights, all},
}

func main() {
	flags := flag.NewFlagSet("_asm", flag.ExitOnError) // avo itself fills flag.CommandLine
	out := flags.String("out", "..", "directory of the generated files")
	_ = flags.Parse(os.Args[1:]) // exits on error
	for _, f := range families {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), f.name) {
			continue
		}
		if err := generate(f, *out); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", f.name, err)
			os.Exit(1)
		}
	}
}

// generate runs one family's generator and writes its two files into dir.
func generate(f family, dir string) error {
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64,!noasm")
	f.emit(ctx)
	file, err := ctx.Result()
	if err != nil {
		return err
	}
	for _, function := range file.Functions() {
		if f.flushes != nil && f.flushes(function.Name) {
			flushSubnormals(function)
		}
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	if err := onlyAVX2(file); err != nil {
		return err
	}
	cfg := printer.Config{Argv: []string{"go", "run", ".", f.name}, Pkg: "asm"}
	for _, p := range []struct {
		file    string
		printer printer.Printer
	}{
		{f.name + "_amd64.s", printer.NewGoAsm(cfg)},
		{"z" + f.name + "_amd64.go", printer.NewStubs(cfg)},
	} {
		text, err := p.printer.Print(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, p.file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// function starts a leaf kernel: no stack frame, no stack growth check, arguments on the stack (ABI0),
// pointers that do not escape.
func function(c *build.Context, name, signature string, doc ...string) {
	framed(c, name, signature, doc...)
	c.Attributes(attr.NOSPLIT)
}

// framed starts a leaf kernel as function does, but with room on the stack, which is checked for it.
func framed(c *build.Context, name, signature string, doc ...string) {
	c.Function(name)
	c.SignatureExpr(signature)
	c.Doc(doc...)
	c.Pragma("noescape")
}
