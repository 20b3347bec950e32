// Package target reads how an external server is given on the command line: its URL, and the password that does not
// belong into one.
//
// No error of this package shows any part of a URL but its scheme: in a text that cannot be parsed the password's end
// is not known.
package target
