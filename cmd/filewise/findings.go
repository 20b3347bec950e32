package main

import "filewise/preview"

// indent puts further lines of a text below its first.
func indent(text string, by int) string { return preview.Indent(text, by) }
