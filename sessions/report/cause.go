package report

import "strings"

// Misses are places that a pass left as they are for one cause.
type Misses struct {
	Rule, Reason, Cause string
	Sites               []MissedSite // in the order of the network
}

// Misses gathers the places that a pass left by cause, in the order of each cause's first.
func (st *PassStep) Misses() []Misses {
	var list []Misses
	at := map[[3]string]int{}
	for _, m := range st.Missed {
		key := [3]string{m.Rule, m.Reason, m.CauseOf()}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key] = i
			list = append(list, Misses{Rule: m.Rule, Reason: m.Reason, Cause: key[2]})
		}
		list[i].Sites = append(list[i].Sites, m)
	}
	return list
}

// FiredByRule gathers the places where a pass applied by rule, in the order of each rule's first.
func (st *PassStep) FiredByRule() [][]FiredSite {
	var list [][]FiredSite
	at := map[string]int{}
	for _, f := range st.Fired {
		i, ok := at[f.Rule]
		if !ok {
			i = len(list)
			at[f.Rule] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], f)
	}
	return list
}

// CauseOf is what stands in the way, but for names: the same at all places that were left for one cause.
func (m *MissedSite) CauseOf() string {
	if m.Cause != "" {
		return m.Cause
	}
	return m.Detail
}

// Unnamed is a text in which each word that is the name of a layer or tensor is left out.
func Unnamed(text string, isName func(string) bool) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		if name := strings.Trim(w, `"'(),;:`); name != "" && isName(name) {
			words[i] = strings.Replace(w, name, "…", 1)
		}
	}
	return strings.Join(words, " ")
}
