// Package study reads study files: YAML that says what the flags of "filewise
// run" say, for one experiment or for several. docs/study-files.md is its
// reference. What there is to say is a table (Table), from which the parser, the
// JSON Schema and the commented example are made.
package study
