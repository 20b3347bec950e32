// Package study reads study files: YAML with the settings of the flags of "filewise run", for one experiment or for
// several. docs/study-files.md is the reference of the format. The possible settings are the rows of plan.Options and
// the sections of Form. The parser, the JSON Schema and the commented example are made from them.
//
// A library reads the YAML. The library's strict decoding into structs is not used, nor a generator of schemas from
// structs. Keys are rows of a table, not fields, and a matrix has keys by name. Errors must name place, remedy and
// nearest key. Missing and out-of-bounds values are refused as well.
package study
