package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// operand is one of two things to compare, as a person named it.
type operand struct {
	text, path, which string
}

// parseOperand cuts a name at its last @, unless a file has all of it as its name.
func parseOperand(text string) operand {
	at := strings.LastIndexByte(text, '@')
	if _, err := os.Stat(text); err == nil || at < 0 {
		return operand{text, text, ""}
	}
	return operand{text, text[:at], text[at+1:]}
}

// parseOperands does for several.
func parseOperands(args []string) []operand {
	list := make([]operand, len(args))
	for i, text := range args {
		list[i] = parseOperand(text)
	}
	return list
}

// at returns an operand with the state that --at names, "" where that was not given.
func (x operand) at(state string) (operand, error) {
	switch {
	case state == "":
		return x, nil
	case x.which != "":
		return x, usageError{fmt.Errorf("--at and what is behind @ both choose a state of %s: give one of the two", x.path)}
	}
	return operand{x.path + "@" + state, x.path, state}, nil
}

// same reports whether two operands are the same of the same file.
func (x operand) same(y operand) bool {
	return x.which == y.which && sameFile(x.path, y.path)
}

// sameFile reports whether two paths lead to one file.
func sameFile(x, y string) bool {
	a, err := os.Stat(x)
	if err != nil {
		return x == y
	}
	b, err := os.Stat(y)
	return err == nil && os.SameFile(a, b)
}

// files returns the files that an operand names: several with commas between them, where no file is called so.
func (x operand) files() []string {
	if _, err := os.Stat(x.path); err == nil || x.path == "" {
		return []string{x.path}
	}
	return strings.Split(x.path, ",")
}

// read returns what is known of an operand without building anything: a state of a recording, or what files of other programs say;
// nil where it is neither.
func (x operand) read() (*report.Snapshot, error) {
	files := x.files()
	kind, err := kindOf(files)
	if err != nil {
		return nil, err
	}
	if kind == viewedFiles {
		snap, err := openViewed(files)
		if exchange.IsUnknown(err) && len(files) == 1 {
			return nil, nil // what opens models says what it is
		}
		if err == nil && x.which != "" {
			err = usageError{fmt.Errorf("%s: the files are of one engine, and have nothing called %s", x.path, x.which)}
		}
		if err == nil && snap.Timings == nil {
			err = fmt.Errorf("%s has no times: name the profile beside it, as in layers.json,profile.json", x.path)
		}
		return snap, err
	}
	return x.recorded()
}

// recorded returns the state of a recording that an operand names; nil where its file is none.
func (x operand) recorded() (*report.Snapshot, error) {
	if x.path == "" {
		return nil, nil
	}
	r, err := recording.Open(x.path)
	if errors.Is(err, recording.ErrNotRecording) || errors.Is(err, fs.ErrNotExist) { // what opens models says so
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	state := r.Last()
	if x.which != "" {
		if state, err = r.Find(x.which); err != nil {
			return nil, err
		}
	}
	snap, err := r.At(state)
	if err != nil {
		return nil, err
	}
	whole := *snap
	whole.Tried = r.Tried()
	return &whole, nil
}

// recorded returns the state of a recording that a path names, which must have the wanted parts; nil where the file is no recording.
func (o *modelFlags) recorded(path string, parts report.Parts) (*report.Snapshot, error) {
	x := parseOperand(path)
	snap, err := x.recorded()
	if snap == nil {
		return nil, err
	}
	if name := o.config.anyChanged(); name != "" {
		return nil, usageError{fmt.Errorf("%s is a recording, of which --%s changes nothing: name one of its configurations behind @, as in %s@%s", x.path, name, x.path, pane.Label(snap))}
	}
	if parts.Has(report.PartScore) {
		parts |= report.PartAccuracy
	}
	lacks := parts &^ (snap.Made()&^snap.Stale | report.PartScore | report.PartModel)
	for _, k := range report.Kinds() {
		if lacks.Has(k.Part) {
			return nil, fmt.Errorf("%s has no %s in %s: name another state behind @, by its number, time or configuration", x.path, k.Name, snap.At)
		}
	}
	return snap, nil
}

// each returns the states that a path names of a recording: the one behind @, or else the best of every configuration of which there is
// a complete one; nil where the file is no recording.
func (x operand) each() (list []*report.Snapshot, err error) {
	if x.which != "" {
		snap, err := x.recorded()
		if snap == nil {
			return nil, err
		}
		return []*report.Snapshot{snap}, err
	}
	first, err := x.recorded()
	if first == nil {
		return nil, err
	}
	for _, c := range first.Tried {
		if c.Aside || !c.Settled {
			continue
		}
		snap, err := operand{x.text, x.path, c.Name}.recorded()
		if err != nil {
			return nil, err
		}
		list = append(list, snap)
	}
	if list == nil {
		return nil, fmt.Errorf("recording %s: no configuration is complete", x.path)
	}
	return list, nil
}

// orBehind returns err, or where that is of a file which there is not, though there is one without the @ and what is behind it, what is
// wrong with that.
func (o *modelFlags) orBehind(path string, err error) error {
	x := parseOperand(path)
	if _, other := os.Stat(x.path); !errors.Is(err, fs.ErrNotExist) || x.which == "" || other != nil {
		return err
	}
	if _, wrong := model.Look(o.importer(), x.path); errors.As(wrong, new(*model.Foreign)) {
		return wrong
	}
	return usageError{fmt.Errorf("there is no file %s: what is behind @ names a configuration of %s to trtui diff and to the workbench, and here flags do, as --precision", path, x.path)}
}
