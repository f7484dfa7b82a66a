package views

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArrows keeps the arrows between the types of each package running one way: no struct holds another that holds it, none
// embeds another of its package, and none but the workbench itself has the workbench, which panes see as a desk.
func TestArrows(t *testing.T) {
	if len(fieldTypes(t, "accuracy")["heatView"]) == 0 {
		t.Fatal("the fields of heatView are not found")
	}
	dirs, err := filepath.Glob("*/doc.go")
	if err != nil || len(dirs) < 10 {
		t.Fatal("the packages of the screens are not found: ", err)
	}
	for _, doc := range append(dirs, "doc.go") {
		t.Run(filepath.Dir(doc), func(t *testing.T) { checkArrows(t, filepath.Dir(doc)) })
	}
}

func checkArrows(t *testing.T, dir string) {
	t.Helper()
	structs := fieldTypes(t, dir)
	done := map[string]bool{}
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		if slices.Contains(path, name) {
			t.Errorf("arrows in a circle: %s", strings.Join(append(path, name), " -> "))
			return
		}
		if done[name] {
			return
		}
		for to, embedded := range structs[name] {
			if embedded {
				t.Errorf("%s embeds %s", name, to)
			}
			if to == "workbench" {
				t.Errorf("%s has the workbench", name)
			}
			visit(to, append(path, name))
		}
		done[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(structs)) {
		visit(name, nil)
	}
}

// fieldTypes returns the types of a package that the fields of each of its structs are made of, and whether one is
// embedded.
func fieldTypes(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	structs := map[string]map[string]bool{}
	add := func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structs[spec.Name.Name] = map[string]bool{}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				ast.Inspect(f.Type, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.SelectorExpr: // of another package
						return false
					case *ast.Ident:
						structs[spec.Name.Name][n.Name] = len(f.Names) == 0
					}
					return true
				})
			}
		}
		return true
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, add)
	}
	for _, to := range structs {
		maps.DeleteFunc(to, func(name string, _ bool) bool { _, own := structs[name]; return !own })
	}
	return structs
}
