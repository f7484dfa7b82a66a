package config

import (
	"reflect"
	"slices"
)

// sorted returns the list in order, each element once; nil where there are none.
func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// someOf returns the map with what one makes of its values, without those that are empty; nil where none is left.
func someOf[V any](m map[string]V, one func(V) V) map[string]V {
	var some map[string]V
	for k, v := range m {
		if v = one(v); reflect.ValueOf(v).Len() == 0 {
			continue
		}
		if some == nil {
			some = map[string]V{}
		}
		some[k] = v
	}
	return some
}
