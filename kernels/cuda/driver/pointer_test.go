package driver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outside are the functions that get addresses of memory outside the Go heap, which nothing needs to keep in place.
var outside = []string{"cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemFreeHost"}

// TestPointers finds addresses of Go values that go to C by a function without the pragma that keeps them in place.
func TestPointers(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, calls := token.NewFileSet(), 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		calls += checkPointers(t, files, f)
	}
	if calls < 30 {
		t.Errorf("only %d calls found: does this test still look for the right names?", calls)
	}
}

// checkPointers looks at one file, and returns how many calls into C it has.
func checkPointers(t *testing.T, files *token.FileSet, f *ast.File) (calls int) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || method.Sel.Name != "do" && method.Sel.Name != "call" {
			return true
		}
		calls++
		function, _ := call.Args[0].(*ast.Ident)
		for _, arg := range call.Args[1:] {
			if address(arg) && (function == nil || !slices.Contains(outside, function.Name)) {
				t.Errorf("%s: an address without doPointers or callPointers", files.Position(arg.Pos()))
			}
		}
		return true
	})
	return calls
}

// address tells whether an expression takes the address of something, here: unsafe.Pointer(...) or data(...).
func address(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Pointer"
		case *ast.Ident:
			found = found || n.Name == "data"
		}
		return true
	})
	return found
}
