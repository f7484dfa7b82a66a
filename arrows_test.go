package trtui_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oneWay are the packages in which no file depends on one that depends on it, so that each can be read from below, and how many
// methods a type has there at most: one of more is passed through by everything.
var oneWay = map[string]int{
	"sessions": 20, "sessions/compare": 20, "sessions/config": 20, "sessions/dataset": 20, "sessions/describe": 20, "sessions/model": 20, "sessions/recording": 20, "sessions/report": 20, "sessions/stages": 20,
	"views":          27, // of the workbench, which serves every key of the program
	"views/accuracy": 20, "views/calibration": 20, "views/comparison": 20, "views/graph": 20, "views/memory": 20, "views/overview": 20,
	"views/pane": 20, "views/recordings": 20, "views/tactics": 20, "views/timings": 20, "views/trials": 20, "views/log": 20, "views/runtime": 20,
}

// TestArrows checks that arrows between the files of a package run one way, and that no type has grown to be passed through by
// everything.
func TestArrows(t *testing.T) {
	for _, dir := range slices.Sorted(maps.Keys(oneWay)) {
		p := readPackage(t, dir)
		for _, circle := range p.circles() {
			t.Errorf("%s: arrows in a circle: %s", dir, strings.Join(circle, " -> "))
			for i, from := range circle[1:] {
				t.Logf("%s needs of %s: %s", circle[i], from, strings.Join(slices.Sorted(maps.Keys(p.arrows[circle[i]][from])), ", "))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.methods)) {
			if n := p.methods[name]; n > oneWay[dir] {
				t.Errorf("%s: %s has %d methods, more than %d: divide it by what it is about", dir, name, n, oneWay[dir])
			}
		}
		if len(p.arrows) == 0 {
			t.Errorf("%s: no arrows are found", dir)
		}
	}
}

// sources is what the files of a package need of each other.
type sources struct {
	arrows  map[string]map[string]map[string]bool // from a file to another, by the names that it uses
	methods map[string]int                        // of each type
}

// readPackage finds the package's own names by their types; what is imported is not looked into.
func readPackage(t *testing.T, dir string) sources {
	t.Helper()
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p := sources{map[string]map[string]map[string]bool{}, map[string]int{}}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: unread{}, Error: func(error) {}} // of imported names, which are not there
	pkg, _ := conf.Check(dir, fset, files, info)
	for id, used := range info.Uses {
		if used.Pkg() != pkg || !used.Pos().IsValid() || used.Parent() != nil && used.Parent() != pkg.Scope() {
			continue // a variable of a function, or of another package
		}
		p.add(filepath.Base(fset.File(id.Pos()).Name()), filepath.Base(fset.File(used.Pos()).Name()), used.Name())
	}
	for _, f := range files {
		p.count(f)
	}
	return p
}

func (p sources) add(from, to, name string) {
	if from == to {
		return
	}
	if p.arrows[from] == nil {
		p.arrows[from] = map[string]map[string]bool{}
	}
	if p.arrows[from][to] == nil {
		p.arrows[from][to] = map[string]bool{}
	}
	p.arrows[from][to][name] = true
}

// count counts the methods of a file.
func (p sources) count(f *ast.File) {
	for _, d := range f.Decls {
		method, ok := d.(*ast.FuncDecl)
		if !ok || method.Recv == nil {
			continue
		}
		ast.Inspect(method.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				p.methods[id.Name]++
				return false
			}
			_, params := n.(*ast.IndexExpr)
			if params {
				p.methods[n.(*ast.IndexExpr).X.(*ast.Ident).Name]++
			}
			return !params
		})
	}
}

// circles returns a way back to itself for files that have one, each file once at most.
func (p sources) circles() (list [][]string) {
	done := map[string]bool{}
	var visit func(file string, path []string)
	visit = func(file string, path []string) {
		if i := slices.Index(path, file); i >= 0 {
			list = append(list, append(slices.Clone(path[i:]), file))
			return
		}
		if done[file] {
			return
		}
		for _, to := range slices.Sorted(maps.Keys(p.arrows[file])) {
			visit(to, append(path, file))
		}
		done[file] = true
	}
	for _, file := range slices.Sorted(maps.Keys(p.arrows)) {
		visit(file, nil)
	}
	return list
}

// unread imports packages without what is in them.
type unread struct{}

func (unread) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}
