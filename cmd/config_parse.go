package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/config"
)

// tactics returns the pins of --tactic and the bans of --forbid-tactic, by layer; those for every layer are under "".
func (g *configFlags) tactics() (pin map[string]string, forbid map[string][]string, err error) {
	for _, text := range g.pins {
		at := strings.LastIndexByte(text, '=')
		if at < 1 || at == len(text)-1 {
			return nil, nil, fmt.Errorf("--tactic %q: want LAYER=TACTIC, as trtui inspect tactics names them", text)
		}
		if pin == nil {
			pin = map[string]string{}
		}
		pin[text[:at]] = text[at+1:]
	}
	bans, err := g.banned()
	if err != nil {
		return nil, nil, err
	}
	for _, text := range bans {
		at := strings.LastIndexByte(text, '=')
		if text == "" || at == 0 || at == len(text)-1 {
			return nil, nil, fmt.Errorf("--forbid-tactic %q: want TACTIC or LAYER=TACTIC, as trtui inspect tactics names them", text)
		}
		if forbid == nil {
			forbid = map[string][]string{}
		}
		layer := text[:max(at, 0)]
		forbid[layer] = append(forbid[layer], text[at+1:])
	}
	return pin, forbid, nil
}

// parseShapes reads shapes in trtexec's grammar, "x:1x3x224x224,mask:1x16"; a shape without a name is under "".
func parseShapes(flag, text string) (map[string][]int, error) {
	if text == "" {
		return nil, nil
	}
	shapes := map[string][]int{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		at := strings.LastIndexByte(item, ':')
		var dims []int
		for word := range strings.SplitSeq(item[at+1:], "x") {
			n, err := strconv.Atoi(word)
			if err != nil || n < -1 || n > config.MaxExtent {
				return nil, fmt.Errorf("--%s %q: %q is not an extent of 0 to %d; want INPUT:1x3x224x224, comma separated", flag, item, word, config.MaxExtent)
			}
			dims = append(dims, n)
		}
		shapes[item[:max(at, 0)]] = dims
	}
	return shapes, nil
}

// parseState reads which inputs are which outputs of the item before, "h=hN,c=cN".
func parseState(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	state := map[string]string{}
	for item := range strings.SplitSeq(text, ",") {
		in, out, ok := strings.Cut(strings.TrimSpace(item), "=")
		if _, twice := state[in]; !ok || in == "" || out == "" || twice {
			return nil, fmt.Errorf("--state %q: want INPUT=OUTPUT, comma separated, each input once", item)
		}
		state[in] = out
	}
	return state, nil
}

// splitDisabled takes comma-separated rules and places apart. The layers of a place are behind commas too: what is no rule
// goes on with the place before it.
func splitDisabled(lists []string, own ...pass.Pass) []string {
	rules := config.RuleNames(own...)
	var out []string
	for _, list := range lists {
		begins := true // an element
		for word := range strings.SplitSeq(list, ",") {
			rule, _, _ := strings.Cut(word, ":")
			if begins || slices.Contains(rules, rule) || !strings.Contains(out[len(out)-1], ":") {
				out = append(out, word)
			} else {
				out[len(out)-1] += "," + word
			}
			begins = false
		}
	}
	return out
}

// banned returns the values of --forbid-tactic with the lines of the files that it names in place of those.
func (g *configFlags) banned() ([]string, error) {
	var list []string
	for _, value := range g.bans {
		file, named := strings.CutPrefix(value, "@")
		if !named {
			list = append(list, value)
			continue
		}
		text, err := host.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--forbid-tactic: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
	}
	return list, nil
}
