package pass

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Site is a place in a network where a rule applies or might: the rule and the source layers that it brings together.
// Of a layer that stands for several source layers by then, only the one that gives it its op counts, so that a site
// stays the same when another rule or site is switched off.
type Site struct {
	Rule   string
	Layers []string // sorted names of source layers
}

// NewSite returns the site of a rule on the given layers, sorted and without duplicates.
func NewSite(rule string, layers ...string) Site {
	layers = slices.Clone(layers)
	slices.Sort(layers)
	return Site{Rule: rule, Layers: slices.Compact(layers)}
}

// siteEscapes are the bytes of layer names that have a meaning in a site's text.
var siteEscapes = strings.NewReplacer("%", "%25", ",", "%2C", "\n", "%0A", "\r", "%0D", "\t", "%09", " ", "%20")

// SideBySide is the rule by which steps of a plan that do not depend on each other run at the same time. No pass has it, since what
// runs is decided behind them; it is switched off as rules of passes are, and at a site whose layers run beside no other.
const SideBySide = "side-by-side"

// Disable adds what is switched off, as a list of rules and sites, to the configuration. Layers that are to run beside no other are
// no matter of passes, and returned; "" stands for all.
func (c *Config) Disable(list []string) (inTurn []string) {
	for _, text := range list {
		site, err := ParseSite(text)
		switch {
		case text == SideBySide:
			inTurn = append(inTurn, "")
		case err != nil:
			c.DisableRules = append(c.DisableRules, text)
		case site.Rule == SideBySide:
			inTurn = append(inTurn, site.Layers...)
		default:
			c.DisableSites = append(c.DisableSites, site)
		}
	}
	return inTurn
}

// String prints the site as rule:layer,layer; ParseSite reads it. Bytes of names that would be ambiguous are written
// as in URLs.
func (s Site) String() string {
	var b strings.Builder
	b.WriteString(s.Rule)
	for i, name := range s.Layers {
		b.WriteByte(":,"[min(i, 1)])
		siteEscapes.WriteString(&b, name)
	}
	return b.String()
}

// ParseSite reads what String prints.
func ParseSite(text string) (Site, error) {
	rule, list, ok := strings.Cut(text, ":")
	if !ok || rule == "" || list == "" {
		return Site{}, fmt.Errorf("site %q: want rule:layer,layer", text)
	}
	var layers []string
	for _, part := range strings.Split(list, ",") {
		name, err := url.PathUnescape(part)
		if err != nil || name == "" {
			return Site{}, fmt.Errorf("site %q: %q is no layer's name", text, part)
		}
		layers = append(layers, name)
	}
	return NewSite(rule, layers...), nil
}

// Equal reports whether both are the same place.
func (s Site) Equal(o Site) bool { return s.Rule == o.Rule && slices.Equal(s.Layers, o.Layers) }

// MarshalText writes the site's text.
func (s Site) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the site's text.
func (s *Site) UnmarshalText(b []byte) error {
	site, err := ParseSite(string(b))
	*s = site
	return err
}
