package model

import (
	"strings"
)

// UnknownNames is the error of a configuration that names what there is not.
type UnknownNames struct {
	field string
	texts []string
}

func (u *UnknownNames) Error() string { return u.field + ": " + strings.Join(u.texts, "; ") }

// Unknown joins what is not known to one error.
func Unknown(field string, unknown []string) error {
	if len(unknown) == 0 {
		return nil
	}
	return &UnknownNames{field, unknown}
}
