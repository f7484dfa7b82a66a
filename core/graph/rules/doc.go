// Package rules reads rewrites of networks that a person writes, and makes passes of them.
//
// A file has rules, and each a pattern, conditions and what takes the pattern's place, in the words of a network's own text:
//
//	rule written-square: a tensor by itself
//	match
//	    y = mul(x, x)
//	where
//	    x f32|f16[n,...]
//	    n <= 64
//	replace
//	    y = pow(x, 2)
//
// docs/rules.md has the grammar. Start with [Parse] (lex.go, parse.go, check.go, which says what no network could mean), then
// [File.Pass], the pass of a file: match.go finds a pattern, results.go what makes further results of it, conditions.go says why it does not apply, build.go makes the
// replacement, and verify.go evaluates both on random numbers before anything is rewritten, so that a rule that is wrong is
// told with the difference that it makes.
package rules
