// Package study reads study files: YAML with the settings of the flags of "filewise run", for one experiment or for
// several. docs/study-files.md is its reference. The possible settings are the table of plan.Options with the
// sections of Form, from which the parser, the JSON Schema and the commented example are made.
//
// A library reads the YAML. Its strict decoding into structs is not used, nor a generator of schemas from them: keys
// are rows of a table and no fields, a matrix has them by name, an error has to name place, remedy and nearest key,
// and what is missing or out of bounds is refused as well.
package study
