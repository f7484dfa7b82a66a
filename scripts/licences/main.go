// Command licences writes cmd/third_party.txt, which trtui version --licenses prints: Go itself, the data in the program and the
// modules of go.mod, with the licences under which the program has them in it.
//
//	go run ./scripts/licences [-root DIR]
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	list, err := modules(*root)
	if err == nil {
		err = os.WriteFile(filepath.Join(*root, "cmd", "third_party.txt"), text(list), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// module is what a program is made of, and under which terms.
type module struct {
	name  string // with its version
	terms []terms
}

// terms are a file of a module.
type terms struct{ file, text string }

// modules reads Go's terms, those of the data in the program, and those of all modules of go.mod, which it downloads where they are
// not there.
func modules(root string) ([]module, error) {
	goroot, err := output(root, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	std, err := read("the Go standard library and runtime", strings.TrimSpace(string(goroot)), 1)
	if err != nil {
		return nil, err
	}
	edited, err := output(root, "go", "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(edited, &mod); err != nil {
		return nil, err
	}
	digits, err := read("the digits of MNIST", filepath.Join(root, "testdata", "digits"), 1)
	if err != nil {
		return nil, err
	}
	list := []module{std, digits}
	for _, r := range mod.Require {
		name := r.Path + "@" + r.Version
		downloaded, err := output(root, "go", "mod", "download", "-json", name)
		if err != nil {
			return nil, err
		}
		var at struct{ Dir string }
		if err := json.Unmarshal(downloaded, &at); err != nil {
			return nil, err
		}
		const anywhere = 8
		m, err := read(r.Path+" "+r.Version, at.Dir, anywhere)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	slices.SortFunc(list[2:], func(a, b module) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

func output(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
	}
	return out, nil
}

// termsFile is how files are called that say terms.
var termsFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents|.*-licen[cs]e)([-.][-a-z0-9_]*)*$`)

// read finds the terms of a module in its folder, and in those below it, as deep as it is told.
func read(name, dir string, depth int) (module, error) {
	m := module{name: name}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.Count(path, "/")+1 >= depth && path != "."):
			return fs.SkipDir
		case d.IsDir() || !termsFile.MatchString(d.Name()) || filepath.Ext(path) == ".go":
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		m.terms = append(m.terms, terms{path, tidy(data)})
		return err
	})
	if err == nil && len(m.terms) == 0 {
		err = fmt.Errorf("%s has no licence in %s", name, dir)
	}
	return m, err
}

// tidy returns a text without what does not show.
func tidy(data []byte) string {
	lines := strings.Split(strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// text lists the modules, and below that each text once, with those that have it.
func text(list []module) []byte {
	var b bytes.Buffer
	b.WriteString("trtui is made with what follows, each under its own terms, which stand below.\n\n")
	var texts []string
	under := map[string][]string{}
	for _, m := range list {
		var kinds []string
		for _, t := range m.terms {
			kinds = append(kinds, kindsOf(t.text)...)
			if under[t.text] == nil {
				texts = append(texts, t.text)
			}
			under[t.text] = append(under[t.text], m.name+", "+t.file)
		}
		slices.Sort(kinds)
		fmt.Fprintf(&b, "%s: %s\n", m.name, strings.Join(slices.Compact(kinds), ", "))
	}
	for _, t := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(under[t], "\n"), t)
	}
	return b.Bytes()
}

// kinds are licences by words in them.
var kinds = []struct{ kind, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Apache-2.0", "Apache License, Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "Neither the name"},
	{"BSD-3-Clause", "endorse or promote products"},
	{"Unicode", "UNICODE, INC. LICENSE"},
	{"Unicode", "UNICODE LICENSE"},
	{"CC-BY-SA-3.0", "Creative Commons Attribution-Share Alike 3.0"},
	{"public domain", "dedicated to the public domain"},
}

// kindsOf names the licences of a text by their words; none for one that adds to another.
func kindsOf(text string) (list []string) {
	words := strings.Join(strings.Fields(text), " ")
	for _, k := range kinds {
		if strings.Contains(words, k.words) {
			list = append(list, k.kind)
		}
	}
	return list
}
