package report_test

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

func TestUnnamed(t *testing.T) {
	isName := func(word string) bool { return word == "conv1" || word == "x:0" || word == "a b" }
	for text, want := range map[string]string{
		"":                                    "",
		"conv1 has two users":                 "… has two users",
		`"conv1", (conv1): not conv12`:        `"…", (…): not conv12`,
		"x:0 f32[1 3] and conv1 are not both": "… f32[1 3] and … are not both",
		"a b is no word":                      "a b is no word",
		"no names  at all":                    "no names  at all",
	} {
		if got := report.Unnamed(text, isName); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestMisses(t *testing.T) {
	var st report.PassStep
	for i := range 5 {
		st.Missed = append(st.Missed, report.MissedSite{Rule: "r", Reason: "shape", Site: fmt.Sprint("r:l", i), Detail: fmt.Sprint("l", i, " is wide"), Cause: "… is wide"})
		st.Missed = append(st.Missed, report.MissedSite{Rule: "r", Reason: "shape", Detail: fmt.Sprint("extent ", i%2)})
	}
	groups := st.Misses()
	if len(groups) != 3 || len(groups[0].Sites) != 5 || groups[0].Cause != "… is wide" || len(groups[1].Sites) != 3 || len(groups[2].Sites) != 2 {
		t.Fatalf("%+v", groups)
	}
	if groups[0].Sites[4].Site != "r:l4" {
		t.Errorf("the last of the first group is %+v", groups[0].Sites[4])
	}
}
