// Package docs has the pages of the documentation that the program shows.
package docs

import _ "embed"

// Terminology is the page of words.
//
//go:embed terminology.md
var Terminology string
