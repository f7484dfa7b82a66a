package report

// AddRow adds a row to a table: one value for each column, in order.
type AddRow func(table string, values ...any) error

// OrNull returns nil, which is SQL's NULL, in place of the zero value.
func OrNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
